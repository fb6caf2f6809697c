// Tensors made from little: constants, sequences, one-hot rows.
#include <cmath>
#include <limits>

#include "kernels/accumulate.h"
#include "kernels/elements.h"
#include "kernels/registry.h"
#include "resource/tensor_list.h"

namespace tare {
namespace {

// A shape given as a vector, or a scalar for one dimension.
Result<Shape> ReadShape(const Tensor& t) {
  Ints dims(t);
  for (int64_t d : dims) {
    if (d < 0) return InvalidArgument("Dimension {} must be >= 0", d);
  }
  return Shape::Make(dims);
}

Status Fill(KernelCall& c) {
  const Tensor &dims = c.input(0), &value = c.input(1);
  if (dims.rank() > 1) return InvalidArgument("dims must represent a vector, got shape {}", dims.shape().ToString());
  if (value.num_elements() != 1 || value.rank() > 1) {
    return InvalidArgument("value must represent a scalar, got shape {}", value.shape().ToString());
  }
  TARE_ASSIGN_OR_RETURN(const Shape shape, ReadShape(dims));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, value.dtype(), shape));
  ForElement(value.dtype(), [&]<class T>() {
    const T& v = *static_cast<const T*>(value.raw());
    T* to = static_cast<T*>(out->mutable_raw());
    c.threads().ParallelFor(shape.num_elements(), 1,
                            [&](int64_t begin, int64_t end) { FillRun(v, to + begin, end - begin); });
  });
  return OkStatus();
}

struct Empty {
  explicit Empty(AttrReader& a) : dtype(a.Type("dtype")), init(a.Bool("init")) {}
  Status Run(KernelCall& c) const {
    if (c.input(0).rank() > 1) {
      return InvalidArgument("shape must be a vector of int32, got shape {}", c.input(0).shape().ToString());
    }
    TARE_ASSIGN_OR_RETURN(const Shape shape, ReadShape(c.input(0)));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
    if (init) ZeroElements(dtype, out->mutable_raw(), shape.num_elements());
    return OkStatus();
  }
  DType dtype;
  bool init;
};

Status DeepCopy(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Tensor copy, c.input(0).Clone(c.run().account));
  c.SetOutput(0, std::move(copy));
  return OkStatus();
}

Status ZerosLike(KernelCall& c) {
  const Tensor& in = c.input(0);
  // A variant's zero is its type's to say: lists have one, others none.
  if (in.dtype() == DType::kVariant) {
    TARE_ASSIGN_OR_RETURN(Tensor zeros, ZerosLikeVariant(c.run().account, in));
    c.SetOutput(0, std::move(zeros));
    return OkStatus();
  }
  if (in.dtype() == DType::kResource) return Unimplemented("ZerosLike of {}", DTypeName(in.dtype()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), in.shape()));
  ZeroElements(in.dtype(), out->mutable_raw(), in.num_elements());
  return OkStatus();
}

Status OnesLike(KernelCall& c) {
  const DType dtype = c.input(0).dtype();
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, c.input(0).shape()));
  return ForType(Join<Numbers, Types<bool>>{}, dtype, [&]<class T>() {
    std::ranges::fill(out->mut<T>(), T(1));
    return OkStatus();
  });
}

// How many steps of `delta` lead from `start` to before `limit`. In T's own arithmetic, as the values are.
template <class T>
Result<int64_t> RangeSize(T start, T limit, T delta) {
  if constexpr (std::is_integral_v<T>) {
    const uint64_t span = delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
    const uint64_t step = delta > 0 ? uint64_t(delta) : 0 - uint64_t(delta);
    const uint64_t n = span / step + (span % step != 0);
    if (n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return InvalidArgument("Requires ((limit - start) / delta) <= {}", std::numeric_limits<int64_t>::max());
    }
    return static_cast<int64_t>(n);
  } else {
    const T span = T(Wide(limit) - Wide(start));
    const double n = std::ceil(std::abs(static_cast<double>(Wide(T(Wide(span) / Wide(delta))))));
    if (!(n < 0x1p63)) {
      return InvalidArgument("Requires ((limit - start) / delta) <= {}", std::numeric_limits<int64_t>::max());
    }
    return static_cast<int64_t>(n);
  }
}

