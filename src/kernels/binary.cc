// Element-wise arithmetic of two operands, broadcast against each other.
#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "math/arith.h"
#include "math/vector_math.h"

namespace tare {
namespace {

using FloatsAndComplexes = Join<Floats, Complexes>;
using FloatsAndSigned = Join<Floats, SignedInts>;

template <class F, class Ts>
constexpr auto kRunBinary = internal::RunBinary<F, Ts, void, 1>;

template <class... Ts>
constexpr bool Contains(Types<Ts...>, DType t) {
  return ((t == DTypeOf<Ts>::value) || ...);
}

template <class P>
bool AnyInteger(const Tensor& t, P predicate) {
  bool any = false;
  (void)ForType(Integers{}, t.dtype(), [&]<class T>() {
    any = std::ranges::any_of(t.as<T>(), predicate);
    return OkStatus();
  });
  return any;
}

// An integer operation that some divisors (or exponents) make impossible: those where `refuse` holds.
template <class F, class Ts, class Refuse>
Status RunChecked(KernelCall& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  if (Contains(Integers{}, x.dtype()) && x.num_elements() > 0 && AnyInteger(y, [](auto v) { return Refuse::Holds(v); })) {
    // Only where an element is computed; incompatible shapes come first.
    TARE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(x.shape(), y.shape()));
    if (shape.num_elements() > 0) return Refuse::Error();
  }
  return kRunBinary<F, Ts>(c);
}

struct ZeroDivisor {
  static bool Holds(auto v) { return v == 0; }
  static Status Error() { return InvalidArgument("Integer division by zero"); }
};
// TruncateDiv's and TruncateMod's own way of saying so.
struct ZeroTruncateDivisor : ZeroDivisor {
  static Status Error() {
    return Internal("Unexpected error in binary operator (only integer div and mod should have errors)");
  }
};
struct NegativeExponent {
  static bool Holds(auto v) { return v < 0; }
  static Status Error() { return InvalidArgument("Integers to negative integer powers are not allowed"); }
};

template <class Refuse, class Ts, class F>
constexpr KernelRow Checked(std::string_view op, F) {
  return Op<RunChecked<F, Ts, Refuse>>(op);
}

Status JoinStrings(KernelCall& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  TARE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(x.shape(), y.shape()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kString, shape));
  auto a = x.as<StringCell>(), b = y.as<StringCell>();
  auto to = out->mut<StringCell>();
  std::string joined;
  ForEachBroadcast(x.shape(), y.shape(), shape, [&](int64_t i, int64_t ia, int64_t ib) {
    joined.assign(a[ia].view());
    joined.append(b[ib].view());
    to[i].Assign(joined);
  });
  return OkStatus();
}

constexpr auto kAdd = [](auto x, auto y) { return math::Add(x, y); };

Status AddOrJoin(KernelCall& c) {
  if (c.input(0).dtype() == DType::kString) return JoinStrings(c);
  return kRunBinary<decltype(kAdd), Numbers>(c);
}

Status MakeComplex(KernelCall& c) {
  const Tensor &re = c.input(0), &im = c.input(1);
  return ForType(Types<float, double>{}, re.dtype(), [&]<class T>() -> Status {
    using C = std::complex<T>;
    TARE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(re.shape(), im.shape()));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DTypeOf<C>::value, shape));
    using Join = decltype([](T x, T y) { return C(x, y); });
    const Tensor* in[] = {&re, &im};
    RunBlocks(c.threads(), in, *out, {internal::Loop<Join, T, C, 2, false>});
    return OkStatus();
  });
}


constexpr KernelRow kRows[] = {
    Op<AddOrJoin>("Add"),
    Binary<Numbers>("AddV2", kAdd),
    Binary<Floats, 20>("Atan2", [](auto y, auto x) { return std::atan2(y, x); }),
    Binary<Integers>("BitwiseAnd", [](auto x, auto y) { return x & y; }),
    Binary<Integers>("BitwiseOr", [](auto x, auto y) { return x | y; }),
    Binary<Integers>("BitwiseXor", [](auto x, auto y) { return x ^ y; }),
    Op<MakeComplex>("Complex"),
    Checked<ZeroDivisor, Numbers>("Div", [](auto x, auto y) {
      if constexpr (std::is_integral_v<decltype(x)>) return math::TruncateDiv(x, y);
      else return x / y;
    }),
    Binary<FloatsAndComplexes>("DivNoNan", [](auto x, auto y) { return y == decltype(y)(0) ? y : x / y; }),
    Checked<ZeroDivisor, Reals>("FloorDiv", [](auto x, auto y) { return math::FloorDiv(x, y); }),
    Checked<ZeroDivisor, Reals>("FloorMod", [](auto x, auto y) { return math::FloorMod(x, y); }),
    Binary<Integers>("LeftShift", [](auto x, auto y) { return math::LeftShift(x, y); }),
    Binary<Reals>("Maximum", [](auto x, auto y) { return math::Maximum(x, y); }),
    Binary<Reals>("Minimum", [](auto x, auto y) { return math::Minimum(x, y); }),
    Checked<ZeroDivisor, FloatsAndSigned>("Mod", [](auto x, auto y) { return math::TruncateMod(x, y); }),
    Binary<Numbers>("Mul", [](auto x, auto y) { return math::Mul(x, y); }),
    Binary<FloatsAndComplexes>("MulNoNan", [](auto x, auto y) { return y == decltype(y)(0) ? y : x * y; }),
    Binary<Types<float, double>, 5>("NextAfter", [](auto x, auto y) { return std::nextafter(x, y); }),
    Checked<NegativeExponent, Join<FloatsAndSigned, Complexes>>(
        "Pow", [](auto x, auto y) { return math::Pow(x, y); }),
    Binary<FloatsAndComplexes>("RealDiv", [](auto x, auto y) { return x / y; }),
    Binary<Integers>("RightShift", [](auto x, auto y) { return math::RightShift(x, y); }),
    Binary<Join<FloatsAndSigned, Complexes>>("SquaredDifference", [](auto x, auto y) {
      auto d = math::Sub(x, y);
      return math::Mul(math::Conj(d), d);
    }),
    Binary<Numbers>("Sub", [](auto x, auto y) { return math::Sub(x, y); }),
    Checked<ZeroTruncateDivisor, Reals>("TruncateDiv", [](auto x, auto y) { return math::TruncateDiv(x, y); }),
    Checked<ZeroTruncateDivisor, FloatsAndSigned>("TruncateMod", [](auto x, auto y) { return math::TruncateMod(x, y); }),
    Binary<FloatsAndComplexes>("Xdivy", [](auto x, auto y) { return x == decltype(x)(0) ? x : x / y; }),
    Binary<FloatsAndComplexes, 3>(
        "Xlog1py", [](auto x, auto y) { return x == decltype(x)(0) ? x : x * math::Log1p(y); }),
    Binary<FloatsAndComplexes, 3>(
        "Xlogy", [](auto x, auto y) { return x == decltype(x)(0) ? x : x * math::Log(y); }),
};

}  // namespace
extern constinit const KernelFamily kBinaryKernels = kRows;
}  // namespace tare
