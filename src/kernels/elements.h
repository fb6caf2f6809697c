// Moving elements without minding what they are, and reading the integers that ops take as shapes,
// axes and indices.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tensor/tensor.h"

namespace tare {

// Plain elements of 8 and 16 bytes. A complex element read in place from a file is only aligned to
// its parts, so these promise no more.
struct Word8 {
  uint32_t parts[2];
};
struct Word16 {
  uint64_t parts[2];
};

// Calls f.operator()<T>() with a type that can hold and move an element of `t`: an unsigned integer
// or word of its size, StringCell, or Ref<Object>. f returns nothing.
template <class F>
void ForElement(DType t, F&& f) {
  if (t == DType::kString) return f.template operator()<StringCell>();
  if (!IsPlain(t)) return f.template operator()<Ref<Object>>();
  switch (DTypeSize(t)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<Word8>();
    default: return f.template operator()<Word16>();
  }
}

template <class T>
inline void PutElement(T& to, const T& from) {
  if constexpr (std::is_same_v<T, StringCell>) to.Assign(from.view());
  else to = from;
}

template <class T>
inline void CopyRun(const T* from, T* to, int64_t n) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (n >= 8) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) PutElement(to[i], from[i]);
}

template <class T>
inline void FillRun(const T& value, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) PutElement(to[i], value);
}

// Sets fresh elements to zero; strings and references are made empty.
inline void ZeroElements(DType t, void* to, int64_t n) {
  if (IsPlain(t) && n > 0) std::memset(to, 0, static_cast<size_t>(n) * DTypeSize(t));
}

// The address of element `i` of memory that holds elements of `t`.
inline const void* ElementAt(DType t, const void* p, int64_t i) {
  return static_cast<const std::byte*>(p) + i * static_cast<int64_t>(DTypeSize(t));
}
inline void* ElementAt(DType t, void* p, int64_t i) {
  return static_cast<std::byte*>(p) + i * static_cast<int64_t>(DTypeSize(t));
}

// The values of an integer tensor, widened: a view of an int64 tensor, which must outlive it, else a copy.
class Ints {
 public:
  explicit Ints(const Tensor& t) {
    auto n = static_cast<size_t>(t.num_elements());
    if (t.dtype() == DType::kInt64) {
      values_ = t.as<int64_t>();
      return;
    }
    if (n > small_.size()) large_.resize(n);
    int64_t* to = n > small_.size() ? large_.data() : small_.data();
    switch (t.dtype()) {
      case DType::kInt32: std::copy_n(t.data<int32_t>(), n, to); break;
      case DType::kInt16: std::copy_n(t.data<int16_t>(), n, to); break;
      case DType::kUint16: std::copy_n(t.data<uint16_t>(), n, to); break;
      case DType::kInt8: std::copy_n(t.data<int8_t>(), n, to); break;
      case DType::kUint8: std::copy_n(t.data<uint8_t>(), n, to); break;
      default: assert(false); n = 0;
    }
    values_ = {to, n};
  }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;

  size_t size() const { return values_.size(); }
  int64_t operator[](size_t i) const { return values_[i]; }
  operator std::span<const int64_t>() const { return values_; }  // NOLINT
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::array<int64_t, 12> small_;
  std::vector<int64_t> large_;
  std::span<const int64_t> values_;
};

// The one value of an integer tensor of any shape. InvalidArgument "NAME must be a scalar, ..." when there
// is not exactly one element.
inline Result<int64_t> ScalarInt(const Tensor& t, std::string_view name) {
  if (t.num_elements() != 1) {
    return InvalidArgument("{} must be a scalar, not shape {}", name, t.shape().ToString());
  }
  return Ints(t)[0];
}

// `axis` counted from the front. InvalidArgument when outside [-rank, rank).
inline Result<int> CheckAxis(int64_t axis, int rank, std::string_view op) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("{}: axis {} is not in [{}, {})", op, axis, -rank, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// "0,2" for element 5 of a [2,3] tensor, as messages name a bad index.
inline std::string IndexName(const Shape& shape, int64_t flat) {
  std::string s;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    s = fmt::format("{}{}{}", flat % shape[i], s.empty() ? "" : ",", s);
    flat /= shape[i];
  }
  return s;
}

}  // namespace tare
