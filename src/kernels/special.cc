// Special functions, element by element.
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "math/special.h"

namespace tare {
namespace {

using Wide = Types<float, double>;

// All of one shape, except that scalars go with any.
Status Betainc(KernelCall& c) {
  Shape shape;
  for (int i = 0; i < 3; ++i) {
    const Shape& own = c.input(i).shape();
    if (own.rank() == 0) continue;
    if (shape.rank() != 0 && own != shape) {
      return InvalidArgument("Shapes of a, b and x are inconsistent: {} vs. {}", shape.ToString(), own.ToString());
    }
    shape = own;
  }
  using F = decltype([](auto a, auto b, auto x) { return math::Betainc(a, b, x); });
  DType t = c.input(0).dtype();
  return internal::RunLoop<200, 3>(c, internal::FindLoop<F, void, 3, false>(Wide{}, t), t, shape, nullptr);
}

constexpr KernelRow kRows[] = {
    Unary<Floats, 60>("BesselI0", [](auto x) { return math::BesselI(0, x); }),
    Unary<Floats, 60>("BesselI0e", [](auto x) { return math::BesselIScaled(0, x); }),
    Unary<Floats, 60>("BesselI1", [](auto x) { return math::BesselI(1, x); }),
    Unary<Floats, 60>("BesselI1e", [](auto x) { return math::BesselIScaled(1, x); }),
    Unary<Floats, 60>("BesselJ0", [](auto x) { return ::j0(x); }),
    Unary<Floats, 60>("BesselJ1", [](auto x) { return ::j1(x); }),
    Unary<Floats, 200>("BesselK0", [](auto x) { return math::BesselK(0, x); }),
    Unary<Floats, 200>("BesselK0e", [](auto x) { return math::BesselKScaled(0, x); }),
    Unary<Floats, 200>("BesselK1", [](auto x) { return math::BesselK(1, x); }),
    Unary<Floats, 200>("BesselK1e", [](auto x) { return math::BesselKScaled(1, x); }),
    Unary<Floats, 60>("BesselY0", [](auto x) { return ::y0(x); }),
    Unary<Floats, 60>("BesselY1", [](auto x) { return ::y1(x); }),
    Op<Betainc>("Betainc"),
    Unary<Floats, 200>("Dawsn", [](auto x) { return math::Dawson(x); }),
    Unary<Floats, 60>("Digamma", [](auto x) { return math::Digamma(x); }),
    Unary<Floats, 100>("Erfinv", [](auto x) { return math::Erfinv(x); }),
    Unary<Floats, 60>("Expint", [](auto x) { return math::ExpIntegral(x); }),
    Unary<Floats, 100>("FresnelCos", [](auto x) { return math::FresnelCos(x); }),
    Unary<Floats, 100>("FresnelSin", [](auto x) { return math::FresnelSin(x); }),
    Binary<Floats, 100>("Igamma", [](auto a, auto x) { return math::Igamma(a, x); }),
    Binary<Floats, 100>("Igammac", [](auto a, auto x) { return math::Igammac(a, x); }),
    Unary<Floats, 30>("Lgamma", [](auto x) { return math::Lgamma(x); }),
    Unary<Floats, 100>("Ndtri", [](auto p) { return math::Ndtri(p); }),
    Binary<Wide, 200>("Polygamma", [](auto n, auto x) { return math::Polygamma(n, x); }),
    Unary<Floats, 60>("Spence", [](auto x) { return math::Spence(x); }),
    Binary<Wide, 200>("Zeta", [](auto x, auto q) { return math::Zeta(x, q); }),
};

}  // namespace
extern constinit const KernelFamily kSpecialKernels = kRows;
}  // namespace tare
