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

}  // namespace tare
