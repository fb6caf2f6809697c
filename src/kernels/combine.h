// Two values to one, as types that kernels take: how updates meet a variable, and sparse tensors
// each other.
#pragma once
#include "math/arith.h"
#include "tensor/dtype.h"

namespace tare {

struct Plus {
  template <class T>
  T operator()(T a, T b) const {
    return math::Add(a, b);
  }
};
struct Minus {
  template <class T>
  T operator()(T a, T b) const {
    return math::Sub(a, b);
  }
};
struct Times {
  template <class T>
  T operator()(T a, T b) const {
    return math::Mul(a, b);
  }
};
// REQUIRES: b != 0 where T is an integer.
struct Over {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return math::TruncateDiv(a, b);
    else
      return a / b;
  }
};
struct Larger {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Smaller {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

}  // namespace tare
