// Element types. Values equal TensorFlow's DataType and TF_DataType; reference types are value + 100.
#pragma once
#include <bit>
#include <complex>
#include <cstdint>
#include <string_view>

#include "status/status.h"

namespace tare {

enum class DType : uint8_t {
  kInvalid = 0, kFloat = 1, kDouble = 2, kInt32 = 3, kUint8 = 4, kInt16 = 5, kInt8 = 6, kString = 7,
  kComplex64 = 8, kInt64 = 9, kBool = 10, kQint8 = 11, kQuint8 = 12, kQint32 = 13, kBfloat16 = 14,
  kQint16 = 15, kQuint16 = 16, kUint16 = 17, kComplex128 = 18, kHalf = 19, kResource = 20,
  kVariant = 21, kUint32 = 22, kUint64 = 23, kFloat8E5m2 = 24, kFloat8E4m3fn = 25,
  kFloat8E4m3fnuz = 26, kFloat8E4m3b11fnuz = 27, kFloat8E5m2fnuz = 28, kInt4 = 29, kUint4 = 30,
  kInt2 = 31, kUint2 = 32, kFloat4E2m1fn = 33,
};
constexpr int kMaxDType = 33;

// "float", "int32", ... as TensorFlow's messages spell them; "unknown" outside the enum.
std::string_view DTypeName(DType t);
// The inverse; kInvalid for an unknown name.
DType DTypeFromName(std::string_view name);
// A wire value, with a reference type's offset removed. Invalid values give kInvalid.
DType DTypeFromWire(int64_t value);

// Bytes of an element in memory: 24 for a string cell, 8 for a resource or variant reference.
size_t DTypeSize(DType t);
// Whether elements are plain bytes; strings, resources and variants own memory and are not.
constexpr bool IsPlain(DType t) {
  return t != DType::kString && t != DType::kResource && t != DType::kVariant;
}

// IEEE half precision: a storage type whose arithmetic goes through float and rounds each result.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  Half(float f);  // NOLINT
  operator float() const;  // NOLINT
};
// The upper half of a float, rounded to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float f) {  // NOLINT
    uint32_t u = std::bit_cast<uint32_t>(f);
    bits = f != f ? 0x7fc0 | (u >> 31 << 15) : static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }  // NOLINT
};

inline Half::operator float() const {
#ifdef __F16C__
  return __builtin_ia32_vcvtph2ps((__attribute__((vector_size(16))) short){static_cast<short>(bits)})[0];
#else
  uint32_t sign = uint32_t{bits & 0x8000u} << 16, exp = (bits >> 10) & 31, man = bits & 0x3ff;
  if (exp == 31) return std::bit_cast<float>(sign | 0x7f800000 | man << 13);
  if (exp == 0) {
    float f = static_cast<float>(man) * 0x1p-24f;
    return sign ? -f : f;
  }
  return std::bit_cast<float>(sign | (exp + 112) << 23 | man << 13);
#endif
}
inline Half::Half(float f) {
  uint32_t u = std::bit_cast<uint32_t>(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
  if (a > 0x7f800000) bits = sign | 0x7e00;
  else if (a >= 0x477ff000) bits = sign | 0x7c00;
  else if (a < 0x38800000) bits = sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(a) + 0.5f) - 0x3f000000);
  else bits = sign | ((a + 0xc8000fff + ((a >> 13) & 1)) >> 13);
}

class StringCell;
class Object;
template <class T>
class Ref;

template <class T>
struct DTypeOf;
#define TARE_DTYPE(T, D)                       \
  template <>                                  \
  struct DTypeOf<T> {                          \
    static constexpr DType value = DType::D;   \
  };
TARE_DTYPE(float, kFloat)
TARE_DTYPE(double, kDouble)
TARE_DTYPE(int8_t, kInt8)
TARE_DTYPE(int16_t, kInt16)
TARE_DTYPE(int32_t, kInt32)
TARE_DTYPE(int64_t, kInt64)
TARE_DTYPE(uint8_t, kUint8)
TARE_DTYPE(uint16_t, kUint16)
TARE_DTYPE(uint32_t, kUint32)
TARE_DTYPE(uint64_t, kUint64)
TARE_DTYPE(bool, kBool)
TARE_DTYPE(Half, kHalf)
TARE_DTYPE(BFloat16, kBfloat16)
TARE_DTYPE(std::complex<float>, kComplex64)
TARE_DTYPE(std::complex<double>, kComplex128)
TARE_DTYPE(StringCell, kString)
#undef TARE_DTYPE

template <class... T>
struct Types {};
template <class A, class B>
struct JoinTypes;
template <class... A, class... B>
struct JoinTypes<Types<A...>, Types<B...>> {
  using type = Types<A..., B...>;
};
template <class A, class B>
using Join = typename JoinTypes<A, B>::type;

using Floats = Types<float, double, Half, BFloat16>;
using SignedInts = Types<int8_t, int16_t, int32_t, int64_t>;
using UnsignedInts = Types<uint8_t, uint16_t, uint32_t, uint64_t>;
using Integers = Join<SignedInts, UnsignedInts>;
using Complexes = Types<std::complex<float>, std::complex<double>>;
using Reals = Join<Floats, Integers>;
using Numbers = Join<Reals, Complexes>;
using Indexes = Types<int32_t, int64_t>;

// Calls f.operator()<T>() for the member of Ts whose dtype is `t`; f returns Status.
// Unimplemented, naming the dtype, when there is none.
template <class... Ts, class F>
Status ForType(Types<Ts...>, DType t, F&& f) {
  Status s;
  bool found = ((t == DTypeOf<Ts>::value && (s = f.template operator()<Ts>(), true)) || ...);
  return found ? s : Unimplemented("no kernel for dtype {}", DTypeName(t));
}

// An unsigned integer of the element's size, for ops that only move elements. Sizes 1, 2, 4, 8, 16.
template <class F>
Status ForSize(DType t, F&& f) {
  switch (DTypeSize(t)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    case 16: return f.template operator()<std::complex<double>>();
    default: return Unimplemented("no kernel for dtype {}", DTypeName(t));
  }
}

}  // namespace tare
