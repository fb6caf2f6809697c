// Numbering the distinct values of a sequence in order of first appearance, for Unique and set operations.
#pragma once
#include <bit>
#include <vector>

#include "kernels/elements.h"

namespace tare {

// Types whose values tell themselves apart: integers by their bits alone.
using DistinctTypes = Types<uint8_t, uint16_t, uint32_t, uint64_t, float, double, Half, BFloat16, StringCell>;

// Calls f.operator()<T>() with the member of DistinctTypes that stands for `t`.
template <class F>
Status ForDistinct(DType t, F&& f) {
  switch (t) {
    case DType::kInt8:
    case DType::kBool: return f.template operator()<uint8_t>();
    case DType::kInt16: return f.template operator()<uint16_t>();
    case DType::kInt32: return f.template operator()<uint32_t>();
    case DType::kInt64: return f.template operator()<uint64_t>();
    default: return ForType(DistinctTypes{}, t, f);
  }
}

template <class T>
bool SameValue(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, StringCell>) return a.view() == b.view();
  else return a == b;  // NaN differs from itself; 0 equals -0
}

template <class T>
uint64_t HashValue(const T& v) {
  if constexpr (std::is_same_v<T, StringCell>) {
    return std::hash<std::string_view>{}(v.view());
  } else if constexpr (std::is_integral_v<T>) {
    uint64_t h = (uint64_t{v} + 1) * 0x9e3779b97f4a7c15;
    return h ^ h >> 32;
  } else {
    const double d = static_cast<double>(v);
    uint64_t h = std::bit_cast<uint64_t>(d == 0 ? 0.0 : d) * 0x9e3779b97f4a7c15;
    return h ^ h >> 32;
  }
}

// An open-addressed table of numbers of items; the caller says what equals what.
class NumberTable {
 public:
  explicit NumberTable(int64_t items) : slots_(std::bit_ceil(static_cast<uint64_t>(items) * 2 + 1), -1) {}

  // The number of the item that `same` accepts, else `next`, which is then in the table.
  template <class Same>
  int64_t FindOrAdd(uint64_t hash, int64_t next, Same same) {
    const uint64_t mask = slots_.size() - 1;
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
      if (slots_[at] < 0) return slots_[at] = next;
      if (same(slots_[at])) return slots_[at];
    }
  }
  template <class Same>
  bool Contains(uint64_t hash, Same same) const {
    const uint64_t mask = slots_.size() - 1;
    for (uint64_t at = hash & mask; slots_[at] >= 0; at = (at + 1) & mask) {
      if (same(slots_[at])) return true;
    }
    return false;
  }

 private:
  std::vector<int64_t> slots_;
};

}  // namespace tare
