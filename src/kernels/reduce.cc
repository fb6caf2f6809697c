// Reductions over any set of axes.
//
// Neighbouring axes that are all kept or all reduced are merged, so that an input is at most a few alternating
// dimensions. It is then read once, in memory order: a run along a reduced innermost dimension folds into one
// accumulator, a run along a kept one folds element by element into a row of them.
#include <algorithm>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "math/arith.h"
#include "math/small_float.h"

namespace tare {
namespace {

// What a reduction does for an element type T: Acc is what it sums up in, Lane what a short run may use.
template <class T>
struct WiderOf {
  using type = T;
};
template <>
struct WiderOf<float> {
  using type = double;
};
// Means of integers do not wrap on the way.
template <class T>
using MeanAcc = std::conditional_t<!std::is_integral_v<T>, typename WiderOf<T>::type,
                                   std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

struct Sum {
  template <class T> using Acc = typename WiderOf<T>::type;
  template <class A> static A Identity() { return A(0); }
  template <class A, class T> static A Map(T x) { return static_cast<A>(x); }
  template <class A> static A Fold(A a, A b) { return math::Add(a, b); }
  template <class T, class A> static T Finish(A a, int64_t) { return static_cast<T>(a); }
};
struct Mean : Sum {
  template <class T> using Acc = MeanAcc<T>;
  template <class T, class A> static T Finish(A a, int64_t count) {
    if constexpr (std::is_integral_v<A>) return count ? static_cast<T>(a / static_cast<A>(count)) : T(0);
    else return static_cast<T>(a / A(static_cast<double>(count)));
  }
};
struct Prod : Sum {
  template <class T> using Acc = T;
  template <class A> static A Identity() { return A(1); }
  template <class A> static A Fold(A a, A b) { return math::Mul(a, b); }
};
struct Max : Sum {
  template <class T> using Acc = T;
  template <class A> static A Identity() {
    return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::lowest();
  }
  template <class A> static A Fold(A a, A b) { return math::Maximum(a, b); }
};
struct Min : Sum {
  template <class T> using Acc = T;
  template <class A> static A Identity() {
    return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
  }
  template <class A> static A Fold(A a, A b) { return math::Minimum(a, b); }
};
struct All : Prod {
  template <class A> static A Identity() { return true; }
  template <class A> static A Fold(A a, A b) { return a & b; }
};
struct Any : Prod {
  template <class A> static A Identity() { return false; }
  template <class A> static A Fold(A a, A b) { return a | b; }
};
struct SquaredNorm : Sum {
  template <class A, class T> static A Map(T x) { return math::Mul(static_cast<A>(math::Conj(x)), static_cast<A>(x)); }
};
struct EuclideanNorm : SquaredNorm {
  template <class T, class A> static T Finish(A a, int64_t) {
    if constexpr (std::is_integral_v<A>) return a > 0 ? static_cast<T>(std::sqrt(static_cast<double>(a))) : T(0);
    else return static_cast<T>(std::sqrt(a));
  }
};
struct L2Loss : SquaredNorm {
  template <class T, class A> static T Finish(A a, int64_t) { return static_cast<T>(a / A(2)); }
};

// A reduction's loops for one dtype, type-erased.
struct Loops {
  size_t acc_size = 0;
  void (*init)(void* acc, int64_t n) = nullptr;
  void (*run)(const void* x, int64_t n, void* acc) = nullptr;    // n elements into one accumulator
  void (*row)(const void* x, int64_t n, void* acc) = nullptr;    // n elements into n accumulators
  void (*merge)(const void* from, int64_t n, void* acc) = nullptr;
  void (*finish)(const void* acc, int64_t n, int64_t count, void* out) = nullptr;
  DType widen = DType::kInvalid;  // the dtype that run and row get as float
};

constexpr int kLanes = 16;
// Elements whose sum a lane may hold before it goes to the accumulator.
constexpr int64_t kLaneRun = 1024;

template <class R, class T>
struct LoopsOf {
  using A = typename R::template Acc<T>;
  using Lane = std::conditional_t<std::is_same_v<T, float>, float, A>;

  static void Init(void* acc, int64_t n) { std::fill_n(static_cast<A*>(acc), n, R::template Identity<A>()); }

