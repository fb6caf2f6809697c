// Diagonals and bands of matrices: the innermost two dimensions, or all of them.
#include "kernels/registry.h"
#include "kernels/strided_copy.h"

namespace tare {
namespace {

// Diagonals d of a matrix with lower <= d <= upper: d = column - row. Packed, they are rows of `length`
// elements, the highest first; shorter ones lie to the left or right.
struct Band {
  int64_t lower = 0, upper = 0;
  int64_t rows = 0, columns = 0;
  int64_t length = 0;
  bool superdiagonals_left = true, subdiagonals_left = true;

  int64_t count() const { return upper - lower + 1; }
  int64_t LengthOf(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  // Where diagonal d begins in its packed row.
  int64_t OffsetOf(int64_t d) const {
    const bool left = (d >= 0 && superdiagonals_left) || (d <= 0 && subdiagonals_left);
    return left ? 0 : length - LengthOf(d);
  }
  // Calls fn(packed, element, n) for each diagonal: flat positions of its first element; in the matrix
  // the next is one row and one column further.
  template <class F>
  void ForEach(F fn) const {
    for (int64_t d = upper; d >= lower; --d) {
      const int64_t n = LengthOf(d);
      if (n <= 0) continue;
      fn((upper - d) * length + OffsetOf(d), std::max<int64_t>(-d, 0) * columns + std::max<int64_t>(d, 0), n);
    }
  }
};

// Which diagonals: 0, or what the input `k` of V2 and V3 says.
Status ReadDiagonals(const Tensor& k, Band& band) {
  if (k.rank() > 1 || k.num_elements() < 1 || k.num_elements() > 2) {
    return InvalidArgument("diag_index must be a scalar or vector with one or two elements, received shape: {}",
                           k.shape().ToString());
  }
  Ints values(k);
  band.lower = values[0];
  band.upper = values[values.size() - 1];
  if (band.lower > band.upper) {
    return InvalidArgument("lower_diag_index must not be larger than upper_diag_index: {} > {}", band.lower,
                           band.upper);
  }
  return OkStatus();
}

// The matrix's size, and that the diagonals lie in it.
Status SetMatrix(const Shape& matrix, Band& band) {
  if (matrix.rank() < 2) {
    return InvalidArgument("input must be at least 2-dim, received shape: {}", matrix.ToString());
  }
  band.rows = matrix[matrix.rank() - 2];
  band.columns = matrix[matrix.rank() - 1];
  for (int64_t d : {band.lower, band.upper}) {
    if (d != 0 && !(-band.rows < d && d < band.columns)) {
      return InvalidArgument("{}_diag_index is out of bound: {} It must be between {} and {}",
                             d == band.lower ? "lower" : "upper", d, -band.rows, band.columns);
    }
  }
  band.length = std::min(band.rows + std::min<int64_t>(band.upper, 0),
                         band.columns - std::max<int64_t>(band.lower, 0));
  return OkStatus();
}

// The shape of the packed diagonals of a matrix of shape `matrix`.
Result<Shape> PackedShape(const Shape& matrix, const Band& band) {
  Shape shape(matrix.dims().first(matrix.rank() - 2));
  if (band.lower != band.upper) shape.Append(band.count());
  shape.Append(band.length);
  return Shape::Make(shape.dims());
}

// A V1 op has no k; V2's packed diagonals all lie to the left; V3 says where.
struct DiagonalOp {
  explicit DiagonalOp(AttrReader& a) : has_k(a.op().name.ends_with("V2") || a.op().name.ends_with("V3")) {
    if (!a.op().name.ends_with("V3")) return;
    const std::string align = a.String("align");
    left.superdiagonals_left = align.starts_with("LEFT");
    left.subdiagonals_left = align.ends_with("LEFT");
  }
  bool has_k;
  Band left;  // only the alignment
};

struct MatrixDiagPart : DiagonalOp {
  using DiagonalOp::DiagonalOp;
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    Band band = left;
    if (has_k) TARE_RETURN_IF_ERROR(ReadDiagonals(c.input(1), band));
    if (has_k && c.input(2).num_elements() != 1) return InvalidArgument("padding_value must be a scalar");
    TARE_RETURN_IF_ERROR(SetMatrix(in.shape(), band));
    TARE_ASSIGN_OR_RETURN(const Shape shape, PackedShape(in.shape(), band));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
    const int64_t batch = in.num_elements() ? in.shape().product(0, in.rank() - 2) : 0;
    const int64_t size = band.count() * band.length;
    ForElement(in.dtype(), [&]<class T>() {
      const T zero{};
      T* to = static_cast<T*>(out->mutable_raw());
      FillRun(has_k ? *static_cast<const T*>(c.input(2).raw()) : zero, to, shape.num_elements());
      const T* from = static_cast<const T*>(in.raw());
      for (int64_t b = 0; b < batch; ++b, from += band.rows * band.columns, to += size) {
        band.ForEach([&](int64_t packed, int64_t element, int64_t n) {
          for (int64_t i = 0; i < n; ++i) PutElement(to[packed + i], from[element + i * (band.columns + 1)]);
        });
      }
    });
    return OkStatus();
  }
};

// Writes packed diagonals into matrices.
void PutDiagonals(const Tensor& packed, const Band& band, int64_t batch, Tensor& matrices) {
  ForElement(packed.dtype(), [&]<class T>() {
    const T* from = static_cast<const T*>(packed.raw());
    T* to = static_cast<T*>(matrices.mutable_raw());
    for (int64_t b = 0; b < batch; ++b, from += band.count() * band.length, to += band.rows * band.columns) {
      band.ForEach([&](int64_t at, int64_t element, int64_t n) {
        for (int64_t i = 0; i < n; ++i) PutElement(to[element + i * (band.columns + 1)], from[at + i]);
      });
    }
  });
}

struct MatrixSetDiag : DiagonalOp {
  using DiagonalOp::DiagonalOp;
  Status Run(KernelCall& c) const {
    const Tensor &in = c.input(0), &diagonal = c.input(1);
    Band band = left;
    if (has_k) TARE_RETURN_IF_ERROR(ReadDiagonals(c.input(2), band));
    TARE_RETURN_IF_ERROR(SetMatrix(in.shape(), band));
    TARE_ASSIGN_OR_RETURN(const Shape expected, PackedShape(in.shape(), band));
    if (diagonal.shape() != expected) {
      return InvalidArgument(
          "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "
          "the longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: {}\nDiagonal shape: "
          "{}\nExpected diagonal shape: {}",
          in.shape().ToString(), diagonal.shape().ToString(), expected.ToString());
    }
    const Tensor* source = &in;
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {0}, in.dtype(), in.shape()));
    if (out->raw() != source->raw()) {
      CopyElements(in.dtype(), in.raw(), out->mutable_raw(), static_cast<size_t>(in.num_elements()));
    }
    if (in.num_elements() > 0) PutDiagonals(diagonal, band, in.shape().product(0, in.rank() - 2), *out);
    return OkStatus();
  }
};

