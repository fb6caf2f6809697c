// Sparse tensors come as three inputs: indices [n, rank] of int64, values [n], shape [rank].
#pragma once
#include <array>
#include <numeric>

#include "kernels/kernel.h"

namespace tare {

// The three, with their shapes checked; indices are any numbers until a kernel checks them.
struct Sparse {
  const Tensor* indices;
  const Tensor* values;
  std::span<const int64_t> dims;

  // InvalidArgument when they do not fit together, or a dimension is negative.
  static Result<Sparse> Make(const Tensor& indices, const Tensor& values, const Tensor& shape);
  // From inputs i, i + 1 and i + 2.
  static Result<Sparse> Make(const KernelCall& c, int i) {
    return Make(c.input(i), c.input(i + 1), c.input(i + 2));
  }

  int rank() const { return static_cast<int>(dims.size()); }
  int64_t size() const { return indices->dim(0); }
  const int64_t* at(int64_t i) const { return indices->data<int64_t>() + i * rank(); }
  // -1, 0 or 1 as the index of element i comes before, with or after that of element j of `o`.
  int Compare(int64_t i, const Sparse& o, int64_t j) const;
  bool InBounds(int64_t i) const;
  // InvalidArgument for the first index out of bounds.
  Status CheckBounds() const;
  // The elements' numbers in the order of their indices; equal ones keep theirs.
  std::vector<int64_t> SortedOrder() const;
};

// "[0,4]"
std::string IndexString(std::span<const int64_t> index);

// Copies element `from` of `source` to element `to`; both are of one dtype.
inline void CopyElement(const Tensor& source, int64_t from, Tensor* target, int64_t to) {
  size_t size = DTypeSize(source.dtype());
  CopyElements(source.dtype(),
               static_cast<const std::byte*>(source.raw()) + static_cast<size_t>(from) * size,
               static_cast<std::byte*>(target->mutable_raw()) + static_cast<size_t>(to) * size, 1);
}

// Output i: a vector of int64.
Status OutputVector(KernelCall& c, int i, std::span<const int64_t> values);

}  // namespace tare