  static void Run(const void* from, int64_t n, void* acc) {
    const T* x = static_cast<const T*>(from);
    A total = *static_cast<A*>(acc);
    for (; n >= kLanes; ) {
      int64_t m = std::min(n, kLaneRun) / kLanes * kLanes;
      Lane lanes[kLanes];
      std::fill_n(lanes, kLanes, R::template Identity<Lane>());
      for (int64_t i = 0; i < m; i += kLanes) {
        for (int j = 0; j < kLanes; ++j) lanes[j] = R::Fold(lanes[j], R::template Map<Lane>(x[i + j]));
      }
      for (int width = kLanes / 2; width; width /= 2) {
        for (int j = 0; j < width; ++j) lanes[j] = R::Fold(lanes[j], lanes[j + width]);
      }
      total = R::Fold(total, static_cast<A>(lanes[0]));
      x += m;
      n -= m;
    }
    for (int64_t i = 0; i < n; ++i) total = R::Fold(total, R::template Map<A>(x[i]));
    *static_cast<A*>(acc) = total;
  }

  static void Row(const void* from, int64_t n, void* acc) {
    const T* x = static_cast<const T*>(from);
    A* a = static_cast<A*>(acc);
    for (int64_t i = 0; i < n; ++i) a[i] = R::Fold(a[i], R::template Map<A>(x[i]));
  }

  [[gnu::target("avx2,fma"), gnu::flatten]] static void RunAvx2(const void* from, int64_t n, void* acc) {
    Run(from, n, acc);
  }
  [[gnu::target("avx2,fma"), gnu::flatten]] static void RowAvx2(const void* from, int64_t n, void* acc) {
    Row(from, n, acc);
  }

  static void Merge(const void* from, int64_t n, void* acc) {
    for (int64_t i = 0; i < n; ++i) {
      A& a = static_cast<A*>(acc)[i];
      a = R::Fold(a, static_cast<const A*>(from)[i]);
    }
  }

  // Out is T, or the small float that T stands for.
  template <class Out>
  static void Finish(const void* acc, int64_t n, int64_t count, void* out) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<Out*>(out)[i] = Out(R::template Finish<T>(static_cast<const A*>(acc)[i], count));
    }
  }

  template <class Out>
  static Loops Make() {
    DType widen = std::is_same_v<Out, T> ? DType::kInvalid : DTypeOf<Out>::value;
    Loops loops{sizeof(A), Init, Run, Row, Merge, Finish<Out>, widen};
    if constexpr (std::is_same_v<T, float>) {
      if (internal::LoopIsa() >= math::Isa::kAvx2) loops.run = RunAvx2, loops.row = RowAvx2;
    }
    return loops;
  }
};

template <class R, class... Ts>
Loops FindLoops(Types<Ts...>, DType t) {
  Loops loops;
  ((t == DTypeOf<Ts>::value && (loops = LoopsOf<R, internal::LoopType<Ts>>::template Make<Ts>(), true)) || ...);
  return loops;
}

// The merged dimensions, outermost first, with the strides of the input and of the kept part.
struct ReducePlan {
  int rank = 0;
  std::array<int64_t, kMaxRank> dims;
  std::array<bool, kMaxRank> reduced;
  std::array<int64_t, kMaxRank> in_strides, out_strides;
  int64_t count = 1;  // elements that make one result
  int64_t kept = 1;   // results

  ReducePlan(const Shape& shape, const std::array<bool, kMaxRank>& reduce) {
    for (int d = 0; d < shape.rank(); ++d) {
      (reduce[d] ? count : kept) *= shape[d];
      if (shape[d] == 1) continue;
      if (rank && reduced[rank - 1] == reduce[d]) {
        dims[rank - 1] *= shape[d];
      } else {
        dims[rank] = shape[d];
        reduced[rank++] = reduce[d];
      }
    }
    if (rank == 0) {
      dims[0] = 1;
      reduced[rank++] = false;
    }
    int64_t in = 1, out = 1;
    for (int d = rank - 1; d >= 0; --d) {
      in_strides[d] = in;
      out_strides[d] = reduced[d] ? 0 : out;
      in *= dims[d];
      if (!reduced[d]) out *= dims[d];
    }
  }
};

