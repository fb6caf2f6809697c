// Conversion between dtypes, by value (Cast) or by bits (Bitcast).
#include <cstring>

#include "kernels/elementwise.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// A float as a signed integer, as x86 converts: toward zero; NaN and what is out of range give the least.
template <class I, class F>
I ToSigned(F x) {
  constexpr F kBound = -static_cast<F>(std::numeric_limits<I>::min());
  return static_cast<I>(x >= -kBound && x < kBound ? x : -kBound);
}

template <class To, class From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // Narrower integers are the low bits of wider ones.
    using Signed = std::conditional_t<sizeof(To) == 8 || std::is_same_v<To, uint32_t>, int64_t, int32_t>;
    Signed low = ToSigned<Signed>(x);
    if constexpr (std::is_same_v<To, uint64_t>) {
      // The upper half of the range comes from x less 2^63, as compilers do it.
      int64_t high = ToSigned<int64_t>(x - static_cast<From>(0x1p63));
      return static_cast<To>(low | (high & (low >> 63)));
    } else {
      return static_cast<To>(low);
    }
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void ConvertRun(const void* const* in, void* out, int64_t n, const void*) {
  const From* x = static_cast<const From*>(in[0]);
  To* z = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<From, To>) z[i] = x[i];
    else if constexpr (!std::is_arithmetic_v<From> && !std::is_arithmetic_v<To>) z[i] = static_cast<To>(x[i]);
    // Of a complex number the real part counts.
    else if constexpr (!std::is_arithmetic_v<From>) z[i] = Convert<To>(x[i].real());
    else if constexpr (!std::is_arithmetic_v<To>) z[i] = To(static_cast<typename To::value_type>(x[i]));
    else z[i] = Convert<To>(x[i]);
  }
}

using Castable = Join<Join<Types<float, double>, Integers>, Join<Types<bool>, Complexes>>;

// The dtype whose loop serves `t`: quantised types are integers, small floats are widened.
DType LoopDType(DType t) {
  switch (t) {
    case DType::kQint8: return DType::kInt8;
    case DType::kQuint8: return DType::kUint8;
    case DType::kQint16: return DType::kInt16;
    case DType::kQuint16: return DType::kUint16;
    case DType::kQint32: return DType::kInt32;
    case DType::kHalf:
    case DType::kBfloat16: return DType::kFloat;
    default: return t;
  }
}

BlockOp::Fn FindConversion(DType from, DType to) {
  BlockOp::Fn fn = nullptr;
  (void)ForType(Castable{}, LoopDType(from), [&]<class From>() {
    return ForType(Castable{}, LoopDType(to), [&]<class To>() {
      fn = ConvertRun<From, To>;
      return OkStatus();
    });
  });
  return fn;
}

// Rounds floats toward zero to the bits that a small float keeps.
template <uint32_t kMask>
void CutRun(const void* const* in, void* out, int64_t n, const void*) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits = static_cast<const uint32_t*>(in[0])[i];
    static_cast<uint32_t*>(out)[i] = bits & kMask;
  }
}

struct Cast {
  explicit Cast(AttrReader& a) : from(a.Type("SrcT")), to(a.Type("DstT")), truncate(a.Bool("Truncate")) {
    if (from == to) return;
    convert = FindConversion(from, to);
    if (!convert) a.Fail(Unimplemented("Cast {} to {} is not supported", DTypeName(from), DTypeName(to)));
  }

  Status Run(KernelCall& c) const {
    if (from == to) {
      c.SetOutput(0, c.TakeInput(0));
      return OkStatus();
    }
    const Tensor* x = &c.input(0);
    Tensor cut;
    if (truncate && CutsBits()) {
      TARE_ASSIGN_OR_RETURN(cut, c.Temp(DType::kFloat, x->shape()));
      RunBlocks(c.threads(), {&x, 1}, cut, {FindConversion(from, DType::kFloat), nullptr, 1, true});
      const Tensor* whole = &cut;
      RunBlocks(c.threads(), {&whole, 1}, cut, {to == DType::kHalf ? CutRun<~0x1fffu> : CutRun<~0xffffu>});
      x = &cut;
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, to, x->shape()));
    RunBlocks(c.threads(), {&x, 1}, *out, {cut.valid() ? ConvertRun<float, float> : convert, nullptr, 1, true});
    return OkStatus();
  }

  // Only these conversions heed Truncate.
  bool CutsBits() const {
    if (to == DType::kBfloat16) return from == DType::kFloat;
    return to == DType::kHalf && (from == DType::kFloat || from == DType::kDouble || from == DType::kBfloat16 ||
                                  from == DType::kComplex64 || from == DType::kComplex128);
  }

  DType from, to;
  bool truncate;
  BlockOp::Fn convert = nullptr;
};

// Bits stay; a size that changes makes or takes a last dimension.
struct Bitcast {
  explicit Bitcast(AttrReader& a) : to(a.Type("type")) {}
  Status Run(KernelCall& c) const {
    const Tensor& x = c.input(0);
    Shape shape = x.shape();
    int64_t from_size = static_cast<int64_t>(DTypeSize(x.dtype())), to_size = static_cast<int64_t>(DTypeSize(to));
    if (from_size > to_size) {
      if (shape.rank() == kMaxRank) return InvalidArgument("Bitcast: too many dimensions");
      shape.Append(from_size / to_size);
    } else if (from_size < to_size) {
      int last = shape.rank() - 1;
      if (last < 0 || shape[last] != to_size / from_size) {
        return InvalidArgument("Cannot bitcast from {} to {}", to_size, from_size);
      }
      shape.Remove(last);
    }
    TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
    if (reinterpret_cast<uintptr_t>(x.raw()) % static_cast<uintptr_t>(std::min<int64_t>(to_size, 8)) == 0) {
      c.SetOutput(0, Tensor(to, shape, x.buffer(), const_cast<void*>(x.raw())));
      return OkStatus();
    }
    // Read in place from a file, where larger elements would not be aligned.
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, to, shape));
    std::memcpy(out->mutable_raw(), x.raw(), x.bytes());
    return OkStatus();
  }
  DType to;
};

constexpr KernelRow kRows[] = {
    Op<Bitcast>("Bitcast"),
    Op<Cast>("Cast"),
};

}  // namespace
extern constinit const KernelFamily kCastKernels = kRows;
}  // namespace tare
