#include "math/transpose.h"

#include <immintrin.h>

#include <algorithm>

namespace tare::math {

void TransposeFloats(const float* src, int64_t src_stride, int64_t rows, int64_t columns, float* dst,
                     int64_t dst_stride) {
  // Blocks of 16 x 16 keep both sides within a few cache lines; inside, 4 x 4 in registers.
  constexpr int64_t kBlock = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const int64_t r1 = std::min(rows, r0 + kBlock);
    for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
      const int64_t c1 = std::min(columns, c0 + kBlock);
      int64_t r = r0;
      for (; r + 4 <= r1; r += 4) {
        int64_t c = c0;
        for (; c + 4 <= c1; c += 4) {
          const float* s = src + r * src_stride + c;
          __m128 v0 = _mm_loadu_ps(s), v1 = _mm_loadu_ps(s + src_stride);
          __m128 v2 = _mm_loadu_ps(s + 2 * src_stride), v3 = _mm_loadu_ps(s + 3 * src_stride);
          _MM_TRANSPOSE4_PS(v0, v1, v2, v3);
          float* d = dst + c * dst_stride + r;
          _mm_storeu_ps(d, v0);
          _mm_storeu_ps(d + dst_stride, v1);
          _mm_storeu_ps(d + 2 * dst_stride, v2);
          _mm_storeu_ps(d + 3 * dst_stride, v3);
        }
        for (; c < c1; ++c) {
          for (int64_t i = r; i < r + 4; ++i) dst[c * dst_stride + i] = src[i * src_stride + c];
        }
      }
      for (; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) dst[c * dst_stride + r] = src[r * src_stride + c];
      }
    }
  }
}

}  // namespace tare::math
