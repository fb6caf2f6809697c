// Rows dealt out to several tensors by number, and put together again: DynamicPartition, DynamicStitch.
#include "kernels/nd_index.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// Whether `shape` begins with the dimensions of `prefix`.
bool StartsWith(const Shape& shape, const Shape& prefix) {
  return prefix.rank() <= shape.rank() && std::ranges::equal(prefix.dims(), shape.dims().first(prefix.rank()));
}

// [rows] + what `shape` has beyond its first `skip` dimensions.
Result<Shape> RowsOf(int64_t rows, const Shape& shape, int skip) {
  std::array<int64_t, kMaxRank + 1> dims{rows};
  std::ranges::copy(shape.dims().subspan(skip), dims.begin() + 1);
  return Shape::Make({dims.data(), static_cast<size_t>(1 + shape.rank() - skip)});
}

// Later values win where an index comes twice.
Status Stitch(KernelCall& c) {
  const int n = c.num_inputs() / 2;
  const Tensor &first_index = c.input(0), &first = c.input(n);
  int64_t rows = 0;
  for (int k = 0; k < n; ++k) {
    const Tensor &index = c.input(k), &data = c.input(n + k);
    if (!StartsWith(data.shape(), index.shape())) {
      return InvalidArgument("data[{}].shape = {} does not start with indices[{}].shape = {}", k,
                             data.shape().ToString(), k, index.shape().ToString());
    }
    if (!std::ranges::equal(data.shape().dims().subspan(index.rank()),
                            first.shape().dims().subspan(first_index.rank()))) {
      return InvalidArgument(
          "Need data[0].shape[{}:] = data[{}].shape[{}:], got data[0].shape = {}, data[{}].shape = {}, "
          "indices[0].shape = {}, indices[{}].shape = {}",
          first_index.rank(), k, index.rank(), first.shape().ToString(), k, data.shape().ToString(),
          first_index.shape().ToString(), k, index.shape().ToString());
    }
    for (int32_t i : index.as<int32_t>()) rows = std::max<int64_t>(rows, int64_t{i} + 1);
  }
  TARE_ASSIGN_OR_RETURN(const Shape shape, RowsOf(rows, first.shape(), first_index.rank()));
  for (int k = 0; k < n; ++k) {
    if (int64_t bad = FirstOutside(c.input(k), rows); bad >= 0) {
      return InvalidArgument("indices[{}] is out of range", bad);
    }
  }
  const DType dtype = first.dtype();
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
  // Rows that no index names.
  ZeroElements(dtype, out->mutable_raw(), shape.num_elements());
  const int64_t inner = shape.product(1, shape.rank());
  ForElement(dtype, [&]<class T>() {
    T* to = static_cast<T*>(out->mutable_raw());
    for (int k = 0; k < n; ++k) {
      const T* from = static_cast<const T*>(c.input(n + k).raw());
      for (int32_t i : c.input(k).as<int32_t>()) {
        CopyRun(from, to + i * inner, inner);
        from += inner;
      }
    }
  });
  return OkStatus();
}

Status Partition(KernelCall& c) {
  const Tensor &data = c.input(0), &parts = c.input(1);
  if (!StartsWith(data.shape(), parts.shape())) {
    return InvalidArgument("data.shape must start with partitions.shape, got data.shape = {}, partitions.shape = {}",
                           data.shape().ToString(), parts.shape().ToString());
  }
  const int n = c.num_outputs();
  if (int64_t bad = FirstOutside(parts, n); bad >= 0) return OutsideError(parts, bad, n, "partitions");
  std::vector<int64_t> rows(static_cast<size_t>(n));
  for (int32_t p : parts.as<int32_t>()) ++rows[p];
  std::vector<void*> ends(rows.size());
  for (int p = 0; p < n; ++p) {
    TARE_ASSIGN_OR_RETURN(const Shape shape, RowsOf(rows[p], data.shape(), parts.rank()));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(p, data.dtype(), shape));
    ends[p] = out->mutable_raw();
  }
  const int64_t inner = data.shape().product(parts.rank(), data.rank());
  ForElement(data.dtype(), [&]<class T>() {
    const T* from = static_cast<const T*>(data.raw());
    for (int32_t p : parts.as<int32_t>()) {
      T* to = static_cast<T*>(ends[p]);
      CopyRun(from, to, inner);
      ends[p] = to + inner;
      from += inner;
    }
  });
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<Partition>("DynamicPartition"),
    Op<Stitch>("DynamicStitch"),
    Op<Stitch>("ParallelDynamicStitch"),
};

}  // namespace
extern constinit const KernelFamily kStitchKernels = kRows;
}  // namespace tare
