// Turning a matrix of floats: dst[c * dst_stride + r] = src[r * src_stride + c].
#pragma once
#include <cstdint>

namespace tare::math {

void TransposeFloats(const float* src, int64_t src_stride, int64_t rows, int64_t columns, float* dst,
                     int64_t dst_stride);

}  // namespace tare::math
