// Rows for element-wise ops: one line each.
//
//   Unary<Floats>("Floor", [](auto x) { return std::floor(x); })
//   Binary<Reals>("Maximum", [](auto x, auto y) { return math::Maximum(x, y); })
//
// The list says which dtypes the op takes. The function gets a C++ number and gives one; half and bfloat16
// come as float. The number after the list, where there is one, is the cost in nanoseconds an element.
// UnaryTest and BinaryTest rows give bool. math/arith.h has integer arithmetic that wraps, as it must here.
#pragma once
#include "kernels/broadcast.h"
#include "math/isa.h"

// The processor features of a function compiled for the 512-bit instruction set that math::DetectIsa() means.
#define TARE_AVX512_TARGET "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512"

namespace tare {

namespace internal {

// The type a loop computes in.
template <class T>
struct LoopTypeOf {
  using type = T;
};
template <>
struct LoopTypeOf<Half> {
  using type = float;
};
template <>
struct LoopTypeOf<BFloat16> {
  using type = float;
};
template <class T>
using LoopType = typename LoopTypeOf<T>::type;

inline math::Isa LoopIsa() {
  static const math::Isa isa = math::DetectIsa();
  return isa;
}
// Costs, in nanoseconds an element, of loops that the compiler vectorises and that compute longer than they wait
// for memory: these get 512-bit code too.
constexpr bool IsLongLoop(int cost) { return cost > 1 && cost < 10; }

// Applies F to N operands of type T, giving R. The output may be one of the operands: each element depends
// only on its own index.
template <class F, class T, class R, int N, bool kParam>
[[gnu::always_inline]] inline void Apply(const void* const* in, void* out, int64_t n, const void* param) {
  auto operand = [in](int k) { return static_cast<const T*>(in[k < N ? k : 0]); };
  const T *x = operand(0), *y = operand(1), *w = operand(2);
  R* z = static_cast<R*>(out);
  const T a = kParam ? static_cast<T>(*static_cast<const float*>(param)) : T();
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kParam && N == 1) z[i] = static_cast<R>(F{}(x[i], a));
    else if constexpr (kParam) z[i] = static_cast<R>(F{}(x[i], y[i], a));
    else if constexpr (N == 1) z[i] = static_cast<R>(F{}(x[i]));
    else if constexpr (N == 2) z[i] = static_cast<R>(F{}(x[i], y[i]));
    else z[i] = static_cast<R>(F{}(x[i], y[i], w[i]));
  }
}
template <class F, class T, class R, int N, bool kParam>
void Loop(const void* const* in, void* out, int64_t n, const void* param) {
  Apply<F, T, R, N, kParam>(in, out, n, param);
}
template <class F, class T, class R, int N, bool kParam>
[[gnu::target("avx2,fma"), gnu::flatten]] void LoopAvx2(const void* const* in, void* out, int64_t n,
                                                        const void* param) {
  Apply<F, T, R, N, kParam>(in, out, n, param);
}
template <class F, class T, class R, int N, bool kParam>
[[gnu::target(TARE_AVX512_TARGET), gnu::flatten]] void LoopAvx512(const void* const* in, void* out, int64_t n,
                                                                  const void* param) {
  Apply<F, T, R, N, kParam>(in, out, n, param);
}

// The loop of F for a dtype among Ts. R void: the result has the operands' type.
template <class F, class R, int N, bool kParam, bool kLong = false, class... Ts>
BlockOp::Fn FindLoop(Types<Ts...>, DType t) {
  BlockOp::Fn fn = nullptr;
  auto pick = [&]<class T>() {
    using Result = std::conditional_t<std::is_void_v<R>, T, R>;
    fn = Loop<F, T, Result, N, kParam>;
    if constexpr (std::is_same_v<T, float>) {
      if (LoopIsa() >= math::Isa::kAvx2) fn = LoopAvx2<F, T, Result, N, kParam>;
      if constexpr (kLong) {
        if (LoopIsa() == math::Isa::kAvx512) fn = LoopAvx512<F, T, Result, N, kParam>;
      }
    }
  };
  ((t == DTypeOf<Ts>::value && (pick.template operator()<LoopType<Ts>>(), true)) || ...);
  return fn;
}

template <int kCost, int N>
Status RunLoop(KernelCall& c, BlockOp::Fn fn, DType out_type, const Shape& shape, const float* param) {
  const Tensor* operands[N];
  for (int k = 0; k < N; ++k) operands[k] = &c.input(k);
  if (!fn) return Unimplemented("{}: no kernel for dtype {}", c.node(), DTypeName(operands[0]->dtype()));
  Tensor* out;
  if constexpr (N == 1) {
    TARE_ASSIGN_OR_RETURN(out, c.OutputOver(0, {0}, out_type, shape));
  } else {
    TARE_ASSIGN_OR_RETURN(out, c.OutputOver(0, {0, 1}, out_type, shape));
  }
  RunBlocks(c.threads(), operands, *out, {fn, param, kCost, true});
  return OkStatus();
}

template <class R>
DType OutType(DType in) {
  if constexpr (std::is_void_v<R>) return in;
  else return DTypeOf<R>::value;
}

template <class F, class Ts, class R, int kCost>
Status RunUnary(KernelCall& c) {
  const Tensor& x = c.input(0);
  return RunLoop<kCost, 1>(c, FindLoop<F, R, 1, false, IsLongLoop(kCost)>(Ts{}, x.dtype()), OutType<R>(x.dtype()), x.shape(), nullptr);
}

template <class F, class Ts, class R, int kCost>
Status RunBinary(KernelCall& c) {
  DType t = c.input(0).dtype();
  TARE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(c.input(0).shape(), c.input(1).shape()));
  return RunLoop<kCost, 2>(c, FindLoop<F, R, 2, false, IsLongLoop(kCost)>(Ts{}, t), OutType<R>(t), shape, nullptr);
}

// Kernels with an attribute "alpha", the function's last argument.
template <class F, class Ts, int N>
struct AlphaOp {
  explicit AlphaOp(AttrReader& a) : alpha(a.Float("alpha")) {}
  Status Run(KernelCall& c) const {
    const Tensor& x = c.input(0);
    if (N == 2) TARE_RETURN_IF_ERROR(SameShape(c, 0, 1));
    return RunLoop<1, N>(c, FindLoop<F, void, N, true>(Ts{}, x.dtype()), x.dtype(), x.shape(), &alpha);
  }
  static Status SameShape(KernelCall& c, int i, int j) {
    const Shape &a = c.input(i).shape(), &b = c.input(j).shape();
    if (a == b) return OkStatus();
    return InvalidArgument("Inputs to operation {} of type {} must have the same size and shape.  "
                           "Input {}: {} != input {}: {}",
                           c.node(), c.node(), i, a.ToString(), j, b.ToString());
  }
  float alpha;
};

}  // namespace internal

template <class Ts, int kCost = 1, class F>
constexpr KernelRow Unary(std::string_view op, F) {
  return Op<internal::RunUnary<F, Ts, void, kCost>>(op);
}
template <class Ts, class F>
constexpr KernelRow UnaryTest(std::string_view op, F) {
  return Op<internal::RunUnary<F, Ts, bool, 1>>(op);
}
template <class Ts, int kCost = 1, class F>
constexpr KernelRow Binary(std::string_view op, F) {
  return Op<internal::RunBinary<F, Ts, void, kCost>>(op);
}
template <class Ts, class F>
constexpr KernelRow BinaryTest(std::string_view op, F) {
  return Op<internal::RunBinary<F, Ts, bool, 1>>(op);
}

}  // namespace tare
