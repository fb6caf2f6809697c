// Softmax over contiguous rows, for the kernels that need it.
#pragma once
#include <cstdint>

#include "threads/thread_pool.h"

namespace tare {

// out[r] = softmax(x[r]), or its logarithm, for `rows` rows of n. `out` may be `x` where kLog is false.
// T is float or double.
template <bool kLog, class T>
void SoftmaxRows(ThreadPool& threads, const T* x, T* out, int64_t rows, int64_t n);

}  // namespace tare
