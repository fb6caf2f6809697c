// Arithmetic as tensors have it: integers wrap, division and shifts are defined for every operand.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tare::math {

// The unsigned type in which T's arithmetic wraps and is never promoted to int.
template <class T>
using Wrap = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <class T>
T Add(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(Wrap<T>(a) + Wrap<T>(b));
  else return a + b;
}
template <class T>
T Sub(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(Wrap<T>(a) - Wrap<T>(b));
  else return a - b;
}
template <class T>
T Mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(Wrap<T>(a) * Wrap<T>(b));
  else return a * b;
}
template <class T>
T Neg(T a) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(Wrap<T>(0) - Wrap<T>(a));
  else return -a;
}
template <class T>
T Square(T a) {
  return Mul(a, a);
}
template <class T>
T Abs(T a) {
  if constexpr (std::is_unsigned_v<T>) return a;
  else if constexpr (std::is_integral_v<T>) return a < 0 ? Neg(a) : a;
  else return std::abs(a);
}

// REQUIRES: b != 0 where T is an integer. The least integer over -1 is itself, as wrapping makes it.
template <class T>
T TruncateDiv(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::trunc(a / b);
  } else if constexpr (std::is_signed_v<T>) {
    return b == -1 ? Neg(a) : static_cast<T>(a / b);
  } else {
    return static_cast<T>(a / b);
  }
}
template <class T>
T TruncateMod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else if constexpr (std::is_signed_v<T>) {
    return b == -1 ? T(0) : static_cast<T>(a % b);
  } else {
    return static_cast<T>(a % b);
  }
}
template <class T>
T FloorDiv(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::floor(a / b);
  } else {
    T q = TruncateDiv(a, b);
    if constexpr (std::is_signed_v<T>) {
      if (TruncateMod(a, b) != 0 && (a < 0) != (b < 0)) --q;
    }
    return q;
  }
}
// The sign of a result that is not zero is b's.
template <class T>
T FloorMod(T a, T b) {
  T m = TruncateMod(a, b);
  if constexpr (!std::is_unsigned_v<T>) {
    if (m != 0 && (m < 0) != (b < 0)) m += b;
  }
  return m;
}

// Shift counts are taken into [0, width - 1].
template <class T>
T LeftShift(T a, T n) {
  constexpr T kMost = sizeof(T) * 8 - 1;
  n = std::clamp<T>(n, 0, kMost);
  return static_cast<T>(Wrap<T>(a) << n);
}
template <class T>
T RightShift(T a, T n) {
  constexpr T kMost = sizeof(T) * 8 - 1;
  return static_cast<T>(a >> std::clamp<T>(n, 0, kMost));
}

// REQUIRES: b >= 0 where T is an integer.
template <class T>
T Pow(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    T r = 1;
    for (; b > 0; b = static_cast<T>(b >> 1), a = Mul(a, a)) {
      if (b & 1) r = Mul(r, a);
    }
    return r;
  } else {
    return std::pow(a, b);
  }
}

// NaN if either is.
template <class T>
T Maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return (a < b || b != b) ? b : a;
  else return a < b ? b : a;
}
template <class T>
T Minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return (b < a || b != b) ? b : a;
  else return b < a ? b : a;
}

template <class T>
T Sign(T a) {
  if constexpr (std::is_unsigned_v<T>) return a > 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>((a > 0) - (a < 0));
  else if constexpr (std::is_floating_point_v<T>) return a != a ? a : static_cast<T>((a > 0) - (a < 0));
  else return a == T(0) ? T(0) : a / std::abs(a);
}

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <class T>
T Conj(T a) {
  if constexpr (std::is_arithmetic_v<T>) return a;
  else return std::conj(a);
}

}  // namespace tare::math