class Reduction {
 public:
  Reduction(const Loops& loops, const ReducePlan& plan, const Tensor& x)
      : loops_(loops), plan_(plan), x_(static_cast<const std::byte*>(x.raw())), size_(DTypeSize(x.dtype())) {}

  // Folds the part of the input where dimension `split` lies in [begin, end).
  void Fold(int split, int64_t begin, int64_t end, std::byte* acc) const {
    FoldFrom(0, x_, acc, {split, begin, end});
  }

 private:
  struct Part {
    int split;
    int64_t begin, end;
  };

  void FoldFrom(int d, const std::byte* x, std::byte* acc, const Part& part) const {
    int64_t begin = d == part.split ? part.begin : 0, end = d == part.split ? part.end : plan_.dims[d];
    x += begin * plan_.in_strides[d] * size_;
    acc += begin * plan_.out_strides[d] * static_cast<int64_t>(loops_.acc_size);
    if (d == plan_.rank - 1) return FoldRun(x, end - begin, acc, plan_.reduced[d]);
    for (int64_t i = begin; i < end; ++i) {
      FoldFrom(d + 1, x, acc, part);
      x += plan_.in_strides[d] * size_;
      acc += plan_.out_strides[d] * static_cast<int64_t>(loops_.acc_size);
    }
  }

  void FoldRun(const std::byte* x, int64_t n, std::byte* acc, bool reduced) const {
    auto fold = reduced ? loops_.run : loops_.row;
    if (loops_.widen == DType::kInvalid) return fold(x, n, acc);
    constexpr int64_t kBlock = 512;
    float wide[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      int64_t m = std::min(kBlock, n - i);
      if (loops_.widen == DType::kHalf) math::Widen(reinterpret_cast<const Half*>(x) + i, wide, m);
      else math::Widen(reinterpret_cast<const BFloat16*>(x) + i, wide, m);
      fold(wide, m, acc);
      if (!reduced) acc += m * static_cast<int64_t>(loops_.acc_size);
    }
  }

  const Loops& loops_;
  const ReducePlan& plan_;
  const std::byte* x_;
  int64_t size_;
};

// Leading pieces that are summed apart and then joined: as many whatever the threads, so that results do not
// depend on them.
constexpr int64_t kPieces = 16;
constexpr int64_t kSerial = 32768;

Status Reduce(KernelCall& c, const Loops& loops, const ReducePlan& plan, const Tensor& x, void* out) {
  if (plan.kept == 0) return OkStatus();
  Reduction reduction(loops, plan, x);
  bool parallel = x.num_elements() > kSerial;
  // Too few results to share out: share the input's leading dimension.
  bool in_pieces = parallel && plan.reduced[0] && plan.kept < 1024;
  int64_t pieces = in_pieces ? std::min(kPieces, plan.dims[0]) : 1;
  int64_t acc_bytes = plan.kept * static_cast<int64_t>(loops.acc_size);
  alignas(16) std::byte small[512];
  Tensor large;
  std::byte* acc = small;
  if (pieces * acc_bytes > static_cast<int64_t>(sizeof small)) {
    TARE_ASSIGN_OR_RETURN(Shape space, Shape::Make(std::array{pieces, acc_bytes}));
    TARE_ASSIGN_OR_RETURN(large, c.Temp(DType::kUint8, space));
    acc = static_cast<std::byte*>(large.mutable_raw());
  }
  loops.init(acc, plan.kept * pieces);
  if (in_pieces) {
    int64_t n = plan.dims[0];
    c.threads().ParallelFor(pieces, x.num_elements() / pieces, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        reduction.Fold(0, n * p / pieces, n * (p + 1) / pieces, acc + p * acc_bytes);
      }
    });
    for (int64_t p = 1; p < pieces; ++p) loops.merge(acc + p * acc_bytes, plan.kept, acc);
  } else if (parallel) {
    int split = plan.reduced[0] ? 1 : 0;
    c.threads().ParallelFor(plan.dims[split], x.num_elements() / plan.dims[split],
                            [&](int64_t begin, int64_t end) { reduction.Fold(split, begin, end, acc); });
  } else if (x.num_elements() > 0) {
    reduction.Fold(0, 0, plan.dims[0], acc);
  }
  loops.finish(acc, plan.kept, plan.count, out);
  return OkStatus();
}

