// Shapes as values, and ops that give a tensor another shape over the same bytes.
#include "kernels/elements.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// Writes values as int32 or int64, whichever the output is.
Status SetInts(KernelCall& c, int i, DType dtype, std::span<const int64_t> values, const Shape& shape) {
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(i, dtype, shape));
  if (dtype == DType::kInt64) {
    std::ranges::copy(values, out->mutable_data<int64_t>());
    return OkStatus();
  }
  int32_t* to = out->mutable_data<int32_t>();
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] != static_cast<int32_t>(values[k])) {
      return InvalidArgument("{} does not fit int32 output; set out_type to int64", values[k]);
    }
    to[k] = static_cast<int32_t>(values[k]);
  }
  return OkStatus();
}

struct ShapeOp {
  explicit ShapeOp(AttrReader& a) : out_type(a.Type("out_type")) {}
  Status Run(KernelCall& c) const {
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Shape shape = c.input(i).shape();
      TARE_RETURN_IF_ERROR(SetInts(c, i, out_type, shape.dims(), Shape{shape.rank()}));
    }
    return OkStatus();
  }
  DType out_type;
};

struct SizeOp {
  explicit SizeOp(AttrReader& a) : out_type(a.Type("out_type")) {}
  Status Run(KernelCall& c) const {
    int64_t n = c.input(0).num_elements();
    return SetInts(c, 0, out_type, {&n, 1}, Shape{});
  }
  DType out_type;
};

Status RankOp(KernelCall& c) {
  int64_t rank = c.input(0).rank();
  return SetInts(c, 0, DType::kInt32, {&rank, 1}, Shape{});
}

Status PassReshaped(KernelCall& c, const Shape& shape) {
  Tensor in = c.TakeInput(0);
  c.SetOutput(0, in.Reshaped(shape));
  return OkStatus();
}

// The value of a -1 among `sizes`, whose other members multiply to `known` (zeros left out: `known_nonzero`).
Result<int64_t> InferDim(const Shape& in, bool has_zero, int64_t known_nonzero) {
  int64_t n = 1;
  // With a zero requested, the dimensions that hold elements are shared out among those that would.
  for (int i = 0; i < in.rank(); ++i) n *= has_zero && in[i] == 0 ? 1 : in[i];
  if (n % known_nonzero != 0) {
    return InvalidArgument(
        "Input to reshape is a tensor with {} values, but the requested shape requires a multiple of {}",
        in.num_elements(), has_zero ? 0 : known_nonzero);
  }
  return n / known_nonzero;
}

Status Reshape(KernelCall& c) {
  const Shape& in = c.input(0).shape();
  const Tensor& sizes = c.input(1);
  // A scalar is an old way to say one dimension.
  if (sizes.rank() > 1) {
    return InvalidArgument("sizes input must be 1-D, not {}", sizes.shape().ToString());
  }
  if (sizes.num_elements() > kMaxRank) {
    return InvalidArgument("too many dimensions: {}, the most is {}", sizes.num_elements(), kMaxRank);
  }
  Ints wanted(sizes);
  std::array<int64_t, kMaxRank> dims;
  int unknown = -1;
  int64_t known = 1;
  bool has_zero = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t d = dims[i] = wanted[i];
    if (d == -1) {
      if (unknown >= 0) return InvalidArgument("Only one input size may be -1, not both {} and {}", unknown, i);
      unknown = static_cast<int>(i);
    } else if (d < 0) {
      return InvalidArgument("Size {} must be non-negative, not {}", i, d);
    } else if (d == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(known, d, &known)) {
      return InvalidArgument("the requested shape has too many elements");
    }
  }
  if (unknown >= 0) {
    TARE_ASSIGN_OR_RETURN(dims[unknown], InferDim(in, has_zero, known));
  }
  TARE_ASSIGN_OR_RETURN(Shape out, Shape::Make({dims.data(), wanted.size()}));
  if (out.num_elements() != in.num_elements()) {
    return InvalidArgument("Input to reshape is a tensor with {} values, but the requested shape has {}",
                           in.num_elements(), out.num_elements());
  }
  return PassReshaped(c, out);
}

Status ExpandDims(KernelCall& c) {
  Shape shape = c.input(0).shape();
  if (c.input(1).num_elements() != 1) return InvalidArgument("'dim' must be a tensor with a single value");
  int64_t dim = Ints(c.input(1))[0];
  if (dim < -1 - shape.rank() || dim > shape.rank()) {
    return InvalidArgument("Tried to expand dim index {} for tensor with {} dimensions.", dim, shape.rank());
  }
  if (shape.rank() == kMaxRank) return InvalidArgument("a tensor has at most {} dimensions", kMaxRank);
  shape.Insert(static_cast<int>(dim < 0 ? dim + shape.rank() + 1 : dim), 1);
  return PassReshaped(c, shape);
}

