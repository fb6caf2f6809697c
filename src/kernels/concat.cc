// Joining tensors and taking them apart: Concat, Pack, Split, Unpack.
#include "kernels/registry.h"
#include "kernels/strided_copy.h"

namespace tare {
namespace {

// Bytes up to which work goes straight ahead, on the caller alone.
constexpr size_t kSmall = 32 << 10;

// Writes `parts`, seen as [outer, rows_k * inner], side by side into [outer, sum]. `width(k)` is the
// elements of part k in one of the outer rows.
template <class Part, class Width>
void Join(KernelCall& c, DType dtype, int64_t outer, int parts, Part part, Width width, Tensor& out) {
  if (out.num_elements() == 0) return;
  const int64_t total = out.num_elements() / outer;
  if (out.bytes() <= kSmall || outer == 1) {
    int64_t at = 0;
    for (int k = 0; k < parts; ++k) {
      int64_t w = width(k);
      const Tensor& t = part(k);
      for (int64_t i = 0; i < outer; ++i) {
        CopyElements(dtype, ElementAt(dtype, t.raw(), i * w), ElementAt(dtype, out.mutable_raw(), i * total + at),
                     static_cast<size_t>(w));
      }
      at += w;
    }
    return;
  }
  c.threads().ParallelFor(outer, total / 4 + 10 * parts, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = i * total;
      for (int k = 0; k < parts; ++k) {
        int64_t w = width(k);
        CopyElements(dtype, ElementAt(dtype, part(k).raw(), i * w), ElementAt(dtype, out.mutable_raw(), at),
                     static_cast<size_t>(w));
        at += w;
      }
    }
  });
}

Status ConcatParts(KernelCall& c, const Tensor& axis_tensor, int first, int parts) {
  if (axis_tensor.num_elements() != 1) {
    return InvalidArgument("ConcatOp : Expected concatenating dimension to be a scalar, but got shape {}",
                           axis_tensor.shape().ToString());
  }
  int64_t axis = Ints(axis_tensor)[0];
  const Shape in = c.input(first).shape();
  if (axis < -in.rank() || axis >= in.rank()) {
    return InvalidArgument("ConcatOp : Expected concatenating dimensions in the range [{}, {}), but got {}", -in.rank(),
                           in.rank(), axis);
  }
  if (axis < 0) axis += in.rank();
  const int dim = static_cast<int>(axis);
  int64_t joined = 0;
  for (int k = 0; k < parts; ++k) {
    const Shape& s = c.input(first + k).shape();
    if (s.rank() != in.rank()) {
      return InvalidArgument("ConcatOp : Ranks of all input tensors should match: shape[0] = {} vs. shape[{}] = {}",
                             in.ToString(), k, s.ToString());
    }
    for (int i = 0; i < s.rank(); ++i) {
      if (i != dim && s[i] != in[i]) {
        return InvalidArgument("ConcatOp : Dimension {} in both shapes must be equal: shape[0] = {} vs. shape[{}] = {}",
                               i, in.ToString(), k, s.ToString());
      }
    }
    if (__builtin_add_overflow(joined, s[dim], &joined)) return InvalidArgument("ConcatOp : too many elements");
  }
  Shape shape = in;
  shape.set_dim(dim, joined);
  TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, c.input(first).dtype(), shape));
  const int64_t inner = shape.product(dim + 1, shape.rank());
  Join(c, out->dtype(), shape.product(0, dim), parts, [&](int k) -> const Tensor& { return c.input(first + k); },
       [&](int k) { return c.input(first + k).dim(dim) * inner; }, *out);
  return OkStatus();
}

Status Concat(KernelCall& c) { return ConcatParts(c, c.input(0), 1, c.num_inputs() - 1); }
Status ConcatV2(KernelCall& c) { return ConcatParts(c, c.input(c.num_inputs() - 1), 0, c.num_inputs() - 1); }

Status ConcatOffset(KernelCall& c) {
  if (c.input(0).rank() != 0) {
    return InvalidArgument("Concat dim tensor should be a scalar, but got shape {}", c.input(0).shape().ToString());
  }
  int64_t axis = Ints(c.input(0))[0], rank = c.input(1).num_elements(), at = 0;
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("Concat dim is out of range: {} vs. {}", axis, rank);
  }
  if (axis < 0) axis += rank;
  Ints first(c.input(1));
  for (int k = 0; k + 1 < c.num_inputs(); ++k) {
    const Tensor& shape = c.input(k + 1);
    if (shape.rank() != 1) {
      return InvalidArgument("input {} should be a vector, but got shape {}", k, shape.shape().ToString());
    }
    if (shape.num_elements() != rank) {
      return InvalidArgument("input {} should contain {} elements, but got {}", k, rank, shape.num_elements());
    }
    Ints dims(shape);
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(k, shape.dtype(), shape.shape()));
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis && dims[i] != first[i]) {
        return InvalidArgument(
            "All dimensions except {} must match. Input {} has shape [{}] and doesn't match input 0 with shape [{}].",
            axis, k, fmt::join(dims, " "), fmt::join(first, " "));
      }
      int64_t offset = i == axis ? at : 0;
      if (shape.dtype() == DType::kInt64) out->mutable_data<int64_t>()[i] = offset;
      else out->mutable_data<int32_t>()[i] = static_cast<int32_t>(offset);
    }
    at = static_cast<int64_t>(static_cast<uint64_t>(at) + static_cast<uint64_t>(dims[axis]));
  }
  return OkStatus();
}

