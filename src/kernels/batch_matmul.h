// Products of batches of matrices, shared by MatMul, BatchMatMul and Einsum.
#pragma once
#include <array>

#include "kernels/kernel.h"
#include "math/gemm.h"

namespace tare {

// Where the matrices of a batch lie in a tensor, in elements: rows are `stride` apart and contiguous; along batch
// dimension d, neighbours are steps[d] apart (0 where one matrix serves all).
struct MatrixLayout {
  int64_t stride = 0;
  std::array<int64_t, kMaxRank> steps{};

  // Dense matrices of `columns` columns and `size` elements under the batch dimensions `dims`, broadcast to `batch`.
  static MatrixLayout Dense(const Shape& batch, std::span<const int64_t> dims, int64_t columns, int64_t size);
  // Of the i-th matrix of the batch.
  int64_t Offset(const Shape& batch, int64_t i) const;
};

// out[b] = op(x[b]) * op(y[b]) for every b of the batch; op transposes, conjugates, or does nothing.
struct BatchProduct {
  Tensor x, y;  // of one dtype
  bool turn_x = false, turn_y = false;            // stored as [k, m], as [n, k]
  bool conjugate_x = false, conjugate_y = false;
  int64_t m = 0, n = 0, k = 0;
  Shape batch;
  MatrixLayout x_at, y_at, out_at;
  math::Epilogue epilogue;  // of float matrices; its operands are those of every matrix
};

// Sets output `output` with shape `shape`, which has batch * m * n elements.
Status RunBatchProduct(KernelCall& c, int output, const BatchProduct& product, const Shape& shape);
// To `out`, of as many elements and of x's dtype, which is no narrow float.
Status RunBatchProductInto(KernelCall& c, const BatchProduct& product, Tensor& out);
// The same to a temporary.
Result<Tensor> MakeBatchProduct(KernelCall& c, const BatchProduct& product, const Shape& shape);

}  // namespace tare