template <class T>
Status RangeOf(KernelCall& c) {
  const T start = c.input(0).scalar<T>(), limit = c.input(1).scalar<T>(), delta = c.input(2).scalar<T>();
  const auto show = [](T v) {
    if constexpr (std::is_integral_v<T>) return v + 0;
    else return static_cast<double>(v);
  };
  if (!(delta > T(0)) && !(delta < T(0))) return InvalidArgument("Requires delta != 0: {}", show(delta));
  if (delta > T(0) && !(start <= limit)) {
    return InvalidArgument("Requires start <= limit when delta > 0: {}/{}", show(start), show(limit));
  }
  if (delta < T(0) && !(start >= limit)) {
    return InvalidArgument("Requires start >= limit when delta < 0: {}/{}", show(start), show(limit));
  }
  TARE_ASSIGN_OR_RETURN(const int64_t n, RangeSize(start, limit, delta));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DTypeOf<T>::value, Shape{n}));
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < n; ++i) to[i] = AddStep::Do<T>(start, MulStep::Do<T>(static_cast<T>(i), delta));
  return OkStatus();
}

Status Range(KernelCall& c) {
  constexpr std::string_view kNames[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() > 1 || c.input(i).num_elements() != 1) {
      return InvalidArgument("{} must be a scalar, not shape {}", kNames[i], c.input(i).shape().ToString());
    }
  }
  return ForType(Reals{}, c.input(0).dtype(), [&]<class T>() { return RangeOf<T>(c); });
}

Status LinSpace(KernelCall& c) {
  constexpr std::string_view kNames[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() > 1 || c.input(i).num_elements() != 1) {
      return InvalidArgument("{} must be a scalar, not shape {}", kNames[i], c.input(i).shape().ToString());
    }
  }
  const int64_t n = Ints(c.input(2))[0];
  if (n <= 0) return InvalidArgument("Requires num > 0: {}", n);
  return ForType(Floats{}, c.input(0).dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DTypeOf<T>::value, Shape{n}));
    T* to = out->mutable_data<T>();
    const auto start = Wide(c.input(0).scalar<T>()), stop = Wide(c.input(1).scalar<T>());
    const auto step = (stop - start) / static_cast<decltype(start)>(n - 1);
    to[0] = T(start);
    for (int64_t i = 1; i < n; ++i) to[i] = T(start + step * static_cast<decltype(start)>(i));
    if (n > 1) to[n - 1] = T(stop);
    return OkStatus();
  });
}

struct OneHot {
  explicit OneHot(AttrReader& a) : axis(a.Int("axis")) {}
  Status Run(KernelCall& c) const {
    const Tensor &indices = c.input(0), &on = c.input(2), &off = c.input(3);
    const int rank = indices.rank();
    if (axis != -1 && (axis < 0 || axis > rank)) {
      return InvalidArgument("Expected axis to be -1 or between [0, {}).  But received: {}", rank + 1, axis);
    }
    if (rank == kMaxRank) return InvalidArgument("a tensor has at most {} dimensions", kMaxRank);
    constexpr std::string_view kNames[] = {"depth", "on_value", "off_value"};
    for (int i = 1; i <= 3; ++i) {
      if (c.input(i).rank() != 0) {
        return InvalidArgument("{} must be a scalar, but got: {}", kNames[i - 1], c.input(i).shape().ToString());
      }
    }
    const int64_t depth = Ints(c.input(1))[0];
    if (depth < 0) return InvalidArgument("depth must be non-negative, got: {}", depth);
    const int at = axis == -1 ? rank : static_cast<int>(axis);
    Shape shape = indices.shape();
    const int64_t suffix = shape.product(at, rank);
    shape.Insert(at, depth);
    TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, on.dtype(), shape));
    Ints hot(indices);
    ForElement(on.dtype(), [&]<class T>() {
      T* to = static_cast<T*>(out->mutable_raw());
      FillRun(*static_cast<const T*>(off.raw()), to, shape.num_elements());
      const T& value = *static_cast<const T*>(on.raw());
      for (size_t k = 0; k < hot.size(); ++k) {
        if (hot[k] < 0 || hot[k] >= depth) continue;
        const auto i = static_cast<int64_t>(k);
        PutElement(to[(i / suffix * depth + hot[k]) * suffix + i % suffix], value);
      }
    });
    return OkStatus();
  }
  int64_t axis;
};

constexpr KernelRow kRows[] = {
    Op<DeepCopy>("DeepCopy", kStateful),
    Op<Empty>("Empty", kStateful),
    Op<Fill>("Fill"),
    Op<LinSpace>("LinSpace"),
    Op<OneHot>("OneHot"),
    Op<OnesLike>("OnesLike"),
    Op<Range>("Range"),
    Op<ZerosLike>("ZerosLike"),
};

}  // namespace
extern constinit const KernelFamily kFillKernels = kRows;
}  // namespace tare
