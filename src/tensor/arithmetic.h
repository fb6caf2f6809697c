// Arithmetic on any number type: integers wrap around, as TensorFlow's do, without undefined behaviour.
#pragma once
#include <cstdint>
#include <type_traits>

namespace tare {

template <class T>
T WrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else return static_cast<T>(a + b);
}
template <class T>
T WrappingSub(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else return static_cast<T>(a - b);
}
template <class T>
T WrappingMul(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else return static_cast<T>(a * b);
}

// The same as functors, for kernels that take an operation as a type. Over wants a divisor that is not 0
// where T is an integer.
struct Plus {
  template <class T>
  T operator()(T a, T b) const { return WrappingAdd(a, b); }
};
struct Minus {
  template <class T>
  T operator()(T a, T b) const { return WrappingSub(a, b); }
};
struct Times {
  template <class T>
  T operator()(T a, T b) const { return WrappingMul(a, b); }
};
struct Over {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      if (b == -1) return WrappingSub(T{0}, a);
    }
    return static_cast<T>(a / b);
  }
};
struct Larger {
  template <class T>
  T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Smaller {
  template <class T>
  T operator()(T a, T b) const { return b < a ? b : a; }
};

}  // namespace tare