struct Pack {
  explicit Pack(AttrReader& a) : axis(a.Int("axis")) {}
  Status Run(KernelCall& c) const {
    const Shape in = c.input(0).shape();
    const int rank = in.rank() + 1;
    if (axis < -rank || axis >= rank) return InvalidArgument("axis = {} not in [{}, {})", axis, -rank, rank);
    if (rank > kMaxRank) return InvalidArgument("a tensor has at most {} dimensions", kMaxRank);
    const int dim = static_cast<int>(axis < 0 ? axis + rank : axis);
    for (int k = 1; k < c.num_inputs(); ++k) {
      if (c.input(k).shape() != in) {
        return InvalidArgument("Shapes of all inputs must match: values[0].shape = {} != values[{}].shape = {}",
                               in.ToString(), k, c.input(k).shape().ToString());
      }
    }
    Shape shape = in;
    shape.Insert(dim, c.num_inputs());
    TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
    const DType dtype = c.input(0).dtype();
    if (c.num_inputs() == 1) {
      c.SetOutput(0, c.TakeInput(0).Reshaped(shape));
      return OkStatus();
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
    if (in.rank() == 0) {
      PackScalars(c, *out);
      return OkStatus();
    }
    const int64_t width = in.product(dim, in.rank());
    Join(c, dtype, in.product(0, dim), c.num_inputs(), [&](int k) -> const Tensor& { return c.input(k); },
         [&](int) { return width; }, *out);
    return OkStatus();
  }
  // Shapes put together from sizes: the commonest use, on a path of its own.
  static void PackScalars(KernelCall& c, Tensor& out) {
    ForElement(out.dtype(), [&]<class T>() {
      T* to = static_cast<T*>(out.mutable_raw());
      for (int k = 0; k < c.num_inputs(); ++k) PutElement(to[k], *static_cast<const T*>(c.input(k).raw()));
    });
  }
  int64_t axis;
};

// Output `k` of a cut of `in` along `dim`: rows [begin, end).
Status CutOut(KernelCall& c, int k, const Tensor& in, int dim, int64_t begin, int64_t end, const Shape& shape) {
  if (in.shape().product(0, dim) == 1) {  // contiguous: a share of the bytes
    int64_t inner = in.shape().product(dim + 1, in.rank());
    Tensor flat = in.Reshaped(Shape{in.num_elements()}).Rows(begin * inner, end * inner);
    c.SetOutput(k, flat.Reshaped(shape));
    return OkStatus();
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(k, in.dtype(), shape));
  const int64_t inner = in.shape().product(dim + 1, in.rank());
  CopyAxes axes;
  axes.Add(in.shape().product(0, dim), in.dim(dim) * inner, (end - begin) * inner);
  axes.Add((end - begin) * inner, 1, 1);
  StridedCopy(c.threads(), in.dtype(), ElementAt(in.dtype(), in.raw(), begin * inner), out->mutable_raw(), axes);
  return OkStatus();
}

struct Unpack {
  explicit Unpack(AttrReader& a) : axis(a.Int("axis")) {}
  Status Run(KernelCall& c) const {
    const Tensor in = c.input(0);
    const int rank = in.rank();
    if (axis < -rank || axis >= rank) return InvalidArgument("axis = {} not in [{}, {})", axis, -rank, rank);
    const int dim = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (in.dim(dim) != c.num_outputs()) {
      return InvalidArgument("Input shape axis {} must equal {}, got shape {}", dim, c.num_outputs(),
                             in.shape().ToString());
    }
    Shape shape = in.shape();
    shape.Remove(dim);
    for (int k = 0; k < c.num_outputs(); ++k) TARE_RETURN_IF_ERROR(CutOut(c, k, in, dim, k, k + 1, shape));
    return OkStatus();
  }
  int64_t axis;
};

Result<int> SplitAxis(const Tensor& axis_tensor, const Shape& in) {
  if (axis_tensor.num_elements() != 1) return InvalidArgument("split_dim_tensor must have exactly one element.");
  int64_t axis = Ints(axis_tensor)[0];
  if (axis < -in.rank() || axis >= in.rank()) {
    return InvalidArgument("-input rank(-{}) <= split_dim < input rank ({}), but got {}", in.rank(), in.rank(), axis);
  }
  return static_cast<int>(axis < 0 ? axis + in.rank() : axis);
}

Status Split(KernelCall& c) {
  const Tensor in = c.input(1);
  if (c.input(0).rank() != 0) {
    return InvalidArgument("split_dim must be a scalar but has rank {}", c.input(0).rank());
  }
  TARE_ASSIGN_OR_RETURN(const int dim, SplitAxis(c.input(0), in.shape()));
  const int64_t parts = c.num_outputs();
  if (in.dim(dim) % parts != 0) {
    return InvalidArgument(
        "Number of ways to split should evenly divide the split dimension, but got split_dim {} (size = {}) and "
        "num_split {}",
        dim, in.dim(dim), parts);
  }
  const int64_t rows = in.dim(dim) / parts;
  Shape shape = in.shape();
  shape.set_dim(dim, rows);
  for (int k = 0; k < parts; ++k) TARE_RETURN_IF_ERROR(CutOut(c, k, in, dim, k * rows, (k + 1) * rows, shape));
  return OkStatus();
}

Status SplitV(KernelCall& c) {
  const Tensor in = c.input(0);
  const Tensor& sizes_tensor = c.input(1);
  if (sizes_tensor.rank() != 1 || sizes_tensor.num_elements() != c.num_outputs()) {
    return InvalidArgument("size of the split_tensor must be 1-D and have the same elements as outputs got {} and {}",
                           sizes_tensor.shape().ToString(), c.num_outputs());
  }
  TARE_ASSIGN_OR_RETURN(const int dim, SplitAxis(c.input(2), in.shape()));
  Ints given(sizes_tensor);
  if (given.size() == 1 && given[0] != in.dim(dim)) {
    return InvalidArgument("If there is only one output, it must have the same size as the input. Input size: {} output size: {}",
                           in.dim(dim), given[0]);
  }
  std::vector<int64_t> sizes(given.begin(), given.end());
  int64_t known = 0, unknown = -1;
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] == -1 && unknown < 0) {
      unknown = static_cast<int64_t>(k);
    } else if (sizes[k] < 0) {
      return InvalidArgument("Split size at index {} must be >= 0. Got: {}", k, sizes[k]);
    } else if (__builtin_add_overflow(known, sizes[k], &known)) {
      return InvalidArgument("the split sizes overflow");
    }
  }
  if (unknown >= 0 ? known > in.dim(dim) : known != in.dim(dim)) {
    return InvalidArgument(
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than "
        "the size of the input along split_dim if not fully specified.  Got: {}",
        known);
  }
  if (unknown >= 0) sizes[unknown] = in.dim(dim) - known;
  Shape shape = in.shape();
  int64_t at = 0;
  for (int k = 0; k < c.num_outputs(); at += sizes[k++]) {
    shape.set_dim(dim, sizes[k]);
    TARE_RETURN_IF_ERROR(CutOut(c, k, in, dim, at, at + sizes[k], shape));
  }
  return OkStatus();
}