Result<std::array<bool, kMaxRank>> ReducedAxes(const Tensor& x, const Tensor& axes) {
  std::array<bool, kMaxRank> reduce{};
  std::vector<int64_t> space(axes.num_elements());
  TARE_ASSIGN_OR_RETURN(auto values, IntValues(axes, space));
  for (int64_t axis : values) {
    if (axis < -x.rank() || axis >= x.rank()) {
      return InvalidArgument("Invalid reduction dimension ({} for input with {} dimension(s)", axis, x.rank());
    }
    int d = static_cast<int>(axis < 0 ? axis + x.rank() : axis);
    if (reduce[d]) {
      return InvalidArgument("Invalid reduction arguments: Axes contains duplicate dimension: {}", d);
    }
    reduce[d] = true;
  }
  return reduce;
}

template <class R, class Ts>
struct ReduceOp {
  explicit ReduceOp(AttrReader& a) : keep_dims(a.Bool("keep_dims")) {}

  Status Run(KernelCall& c) const {
    const Tensor& x = c.input(0);
    TARE_ASSIGN_OR_RETURN(auto reduce, ReducedAxes(x, c.input(1)));
    Shape shape;
    for (int d = 0; d < x.rank(); ++d) {
      if (!reduce[d]) shape.Append(x.dim(d));
      else if (keep_dims) shape.Append(1);
    }
    Loops loops = FindLoops<R>(Ts{}, x.dtype());
    if (!loops.run) return Unimplemented("{}: no kernel for dtype {}", c.node(), DTypeName(x.dtype()));
    // Small dimensions beside a zero may still multiply beyond what can be allocated.
    TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
    ReducePlan plan(x.shape(), reduce);
    if (plan.count == 1 && !std::is_same_v<R, EuclideanNorm>) {
      c.SetOutput(0, c.TakeInput(0).Reshaped(shape));
      return OkStatus();
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), shape));
    return Reduce(c, loops, plan, x, out->mutable_raw());
  }
  bool keep_dims;
};

Status RunL2Loss(KernelCall& c) {
  const Tensor& x = c.input(0);
  Loops loops = FindLoops<L2Loss>(Floats{}, x.dtype());
  std::array<bool, kMaxRank> all;
  all.fill(true);
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), Shape()));
  return Reduce(c, loops, ReducePlan(x.shape(), all), x, out->mutable_raw());
}

// The sum over all but the channels.
struct BiasAddGrad {
  explicit BiasAddGrad(AttrReader& a) : channels_first(a.String("data_format") == "NCHW") {}

  Status Run(KernelCall& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() < 2) return InvalidArgument("Input tensor must be at least 2D: {}", x.shape().ToString());
    int channel = channels_first ? 1 : x.rank() - 1;
    std::array<bool, kMaxRank> reduce;
    reduce.fill(true);
    reduce[channel] = false;
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), Shape{x.dim(channel)}));
    Loops loops = FindLoops<Sum>(Numbers{}, x.dtype());
    if (!loops.run) return Unimplemented("BiasAddGrad: no kernel for dtype {}", DTypeName(x.dtype()));
    return Reduce(c, loops, ReducePlan(x.shape(), reduce), x, out->mutable_raw());
  }
  bool channels_first;
};

constexpr KernelRow kRows[] = {
    Op<ReduceOp<All, Types<bool>>>("All"),
    Op<ReduceOp<Any, Types<bool>>>("Any"),
    Op<BiasAddGrad>("BiasAddGrad"),
    Op<ReduceOp<EuclideanNorm, Numbers>>("EuclideanNorm"),
    Op<RunL2Loss>("L2Loss"),
    Op<ReduceOp<Max, Reals>>("Max"),
    Op<ReduceOp<Mean, Numbers>>("Mean"),
    Op<ReduceOp<Min, Reals>>("Min"),
    Op<ReduceOp<Prod, Numbers>>("Prod"),
    Op<ReduceOp<Sum, Numbers>>("Sum"),
};

}  // namespace
extern constinit const KernelFamily kReduceKernels = kRows;
}  // namespace tare
