#include "math/small_float.h"

#include <cpuid.h>
#include <immintrin.h>

namespace tare::math {
namespace {

bool HasF16c() {
  static const bool has = [] {  // clang's __builtin_cpu_supports does not know f16c
    unsigned eax, ebx, ecx, edx;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
  }();
  return has;
}

// The number of elements converted, a multiple of 8; the rest is the caller's.
__attribute__((target("avx,f16c"))) int64_t WidenF16c(const Half* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  return i;
}
__attribute__((target("avx,f16c"))) int64_t NarrowF16c(const float* from, Half* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

}  // namespace

void Widen(const Half* from, float* to, int64_t n) {
  for (int64_t i = HasF16c() ? WidenF16c(from, to, n) : 0; i < n; ++i) to[i] = from[i];
}
void Narrow(const float* from, Half* to, int64_t n) {
  for (int64_t i = HasF16c() ? NarrowF16c(from, to, n) : 0; i < n; ++i) to[i] = Half(from[i]);
}
void Widen(const BFloat16* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}
void Narrow(const float* from, BFloat16* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = BFloat16(from[i]);
}

}  // namespace tare::math
