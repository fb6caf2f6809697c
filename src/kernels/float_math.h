// How kernels call the heavy mathematics: scratch from the call's account, and narrow floats computed
// in float (half and bfloat16 operands are widened, the result rounded once).
#pragma once
#include "kernels/kernel.h"
#include "math/gemm.h"

namespace tare {

// Runs a product on the call's threads, with scratch charged to its account.
Status RunGemm(KernelCall& c, const math::GemmProblem& problem);

constexpr bool IsNarrowFloat(DType t) { return t == DType::kHalf || t == DType::kBfloat16; }

// The tensor itself when it is float; a float copy of half and bfloat16.
Result<Tensor> ToFloat(KernelCall& c, const Tensor& t);
// Sets output i to `t` (float) rounded to `dtype`.
Status SetRounded(KernelCall& c, int i, DType dtype, Tensor t);

// The same elements under another order of dimensions: to.dim(i) = from.dim(order[i]). Sizes 1 to 16 bytes.
Result<Tensor> Permuted(KernelCall& c, const Tensor& from, std::span<const int> order);
// The orders that move channels last and back to second place.
Result<Tensor> ChannelsLast(KernelCall& c, const Tensor& t);
Result<Tensor> ChannelsSecond(KernelCall& c, const Tensor& t);

}  // namespace tare