struct MatrixDiag : DiagonalOp {
  using DiagonalOp::DiagonalOp;
  Status Run(KernelCall& c) const {
    const Tensor& diagonal = c.input(0);
    if (diagonal.rank() < 1) {
      return InvalidArgument("diagonal must be at least 1-dim, received shape: {}", diagonal.shape().ToString());
    }
    Band band = left;
    if (has_k) TARE_RETURN_IF_ERROR(ReadDiagonals(c.input(1), band));
    TARE_RETURN_IF_ERROR(SetSize(c, diagonal, band));
    const int batch_rank = diagonal.rank() - (band.lower == band.upper ? 1 : 2);
    Shape shape(diagonal.shape().dims().first(batch_rank));
    if (batch_rank + 2 > kMaxRank) return InvalidArgument("a tensor has at most {} dimensions", kMaxRank);
    shape.Append(band.rows);
    shape.Append(band.columns);
    TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, diagonal.dtype(), shape));
    ForElement(diagonal.dtype(), [&]<class T>() {
      const T zero{};
      FillRun(has_k ? *static_cast<const T*>(c.input(4).raw()) : zero, static_cast<T*>(out->mutable_raw()),
              shape.num_elements());
    });
    if (shape.num_elements() > 0) PutDiagonals(diagonal, band, diagonal.shape().product(0, batch_rank), *out);
    return OkStatus();
  }
  // The matrix that the diagonals need, or the one asked for if they fill it.
  Status SetSize(KernelCall& c, const Tensor& diagonal, Band& band) const {
    band.length = diagonal.dim(diagonal.rank() - 1);
    if (band.lower != band.upper && (diagonal.rank() < 2 || diagonal.dim(diagonal.rank() - 2) != band.count())) {
      return InvalidArgument(
          "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index "
          "range.");
    }
    const int64_t min_rows = band.length - std::min<int64_t>(band.upper, 0);
    const int64_t min_columns = band.length + std::max<int64_t>(band.lower, 0);
    int64_t rows = -1, columns = -1;
    if (has_k) {
      for (int i = 2; i <= 4; ++i) {
        if (c.input(i).num_elements() != 1) return InvalidArgument("num_rows, num_cols and padding_value must be scalars");
      }
      rows = Ints(c.input(2))[0];
      columns = Ints(c.input(3))[0];
    }
    if ((rows != -1 && rows < min_rows) || rows < -1) return InvalidArgument("The number of rows is too small.");
    if ((columns != -1 && columns < min_columns) || columns < -1) {
      return InvalidArgument("The number of columns is too small.");
    }
    if (rows == -1 && columns == -1) rows = columns = std::max(min_rows, min_columns);
    if (rows == -1) rows = min_rows;
    if (columns == -1) columns = min_columns;
    if (rows != min_rows && columns != min_columns) {
      return InvalidArgument(
          "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
    }
    band.rows = rows;
    band.columns = columns;
    return OkStatus();
  }
};

