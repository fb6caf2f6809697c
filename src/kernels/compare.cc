// Comparisons and logic of two operands, broadcast against each other.
#include "kernels/elementwise.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// Equal and NotEqual: any dtype whose elements have a value.
template <bool kEqual>
struct Equality {
  explicit Equality(AttrReader& a) : shapes_must_match(a.Bool("incompatible_shape_error")) {}

  Status Run(KernelCall& c) const {
    const Tensor &x = c.input(0), &y = c.input(1);
    Result<Shape> shape = BroadcastShape(x.shape(), y.shape());
    if (!shape.ok()) {
      if (shapes_must_match) return std::move(shape).status();
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kBool, Shape()));
      out->mutable_data<bool>()[0] = !kEqual;
      return OkStatus();
    }
    if (x.dtype() == DType::kString) return CompareStrings(c, *shape);
    using F = decltype([](auto a, auto b) { return (a == b) == kEqual; });
    auto fn = internal::FindLoop<F, bool, 2, false>(Join<Numbers, Types<bool>>{}, Plain(x.dtype()));
    return internal::RunLoop<1, 2>(c, fn, DType::kBool, *shape, nullptr);
  }

  static Status CompareStrings(KernelCall& c, const Shape& shape) {
    const Tensor &x = c.input(0), &y = c.input(1);
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kBool, shape));
    auto a = x.as<StringCell>(), b = y.as<StringCell>();
    bool* to = out->mutable_data<bool>();
    ForEachBroadcast(x.shape(), y.shape(), shape, [&](int64_t i, int64_t ia, int64_t ib) {
      to[i] = (a[ia].view() == b[ib].view()) == kEqual;
    });
    return OkStatus();
  }

  // The plain integer that a quantised type is stored as.
  static DType Plain(DType t) {
    switch (t) {
      case DType::kQint8: return DType::kInt8;
      case DType::kQuint8: return DType::kUint8;
      case DType::kQint16: return DType::kInt16;
      case DType::kQuint16: return DType::kUint16;
      case DType::kQint32: return DType::kInt32;
      default: return t;
    }
  }

  bool shapes_must_match;
};

struct ApproximateEqual {
  explicit ApproximateEqual(AttrReader& a) : tolerance(a.Float("tolerance")) {}
  Status Run(KernelCall& c) const {
    const Tensor &x = c.input(0), &y = c.input(1);
    if (x.shape() != y.shape()) {
      return InvalidArgument("x and y must be of the same shape. x shape: {}. y shape: {}", x.shape().ToString(),
                             y.shape().ToString());
    }
    using F = decltype([](auto a, auto b, auto most) { return std::abs(a - b) < most; });
    auto fn = internal::FindLoop<F, bool, 2, true>(Types<float, double>{}, x.dtype());
    return internal::RunLoop<1, 2>(c, fn, DType::kBool, x.shape(), &tolerance);
  }
  float tolerance;
};

constexpr KernelRow kRows[] = {
    Op<ApproximateEqual>("ApproximateEqual"),
    Op<Equality<true>>("Equal"),
    BinaryTest<Reals>("Greater", [](auto x, auto y) { return x > y; }),
    BinaryTest<Reals>("GreaterEqual", [](auto x, auto y) { return x >= y; }),
    BinaryTest<Reals>("Less", [](auto x, auto y) { return x < y; }),
    BinaryTest<Reals>("LessEqual", [](auto x, auto y) { return x <= y; }),
    BinaryTest<Types<bool>>("LogicalAnd", [](auto x, auto y) { return x && y; }),
    BinaryTest<Types<bool>>("LogicalOr", [](auto x, auto y) { return x || y; }),
    Op<Equality<false>>("NotEqual"),
};

}  // namespace
extern constinit const KernelFamily kCompareKernels = kRows;
}  // namespace tare
