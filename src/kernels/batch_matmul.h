// Products of batches of matrices, shared by MatMul, BatchMatMul and Einsum.
#pragma once
#include "kernels/kernel.h"

namespace tare {

// out[b] = op(x[b]) * op(y[b]) for every b of the broadcast batch.
struct BatchProduct {
  Tensor x, y;  // [batch..., rows, columns]; rank >= 2
  bool turn_x = false, turn_y = false;            // use the transposed matrices
  bool conjugate_x = false, conjugate_y = false;  // use the conjugates
  Shape batch;                                    // to which both batches broadcast
  int64_t m = 0, n = 0, k = 0;
};

// Sets output `output` with shape `shape` (of batch * m * n elements). The dtypes of x and y are equal and those of the output.
Status RunBatchProduct(KernelCall& c, int output, const BatchProduct& product, const Shape& shape);
// The same to a temporary.
Result<Tensor> MakeBatchProduct(KernelCall& c, const BatchProduct& product, const Shape& shape);

}  // namespace tare
