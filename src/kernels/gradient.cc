// Gradients of element-wise functions, which models trained in place carry.
#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "math/arith.h"
#include "math/vector_math.h"

namespace tare {
namespace {

using FloatsAndComplexes = Join<Floats, Complexes>;

constexpr double kSeluScale = 1.0507009873554804934;
constexpr double kSeluScaleAlpha = 1.7580993408473768376;

// Of an activation: both operands have one shape.
template <class F, class Ts>
Status ActivationGradient(KernelCall& c) {
  TARE_RETURN_IF_ERROR((internal::AlphaOp<F, Ts, 2>::SameShape(c, 0, 1)));
  DType t = c.input(0).dtype();
  return internal::RunLoop<1, 2>(c, internal::FindLoop<F, void, 2, false>(Ts{}, t), t, c.input(0).shape(), nullptr);
}

// Of a mathematical function, by its result y and the gradient dy: equal counts suffice, y gives the shape.
template <class F>
Status FunctionGradient(KernelCall& c) {
  const Tensor &y = c.input(0), &dy = c.input(1);
  if (y.num_elements() != dy.num_elements()) {
    return InvalidArgument("The two arguments to a cwise op must have same number of elements, got {} and {}",
                           y.num_elements(), dy.num_elements());
  }
  BlockOp::Fn fn = internal::FindLoop<F, void, 2, false>(FloatsAndComplexes{}, y.dtype());
  if (!fn) return Unimplemented("no kernel for dtype {}", DTypeName(y.dtype()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {0, 1}, y.dtype(), y.shape()));
  Tensor same_shape = dy.Reshaped(y.shape());
  const Tensor* in[] = {&y, &same_shape};
  RunBlocks(c.threads(), in, *out, {fn, nullptr, 1, true});
  return OkStatus();
}

template <class Ts, class F>
constexpr KernelRow Activation(std::string_view op, F) {
  return Op<ActivationGradient<F, Ts>>(op);
}
template <class F>
constexpr KernelRow Function(std::string_view op, F) {
  return Op<FunctionGradient<F>>(op);
}

constexpr auto kInverse = [](auto y, auto dy) {
  auto out = math::Conj(y);
  return -dy * (out * out);
};

constexpr KernelRow kRows[] = {
    Activation<Floats>("EluGrad", [](auto dy, auto y) { return y < 0 ? (y + 1) * dy : dy; }),
    Function("InvGrad", kInverse),
    Op<internal::AlphaOp<decltype([](auto dy, auto x, auto alpha) { return x > 0 ? dy : dy * alpha; }), Floats, 2>>(
        "LeakyReluGrad"),
    Function("ReciprocalGrad", kInverse),
    Activation<Reals>("Relu6Grad", [](auto dy, auto x) { return math::Mul(dy, decltype(dy)(x > 0 && x < 6)); }),
    Activation<Reals>("ReluGrad", [](auto dy, auto x) { return math::Mul(dy, decltype(dy)(x > 0)); }),
    Function("RsqrtGrad", [](auto y, auto dy) {
      auto out = math::Conj(y);
      return decltype(y)(-0.5) * dy * (out * out * out);
    }),
    Activation<Floats>("SeluGrad", [](auto dy, auto y) {
      using T = decltype(y);
      return y < 0 ? dy * (y + T(kSeluScaleAlpha)) : dy * T(kSeluScale);
    }),
    Function("SigmoidGrad", [](auto y, auto dy) { return dy * y * (decltype(y)(1) - y); }),
    Activation<Floats>("SoftplusGrad", [](auto dy, auto x) { return dy / (math::Exp(-x) + 1); }),
    Activation<Floats>("SoftsignGrad", [](auto dy, auto x) {
      auto d = 1 + std::abs(x);
      return dy / (d * d);
    }),
    Function("SqrtGrad", [](auto y, auto dy) { return decltype(y)(0.5) * dy / math::Conj(y); }),
    Function("TanhGrad", [](auto y, auto dy) { return dy * (decltype(y)(1) - y * y); }),
};

}  // namespace
extern constinit const KernelFamily kGradientKernels = kRows;
}  // namespace tare
