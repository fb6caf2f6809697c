// A tensor as text, the way TensorFlow's print and string format show it:
//
//   [[1 2 3 ... 7 8 9]
//    ...
//    [91 92 93 ... 97 98 99]]
#pragma once
#include <string>

#include "tensor/tensor.h"

namespace tare {

// At most `ends` elements at both ends of each dimension; negative means all.
std::string Summarize(const Tensor& t, int64_t ends);

}  // namespace tare
