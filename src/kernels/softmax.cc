// Softmax and log-softmax over the last dimension, and the losses that end in them.
#include "kernels/softmax.h"

#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "math/small_float.h"
#include "math/vector_math.h"

namespace tare {
namespace {

constexpr int kLanes = 16;

template <class T>
[[gnu::always_inline]] inline T RowMax(const T* x, int64_t n) {
  T lanes[kLanes];
  std::fill_n(lanes, kLanes, -std::numeric_limits<T>::infinity());
  int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    // Whether NaN comes through does not matter: the exponentials of a row with one are summed.
    for (int j = 0; j < kLanes; ++j) lanes[j] = lanes[j] < x[i + j] ? x[i + j] : lanes[j];
  }
  for (int64_t i = whole; i < n; ++i) lanes[0] = std::max(lanes[0], x[i]);
  return *std::max_element(lanes, lanes + kLanes);
}

template <class T>
[[gnu::always_inline]] inline T RowSum(const T* x, int64_t n) {
  T lanes[kLanes] = {};
  int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += x[i + j];
  }
  for (int width = kLanes / 2; width; width /= 2) {
    for (int j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  for (int64_t i = whole; i < n; ++i) lanes[0] += x[i];
  return lanes[0];
}

// `out` may be `x`, except for the logarithm.
template <bool kLog, class T>
[[gnu::always_inline]] inline void SoftmaxRow(const T* x, T* out, int64_t n) {
  T max = RowMax(x, n);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = math::Exp(x[i] - max);
  T sum = RowSum(out, n);
  if constexpr (kLog) {
    T log_sum = math::Log(sum);
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - max) - log_sum;
  } else {
    T scale = T(1) / sum;
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
  }
}

template <bool kLog, class T>
void Rows(const T* x, T* out, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) SoftmaxRow<kLog>(x + r * n, out + r * n, n);
}
template <bool kLog>
[[gnu::target("avx2,fma"), gnu::flatten]] void RowsAvx2(const float* x, float* out, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) SoftmaxRow<kLog>(x + r * n, out + r * n, n);
}
template <bool kLog>
[[gnu::target(TARE_AVX512_TARGET), gnu::flatten]] void RowsAvx512(const float* x, float* out, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) SoftmaxRow<kLog>(x + r * n, out + r * n, n);
}

}  // namespace

template <bool kLog, class T>
void SoftmaxRows(ThreadPool& threads, const T* x, T* out, int64_t rows, int64_t n) {
  if (n == 0) return;
  constexpr int64_t kElementCost = 3;
  threads.ParallelFor(rows, n * kElementCost, [=](int64_t begin, int64_t end) {
    const T* from = x + begin * n;
    T* to = out + begin * n;
    if constexpr (std::is_same_v<T, float>) {
      if (internal::LoopIsa() == math::Isa::kAvx512) return RowsAvx512<kLog>(from, to, end - begin, n);
      if (internal::LoopIsa() == math::Isa::kAvx2) return RowsAvx2<kLog>(from, to, end - begin, n);
    }
    Rows<kLog>(from, to, end - begin, n);
  });
}
template void SoftmaxRows<false, float>(ThreadPool&, const float*, float*, int64_t, int64_t);
template void SoftmaxRows<true, float>(ThreadPool&, const float*, float*, int64_t, int64_t);
template void SoftmaxRows<false, double>(ThreadPool&, const double*, double*, int64_t, int64_t);
template void SoftmaxRows<true, double>(ThreadPool&, const double*, double*, int64_t, int64_t);

namespace {

template <bool kLog>
Status Softmax(KernelCall& c) {
  const Tensor& x = c.input(0);
  if (x.rank() == 0) return InvalidArgument("logits must have >= 1 dimension, got {}", x.shape().ToString());
  int64_t n = x.dim(x.rank() - 1), rows = x.shape().product(0, x.rank() - 1);
  return ForType(Floats{}, x.dtype(), [&]<class T>() -> Status {
    Tensor* out;
    if constexpr (kLog) {
      TARE_ASSIGN_OR_RETURN(out, c.Output(0, x.dtype(), x.shape()));
    } else {
      TARE_ASSIGN_OR_RETURN(out, c.OutputOver(0, {0}, x.dtype(), x.shape()));
    }
    if constexpr (std::is_same_v<T, internal::LoopType<T>>) {
      SoftmaxRows<kLog>(c.threads(), x.data<T>(), out->mutable_data<T>(), rows, n);
    } else {
      TARE_ASSIGN_OR_RETURN(Tensor from, c.Temp(DType::kFloat, x.shape()));
      TARE_ASSIGN_OR_RETURN(Tensor to, c.Temp(DType::kFloat, x.shape()));
      math::Widen(x.data<T>(), from.mutable_data<float>(), rows * n);
      SoftmaxRows<kLog>(c.threads(), from.data<float>(), to.mutable_data<float>(), rows, n);
      math::Narrow(to.data<float>(), out->mutable_data<T>(), rows * n);
    }
    return OkStatus();
  });
}

constexpr KernelRow kRows[] = {
    Op<Softmax<true>>("LogSoftmax"),
    Op<Softmax<false>>("Softmax"),
};

}  // namespace
extern constinit const KernelFamily kSoftmaxKernels = kRows;
}  // namespace tare
