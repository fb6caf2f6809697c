// Element-wise ops of one operand.
#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "math/arith.h"
#include "math/vector_math.h"

namespace tare {
namespace {

using FloatsAndComplexes = Join<Floats, Complexes>;
using SignedNumbers = Join<Join<Floats, SignedInts>, Complexes>;

// Where elu(x) goes to as x falls, and the slope of selu.
constexpr double kSeluAlpha = 1.6732632423543772848, kSeluScale = 1.0507009873554804934;

// A complex tensor's parts and functions of them: T complex, the result real.
template <class F>
Status ToReal(KernelCall& c) {
  const Tensor& x = c.input(0);
  return ForType(Complexes{}, x.dtype(), [&]<class T>() -> Status {
    using R = typename T::value_type;
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DTypeOf<R>::value, x.shape()));
    const Tensor* in = &x;
    RunBlocks(c.threads(), {&in, 1}, *out, {internal::Loop<F, T, R, 1, false>});
    return OkStatus();
  });
}

template <class F>
constexpr KernelRow ComplexPart(std::string_view op, F) {
  return Op<ToReal<F>>(op);
}

template <class F, class Ts>
constexpr KernelRow WithAlpha(std::string_view op, F) {
  return Op<internal::AlphaOp<F, Ts, 1>>(op);
}

Status PopulationCount(KernelCall& c) {
  const Tensor& x = c.input(0);
  return ForType(Integers{}, x.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kUint8, x.shape()));
    auto in = x.as<T>();
    uint8_t* to = out->mutable_data<uint8_t>();
    for (T v : in) *to++ = static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(v)));
    return OkStatus();
  });
}

// Half to even; integers are round already.
template <class T>
T Round(T x) {
  if constexpr (std::is_integral_v<T>) return x;
  else if constexpr (std::is_floating_point_v<T>) return std::nearbyint(x);
  else return {std::nearbyint(x.real()), std::nearbyint(x.imag())};
}

constexpr KernelRow kRows[] = {
    Unary<Join<Floats, SignedInts>>("Abs", [](auto x) { return math::Abs(x); }),
    Unary<FloatsAndComplexes, 20>("Acos", [](auto x) { return std::acos(x); }),
    Unary<FloatsAndComplexes, 20>("Acosh", [](auto x) { return std::acosh(x); }),
    ComplexPart("Angle", [](auto x) { return std::arg(x); }),
    Unary<FloatsAndComplexes, 20>("Asin", [](auto x) { return std::asin(x); }),
    Unary<FloatsAndComplexes, 20>("Asinh", [](auto x) { return std::asinh(x); }),
    Unary<FloatsAndComplexes, 20>("Atan", [](auto x) { return std::atan(x); }),
    Unary<FloatsAndComplexes, 20>("Atanh", [](auto x) { return std::atanh(x); }),
    Unary<Floats>("Ceil", [](auto x) { return std::ceil(x); }),
    ComplexPart("ComplexAbs", [](auto x) { return std::abs(x); }),
    Unary<Complexes>("Conj", [](auto x) { return std::conj(x); }),
    Unary<FloatsAndComplexes, 10>("Cos", [](auto x) { return std::cos(x); }),
    Unary<FloatsAndComplexes, 20>("Cosh", [](auto x) { return std::cosh(x); }),
    Unary<Floats, 2>("Elu", [](auto x) { return x < 0 ? math::Expm1(x) : x; }),
    Unary<Floats, 2>("Erf", [](auto x) { return math::Erf(x); }),
    Unary<Floats, 4>("Erfc", [](auto x) { return math::Erfc(x); }),
    Unary<FloatsAndComplexes, 2>("Exp", [](auto x) { return math::Exp(x); }),
    Unary<FloatsAndComplexes, 2>("Expm1", [](auto x) { return math::Expm1(x); }),
    Unary<Floats>("Floor", [](auto x) { return std::floor(x); }),
    ComplexPart("Imag", [](auto x) { return x.imag(); }),
    Unary<FloatsAndComplexes>("Inv", [](auto x) { return decltype(x)(1) / x; }),
    Unary<Integers>("Invert", [](auto x) { return ~x; }),
    UnaryTest<Floats>("IsFinite", [](auto x) { return x - x == 0; }),
    UnaryTest<Floats>("IsInf", [](auto x) { return std::abs(x) == std::numeric_limits<decltype(x)>::infinity(); }),
    UnaryTest<Floats>("IsNan", [](auto x) { return x != x; }),
    WithAlpha<decltype([](auto x, auto alpha) { return x > 0 ? x : x * alpha; }), Floats>("LeakyRelu", {}),
    Unary<FloatsAndComplexes, 2>("Log", [](auto x) { return math::Log(x); }),
    Unary<FloatsAndComplexes, 3>("Log1p", [](auto x) { return math::Log1p(x); }),
    Unary<Types<bool>>("LogicalNot", [](auto x) { return !x; }),
    Unary<SignedNumbers>("Neg", [](auto x) { return math::Neg(x); }),
    Op<PopulationCount>("PopulationCount"),
    ComplexPart("Real", [](auto x) { return x.real(); }),
    Unary<FloatsAndComplexes>("Reciprocal", [](auto x) { return decltype(x)(1) / x; }),
    Unary<Reals>("Relu", [](auto x) { return x < 0 ? decltype(x)(0) : x; }),
    Unary<Reals>("Relu6", [](auto x) { return x < 0 ? decltype(x)(0) : x > 6 ? decltype(x)(6) : x; }),
    Unary<Floats>("Rint", [](auto x) { return std::nearbyint(x); }),
    Unary<SignedNumbers>("Round", [](auto x) { return Round(x); }),
    Unary<FloatsAndComplexes>("Rsqrt", [](auto x) { return decltype(x)(1) / std::sqrt(x); }),
    Unary<Floats, 2>("Selu", [](auto x) {
      using T = decltype(x);
      return T(kSeluScale) * (x < 0 ? T(kSeluAlpha) * math::Expm1(x) : x);
    }),
    Unary<FloatsAndComplexes, 2>("Sigmoid", [](auto x) { return math::Sigmoid(x); }),
    Unary<SignedNumbers>("Sign", [](auto x) { return math::Sign(x); }),
    Unary<FloatsAndComplexes, 10>("Sin", [](auto x) { return std::sin(x); }),
    Unary<FloatsAndComplexes, 20>("Sinh", [](auto x) { return std::sinh(x); }),
    Unary<Floats, 4>("Softplus", [](auto x) { return math::Softplus(x); }),
    Unary<Floats>("Softsign", [](auto x) { return x / (1 + std::abs(x)); }),
    Unary<FloatsAndComplexes>("Sqrt", [](auto x) { return std::sqrt(x); }),
    Unary<Numbers>("Square", [](auto x) { return math::Square(x); }),
    Unary<FloatsAndComplexes, 20>("Tan", [](auto x) { return std::tan(x); }),
    Unary<FloatsAndComplexes, 2>("Tanh", [](auto x) { return math::Tanh(x); }),
};

}  // namespace
extern constinit const KernelFamily kUnaryKernels = kRows;
}  // namespace tare
