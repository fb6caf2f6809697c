// Elementary functions of float that the compiler can vectorise: no branches, no calls, no tables. Within 2
// units in the last place, or 3 to 4 where vector_math_test.cc says so; denormal results are zero. For other
// types, the standard library's.
//
// The polynomials are those of Cephes (S. L. Moshier) for exp, log and tanh, and minimax fits of our own
// for erf and erfc. Written for strict IEEE arithmetic: this must not be compiled with -ffast-math.
#pragma once
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace tare::math {

namespace internal {

constexpr float kInf = std::numeric_limits<float>::infinity();

// 2^n for n in [-126, 127].
inline float PowerOfTwo(int32_t n) { return std::bit_cast<float>((n + 127) << 23); }

// x = n * ln 2 + r with |r| <= ln(2)/2. REQUIRES: |x| < 2^21.
struct Reduced {
  int32_t n;
  float r;
};
inline Reduced ReduceByLn2(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  float shifted = x * 1.44269504f + kRound;
  float n = shifted - kRound;
  return {std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound),
          (x - n * 0.693359375f) - n * -2.12194440e-4f};
}

// exp(r) - 1 for |r| <= ln(2)/2.
inline float ExpM1Reduced(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r;
}

}  // namespace internal

inline float Exp(float x) {
  float clamped = x < -88.0f ? -88.0f : x > 89.0f ? 89.0f : x;
  auto [n, r] = internal::ReduceByLn2(clamped);
  // In two factors, since 2^128 is not a float.
  int32_t half = n >> 1;
  float e = (internal::ExpM1Reduced(r) + 1.0f) * internal::PowerOfTwo(half) * internal::PowerOfTwo(n - half);
  e = x < -87.336544f ? 0.0f : e;
  return x > 88.722839f ? internal::kInf : e;
}

inline float Expm1(float x) {
  float clamped = x < -30.0f ? -30.0f : x > 89.0f ? 89.0f : x;
  auto [n, r] = internal::ReduceByLn2(clamped);
  int32_t half = n >> 1;
  float s = internal::PowerOfTwo(half), t = internal::PowerOfTwo(n - half);
  float e = internal::ExpM1Reduced(r) * s * t + (s * t - 1.0f);
  // Where s * t is infinite but the result may not be.
  e = n > 127 ? (internal::ExpM1Reduced(r) + 1.0f) * s * t : e;
  return x > 88.722839f ? internal::kInf : e;
}

// Of positive normal numbers; the callers below see to the rest.
inline float LogPositive(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  // Mantissa in [sqrt(1/2), sqrt(2)). Unsigned, since what is not positive and normal comes here too
  // and wraps.
  int32_t n = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  float m = std::bit_cast<float>(bits - (static_cast<uint32_t>(n) << 23)) - 1.0f;
  float z = m * m, e = static_cast<float>(n);
  float p = 7.0376836292e-2f;
  p = p * m + -1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m + -1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m + -1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m + -2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * m * z + e * -2.12194440e-4f - 0.5f * z;
  return m + y + e * 0.693359375f;
}

inline float Log(float x) {
  float y = LogPositive(x);
  y = x < internal::kInf ? y : x;  // infinity, NaN
  y = x < std::numeric_limits<float>::min() ? -internal::kInf : y;
  return x < 0 ? std::numeric_limits<float>::quiet_NaN() : y;
}

inline float Log1p(float x) {
  float u = 1.0f + x, rounding = u - 1.0f;
  // What rounding 1 + x lost comes back by the slope between u and 1.
  float y = Log(u) * (x / (rounding == 0 ? 1.0f : rounding));
  y = rounding == 0 ? x : y;
  return x < internal::kInf ? y : x;
}

inline float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }

inline float Tanh(float x) {
  float a = std::fabs(x), s = x * x;
  float p = -5.70498872745e-3f;
  p = p * s + 2.06390887954e-2f;
  p = p * s + -5.37397155531e-2f;
  p = p * s + 1.33314422036e-1f;
  p = p * s + -3.33332819422e-1f;
  float small = p * s * x + x;
  float large = 1.0f - 2.0f / (Exp(a + a) + 1.0f);
  return std::copysign(a < 0.625f ? small : large, x);
}

