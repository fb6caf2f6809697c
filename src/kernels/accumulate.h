// Two-operand steps of scatters, segment reductions and sequences, by element type. Integers wrap around, as they do
// on the machine; half types round every step.
#pragma once
#include "tensor/dtype.h"

namespace tare {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The type a step is computed in: no overflow is undefined in it.
template <class T>
auto Wide(T v) {
  if constexpr (kIsHalf<T>) return static_cast<float>(v);
  else if constexpr (std::is_same_v<T, bool>) return static_cast<unsigned>(v);
  else if constexpr (std::is_integral_v<T>) return static_cast<std::make_unsigned_t<decltype(v + 0)>>(v);
  else return v;
}

struct AddStep {
  template <class T>
  static T Do(T a, T b) { return static_cast<T>(Wide(a) + Wide(b)); }
};
struct SubStep {
  template <class T>
  static T Do(T a, T b) { return static_cast<T>(Wide(a) - Wide(b)); }
};
struct MulStep {
  template <class T>
  static T Do(T a, T b) { return static_cast<T>(Wide(a) * Wide(b)); }
};
struct MinStep {
  template <class T>
  static T Do(T a, T b) { return b < a ? b : a; }
};
struct MaxStep {
  template <class T>
  static T Do(T a, T b) { return a < b ? b : a; }
};

}  // namespace tare