Status MatrixBandPart(KernelCall& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 2) {
    return InvalidArgument("input must be at least 2-dim, received shape: {}", in.shape().ToString());
  }
  if (c.input(1).rank() != 0 || c.input(2).rank() != 0) return InvalidArgument("num_lower and num_upper must be scalars");
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dim(in.rank() - 1);
  int64_t lower = Ints(c.input(1))[0], upper = Ints(c.input(2))[0];
  if (lower > rows) {
    return InvalidArgument("num_lower must be negative or less or equal to number of rows ({}) got: {}", rows, lower);
  }
  if (upper > columns) {
    return InvalidArgument("num_upper must be negative or less or equal to number of columns ({}) got: {}", columns,
                           upper);
  }
  if (lower < 0) lower = rows;
  if (upper < 0) upper = columns;
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {0}, in.dtype(), in.shape()));
  const bool in_place = out->raw() == in.raw();
  if (in.num_elements() == 0) return OkStatus();
  ForElement(in.dtype(), [&]<class T>() {
    const T zero{};
    const T* from = static_cast<const T*>(in.raw());
    T* to = static_cast<T*>(out->mutable_raw());
    c.threads().ParallelFor(in.shape().product(0, in.rank() - 1), columns / 4 + 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t row = r % rows, first = std::clamp<int64_t>(row - lower, 0, columns);
        const int64_t last = std::clamp<int64_t>(row + upper + 1, first, columns);
        FillRun(zero, to + r * columns, first);
        if (!in_place) CopyRun(from + r * columns + first, to + r * columns + first, last - first);
        FillRun(zero, to + r * columns + last, columns - last);
      }
    });
  });
  return OkStatus();
}

// A tensor of twice the rank, zero but for its diagonal.
Status Diag(KernelCall& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) return InvalidArgument("Input must be at least rank 1, got 0");
  if (2 * in.rank() > kMaxRank) return InvalidArgument("a tensor has at most {} dimensions", kMaxRank);
  Shape shape = in.shape();
  for (int i = 0; i < in.rank(); ++i) shape.Append(in.dim(i));
  TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  ZeroElements(in.dtype(), out->mutable_raw(), shape.num_elements());
  CopyAxes axes;
  axes.Add(in.num_elements(), 1, in.num_elements() + 1);
  StridedCopy(c.threads(), in.dtype(), in.raw(), out->mutable_raw(), axes);
  return OkStatus();
}

Status DiagPart(KernelCall& c) {
  const Tensor& in = c.input(0);
  const int half = in.rank() / 2;
  if (in.rank() == 0 || in.rank() % 2 != 0) {
    return InvalidArgument("The rank of the tensor should be even and positive, got shape {}", in.shape().ToString());
  }
  for (int i = 0; i < half; ++i) {
    if (in.dim(i) != in.dim(i + half)) {
      return InvalidArgument("Invalid shape {}: dimensions {} and {} do not match.", in.shape().ToString(), i, i + half);
    }
  }
  Shape shape(in.shape().dims().first(half));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  CopyAxes axes;
  axes.Add(shape.num_elements(), shape.num_elements() + 1, 1);
  StridedCopy(c.threads(), in.dtype(), in.raw(), out->mutable_raw(), axes);
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<MatrixBandPart>("BatchMatrixBandPart"),
    Op<MatrixDiag>("BatchMatrixDiag"),
    Op<MatrixDiagPart>("BatchMatrixDiagPart"),
    Op<MatrixSetDiag>("BatchMatrixSetDiag"),
    Op<Diag>("Diag"),
    Op<DiagPart>("DiagPart"),
    Op<MatrixBandPart>("MatrixBandPart"),
    Op<MatrixDiag>("MatrixDiag"),
    Op<MatrixDiagPart>("MatrixDiagPart"),
    Op<MatrixDiagPart>("MatrixDiagPartV2"),
    Op<MatrixDiagPart>("MatrixDiagPartV3"),
    Op<MatrixDiag>("MatrixDiagV2"),
    Op<MatrixDiag>("MatrixDiagV3"),
    Op<MatrixSetDiag>("MatrixSetDiag"),
    Op<MatrixSetDiag>("MatrixSetDiagV2"),
    Op<MatrixSetDiag>("MatrixSetDiagV3"),
};

}  // namespace
extern constinit const KernelFamily kDiagKernels = kRows;
}  // namespace tare
