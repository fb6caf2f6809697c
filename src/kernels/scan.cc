// Running sums and their kin along an axis.
#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "math/arith.h"
#include "math/vector_math.h"

namespace tare {
namespace {

struct RunningSum {
  template <class T> static T Identity() { return T(0); }
  template <class T> static T Fold(T a, T b) { return math::Add(a, b); }
};
struct RunningProduct {
  template <class T> static T Identity() { return T(1); }
  template <class T> static T Fold(T a, T b) { return math::Mul(a, b); }
};
struct RunningLogSumExp {
  template <class T> static T Identity() { return -std::numeric_limits<T>::infinity(); }
  template <class T> static T Fold(T a, T b) {
    T high = std::max(a, b), low = std::min(a, b);
    // Equal infinities have no difference.
    return low == high && std::isinf(low) ? low : high + math::Log1p(math::Exp(low - high));
  }
};

// Scans dimension n of x seen as [outer, n, inner], a row of `inner` after another.
template <class F, class T>
void ScanOuter(const T* x, T* out, int64_t n, int64_t inner, bool exclusive, bool reverse) {
  using L = internal::LoopType<T>;
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = (reverse ? n - 1 - i : i) * inner;
    int64_t before = reverse ? at + inner : at - inner;
    if (i == 0) {
      if (exclusive) std::fill_n(out + at, inner, T(F::template Identity<L>()));
      else std::copy_n(x + at, inner, out + at);
      continue;
    }
    const T* next = x + (exclusive ? before : at);
    for (int64_t j = 0; j < inner; ++j) out[at + j] = T(F::template Fold<L>(L(out[before + j]), L(next[j])));
  }
}

template <class F, class Ts>
struct Scan {
  explicit Scan(AttrReader& a) : exclusive(a.Bool("exclusive")), reverse(a.Bool("reverse")) {}

  Status Run(KernelCall& c) const {
    const Tensor &x = c.input(0), &axis_tensor = c.input(1);
    if (axis_tensor.rank() != 0) {
      return InvalidArgument("ScanOp: axis must be a scalar, not {}", axis_tensor.shape().ToString());
    }
    int64_t given;
    TARE_ASSIGN_OR_RETURN(auto values, IntValues(axis_tensor, {&given, 1}));
    int64_t axis = values[0] < 0 ? values[0] + x.rank() : values[0];
    if (axis < 0 || axis >= x.rank()) {
      return InvalidArgument("ScanOp: Expected scan axis in the range [{}, {}), but got {}", -x.rank(), x.rank(),
                             axis);
    }
    int d = static_cast<int>(axis);
    int64_t outer = x.shape().product(0, d), n = x.dim(d), inner = x.shape().product(d + 1, x.rank());
    return ForType(Ts{}, x.dtype(), [&]<class T>() -> Status {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), x.shape()));
      const T* from = x.data<T>();
      T* to = out->mutable_data<T>();
      if (x.num_elements() == 0) return OkStatus();
      c.threads().ParallelFor(outer, 2 * n * inner, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          ScanOuter<F>(from + i * n * inner, to + i * n * inner, n, inner, exclusive, reverse);
        }
      });
      return OkStatus();
    });
  }
  bool exclusive, reverse;
};

constexpr KernelRow kRows[] = {
    Op<Scan<RunningProduct, Numbers>>("Cumprod"),
    Op<Scan<RunningSum, Numbers>>("Cumsum"),
    Op<Scan<RunningLogSumExp, Floats>>("CumulativeLogsumexp"),
};

}  // namespace
extern constinit const KernelFamily kScanKernels = kRows;
}  // namespace tare
