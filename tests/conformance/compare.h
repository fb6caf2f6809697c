// Whether a tensor is what was recorded, within a tolerance for floating point.
#pragma once
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace tare {

// |got - want| <= atol + rtol * |want|.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};
// By dtype: float 1e-5, double 1e-12, bfloat16 2e-2, half 2e-3, others none.
Tolerance DefaultTolerance(DType dtype);

// Says what differs first; nothing when the tensors agree. NaN equals NaN. REQUIRES: `want` is
// plain or string, and `got` has its dtype and shape.
std::optional<std::string> FirstDifference(const Tensor& want, const Tensor& got,
                                           Tolerance tolerance);

}  // namespace tare
