// What the ragged kernels share: row splits, checked and widened.
#pragma once
#include <limits>
#include <vector>

#include "kernels/kernel.h"

namespace tare {

// The values of an int32 or int64 tensor.
inline Result<std::vector<int64_t>> WideValues(const Tensor& t) {
  std::vector<int64_t> wide(static_cast<size_t>(t.num_elements()));
  TARE_ASSIGN_OR_RETURN(auto values, IntValues(t, wide));
  if (t.dtype() == DType::kInt64) wide.assign(values.begin(), values.end());
  return wide;
}

// Splits of `count` values: they start at 0, never fall and end at `count`.
inline Status CheckSplits(std::span<const int64_t> splits, int64_t count) {
  if (splits.empty()) return InvalidArgument("ragged splits may not be empty.");
  if (splits[0] != 0) return InvalidArgument("First value of ragged splits must be 0.");
  for (size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] < splits[i - 1]) {
      return InvalidArgument("Ragged splits should be non decreasing, but we got {} followed by {}", splits[i - 1],
                             splits[i]);
    }
  }
  if (splits.back() != count) {
    return InvalidArgument("Final value of ragged splits must match the length the corresponding ragged values.");
  }
  return OkStatus();
}

// The splits of inputs [first, first + rank) of a ragged tensor whose flat values are `values`, outermost first.
inline Result<std::vector<std::vector<int64_t>>> NestedSplits(const KernelCall& c, int first, int rank,
                                                              const Tensor& values) {
  std::vector<std::vector<int64_t>> all;
  for (int i = 0; i < rank; ++i) {
    TARE_ASSIGN_OR_RETURN(std::vector<int64_t> s, WideValues(c.input(first + i)));
    all.push_back(std::move(s));
  }
  int64_t count = values.rank() > 0 ? values.dim(0) : 1;
  for (size_t i = all.size(); i-- > 0; count = static_cast<int64_t>(all[i].size()) - 1) {
    TARE_RETURN_IF_ERROR(CheckSplits(all[i], count));
  }
  return all;
}

// Makes output `i` of splits' type from wide values.
inline Status SetInts(KernelCall& c, int i, DType dtype, std::span<const int64_t> values) {
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(i, dtype, {static_cast<int64_t>(values.size())}));
  return ForType(Indexes(), dtype, [&]<class T>() -> Status {
    T* to = out->mutable_data<T>();
    for (int64_t v : values) {
      if (v > std::numeric_limits<T>::max()) return InvalidArgument("Requires splits to fit {}", DTypeName(dtype));
      *to++ = static_cast<T>(v);
    }
    return OkStatus();
  });
}

// Copies `n` elements from one tensor's element `from` to another's `to`. REQUIRES: they are there.
inline void CopyRange(const Tensor& source, int64_t from, Tensor& target, int64_t to, int64_t n) {
  const auto size = static_cast<int64_t>(DTypeSize(source.dtype()));
  CopyElements(source.dtype(), static_cast<const std::byte*>(source.raw()) + from * size,
               static_cast<std::byte*>(target.mutable_raw()) + to * size, static_cast<size_t>(n));
}

}  // namespace tare