// Concatenation along dimension 0 of values of one row each.
struct ParallelConcat {
  explicit ParallelConcat(AttrReader& a) {
    PartialShape s = a.ShapeAttr("shape");
    auto made = s.fully_defined() ? Shape::Make(s.dims) : InvalidArgument("All dimensions of shape must be known");
    if (!made.ok()) a.Fail(made.status());
    dims.assign(s.dims.begin(), s.dims.end());
  }
  Status Run(KernelCall& c) const {
    const Shape shape(dims);
    if (shape.rank() == 0 || shape[0] != c.num_inputs()) {
      return InvalidArgument("ParallelConcat: shape {} does not hold {} values", shape.ToString(), c.num_inputs());
    }
    Shape row = shape;
    row.set_dim(0, 1);
    for (int k = 0; k < c.num_inputs(); ++k) {
      if (c.input(k).shape() != row) {
        return InvalidArgument("ParallelConcat: value {} has shape {}, not {}", k, c.input(k).shape().ToString(),
                               row.ToString());
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, c.input(0).dtype(), shape));
    const int64_t width = row.num_elements();
    Join(c, out->dtype(), 1, c.num_inputs(), [&](int k) -> const Tensor& { return c.input(k); },
         [&](int) { return width; }, *out);
    return OkStatus();
  }
  std::vector<int64_t> dims;
};

constexpr KernelRow kRows[] = {
    Op<Concat>("Concat"),
    Op<ConcatOffset>("ConcatOffset"),
    Op<ConcatV2>("ConcatV2"),
    Op<Pack>("Pack"),
    Op<ParallelConcat>("ParallelConcat"),
    Op<Split>("Split"),
    Op<SplitV>("SplitV"),
    Op<Unpack>("Unpack"),
};

}  // namespace
extern constinit const KernelFamily kConcatKernels = kRows;
}  // namespace tare
