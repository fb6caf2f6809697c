// Half and bfloat16 to float and back, many at once: by hardware where it has instructions for it.
#pragma once
#include <cstdint>

#include "tensor/dtype.h"

namespace tare::math {

// Converts n elements. Rounds to nearest, ties to even.
void Widen(const Half* from, float* to, int64_t n);
void Widen(const BFloat16* from, float* to, int64_t n);
void Narrow(const float* from, Half* to, int64_t n);
void Narrow(const float* from, BFloat16* to, int64_t n);

}  // namespace tare::math