// erf(x) for |x| < 1.
inline float ErfSmall(float x) {
  const float s = x * x;
  float p = 7.720224880061357e-05f;
  p = p * s + -0.0007973122127499582f;
  p = p * s + 0.005184517812412159f;
  p = p * s + -0.02685203531901214f;
  p = p * s + 0.11283548479837908f;
  p = p * s + -0.3761262313828899f;
  p = p * s + 0.128379165423463f;
  return p * x + x;
}

inline float Erf(float x) {
  float a = std::fabs(x), s = x * x;
  // erfc(a) exp(a^2) as a polynomial in 1/a.
  float u = 1.0f / (a < 1.0f ? 1.0f : a);
  float q = -0.01813889173566614f;
  q = q * u + 0.12173322107229173f;
  q = q * u + -0.35564973116869103f;
  q = q * u + 0.5766103471428418f;
  q = q * u + -0.5059867988441055f;
  q = q * u + 0.050880957538037924f;
  q = q * u + 0.557790304302495f;
  q = q * u + 0.00034415279646715646f;
  float large = a > 4.0f ? 1.0f : 1.0f - q * Exp(-s);
  large = a != a ? a : large;
  return a < 1.0f ? ErfSmall(x) : std::copysign(large, x);
}

// erfc(a) exp(a^2) (1 + 2a) is smooth and bounded over all a >= 0: a polynomial in (a - 2) / (a + 2).
inline float Erfc(float x) {
  const float a = std::fabs(x), b = a > 10.0f ? 10.0f : a;
  const float t = (b - 2.0f) / (b + 2.0f);
  float p = -0.0004005795927f;
  p = p * t + -0.001229930785f;
  p = p * t + 0.001313525368f;
  p = p * t + 0.008631684817f;
  p = p * t + -0.00805987604f;
  p = p * t + -0.05420430005f;
  p = p * t + 0.1640553474f;
  p = p * t + -0.1660314202f;
  p = p * t + -0.09276398271f;
  p = p * t + 1.276978374f;
  // exp(-b^2), with b^2 in two parts: rounded to a float it would be off by up to 50 units in the last place.
  const float high = std::bit_cast<float>(std::bit_cast<uint32_t>(b) & 0xfffff000u);
  const float rest = (b - high) * (b + high);
  auto [n, r] = internal::ReduceByLn2(-(high * high));
  const int32_t half = n >> 1;
  const float e = (internal::ExpM1Reduced(r - rest) + 1.0f) * internal::PowerOfTwo(half);
  float tail = p / (1.0f + 2.0f * b) * e * internal::PowerOfTwo(n - half);
  tail = tail < std::numeric_limits<float>::min() ? 0.0f : tail;
  float y = x < 0 ? 2.0f - tail : tail;
  y = a < 0.5f ? 1.0f - ErfSmall(x) : y;
  return x != x ? x : y;
}

// log(1 + exp(x)), linear where float can tell no difference.
inline float Softplus(float x) {
  float y = Log1p(Exp(x));
  return x > 17.0f ? x : y;
}

template <class T> T Exp(T x) { return std::exp(x); }
template <class T> T Log(T x) { return std::log(x); }
inline double Expm1(double x) { return std::expm1(x); }
inline double Log1p(double x) { return std::log1p(x); }
template <class T> std::complex<T> Expm1(std::complex<T> x) { return std::exp(x) - T(1); }
template <class T> std::complex<T> Log1p(std::complex<T> x) { return std::log(x + T(1)); }
template <class T> T Sigmoid(T x) { return T(1) / (T(1) + std::exp(-x)); }
template <class T> T Tanh(T x) { return std::tanh(x); }
inline double Erf(double x) { return std::erf(x); }
inline double Erfc(double x) { return std::erfc(x); }
inline double Softplus(double x) {
  return x > 34.04 ? x : x < -34.04 ? std::exp(x) : std::log1p(std::exp(x));
}

}  // namespace tare::math