struct Squeeze {
  explicit Squeeze(AttrReader& a) : axes(a.Ints("squeeze_dims")) {}
  Status Run(KernelCall& c) const {
    const Shape in = c.input(0).shape();
    unsigned chosen = 0;
    for (int64_t axis : axes) {
      if (axis < -in.rank() || axis >= in.rank()) {
        return InvalidArgument("Tried to squeeze dim index {} for tensor with {} dimensions.", axis, in.rank());
      }
      chosen |= 1u << (axis < 0 ? axis + in.rank() : axis);
    }
    Shape out;
    for (int i = 0; i < in.rank(); ++i) {
      bool wanted = axes.empty() ? in[i] == 1 : chosen >> i & 1;
      if (!wanted) out.Append(in[i]);
      else if (in[i] != 1) return InvalidArgument("Can not squeeze dim[{}], expected a dimension of 1, got {}", i, in[i]);
    }
    return PassReshaped(c, out);
  }
  std::vector<int64_t> axes;
};

struct EnsureShape {
  explicit EnsureShape(AttrReader& a) {
    PartialShape shape = a.ShapeAttr("shape");
    unknown_rank = shape.unknown_rank;
    if (!unknown_rank) dims.assign(shape.dims.begin(), shape.dims.end());
  }
  Status Run(KernelCall& c) const {
    PartialShape expected{unknown_rank, dims};
    if (!expected.Accepts(c.input(0).shape())) {
      return InvalidArgument("Shape of tensor {} {} is not compatible with expected shape {}.", c.node(),
                             c.input(0).shape().ToString(), expected.ToString());
    }
    c.SetOutput(0, c.TakeInput(0));
    return OkStatus();
  }
  bool unknown_rank;
  std::vector<int64_t> dims;
};

// The two shapes that an op on broadcasting takes as vectors.
Status CheckShapeVectors(KernelCall& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.input(i).rank() != 1) {
      return InvalidArgument("In[{}] must be a vector.{}", i, c.input(i).shape().ToString());
    }
  }
  return OkStatus();
}

Status BroadcastArgs(KernelCall& c) {
  TARE_RETURN_IF_ERROR(CheckShapeVectors(c));
  Ints a(c.input(0)), b(c.input(1));
  std::vector<int64_t> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1, db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return InvalidArgument("Incompatible shapes: {} vs. {}", PartialShape{false, a}.ToString(),
                             PartialShape{false, b}.ToString());
    }
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return SetInts(c, 0, c.input(0).dtype(), out, Shape{static_cast<int64_t>(out.size())});
}

// Which dimensions of each gradient are to be summed away.
Status BroadcastGradientArgs(KernelCall& c) {
  TARE_RETURN_IF_ERROR(CheckShapeVectors(c));
  Ints a(c.input(0)), b(c.input(1));
  size_t rank = std::max(a.size(), b.size());
  std::vector<int64_t> reduce[2];
  bool equal = std::ranges::equal(std::span<const int64_t>(a), std::span<const int64_t>(b));
  for (size_t i = 0; i < rank && !equal; ++i) {
    size_t from_back = rank - 1 - i;
    int64_t da = from_back < a.size() ? a[a.size() - 1 - from_back] : 1;
    int64_t db = from_back < b.size() ? b[b.size() - 1 - from_back] : 1;
    if (da != db && da != 1 && db != 1) {
      return InvalidArgument("Incompatible shapes: {} vs. {}", PartialShape{false, a}.ToString(),
                             PartialShape{false, b}.ToString());
    }
    if (da == 1) reduce[0].push_back(static_cast<int64_t>(i));
    if (db == 1) reduce[1].push_back(static_cast<int64_t>(i));
  }
  for (int i = 0; i < 2; ++i) {
    Shape shape{static_cast<int64_t>(reduce[i].size())};
    TARE_RETURN_IF_ERROR(SetInts(c, i, c.input(0).dtype(), reduce[i], shape));
  }
  return OkStatus();
}

struct Const {
  explicit Const(AttrReader& a) {
    DType dtype = a.Type("dtype");
    if (const Tensor* t = a.TensorAttr("value")) value = *t;
    if (value.valid() && value.dtype() != dtype) {
      a.Fail(InvalidArgument("Const: the value is {}, the dtype {}", DTypeName(value.dtype()), DTypeName(dtype)));
    }
  }
  Status Run(KernelCall& c) const {
    c.SetOutput(0, value);
    return OkStatus();
  }
  Tensor value;
};

Status PassOn(KernelCall& c) {
  c.SetOutput(0, c.TakeInput(0));
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<BroadcastArgs>("BroadcastArgs"),
    Op<BroadcastGradientArgs>("BroadcastGradientArgs"),
    // Its value is a tensor of its model's: a cached kernel must not keep that alive.
    Op<Const>("Const", kNeverCached),
    Op<EnsureShape>("EnsureShape"),
    Op<ExpandDims>("ExpandDims"),
    Op<PassOn>("PlaceholderWithDefault"),
    Op<RankOp>("Rank"),
    Op<Reshape>("Reshape"),
    Op<ShapeOp>("Shape"),
    Op<ShapeOp>("ShapeN"),
    Op<SizeOp>("Size"),
    Op<Squeeze>("Squeeze"),
};

}  // namespace
extern constinit const KernelFamily kShapeKernels = kRows;
}  // namespace tare
