// Linear algebra on batches of matrices.
#include <algorithm>
#include <cstring>

#include "kernels/registry.h"
#include "math/linalg.h"

namespace tare {
namespace {

using LinalgTypes = Types<float, double, std::complex<float>, std::complex<double>>;

// A batch of m x n matrices, the last two dimensions of a tensor.
struct Matrices {
  int64_t batch, m, n;

  // Elements of one matrix; none when there is none, whatever its size would be.
  size_t size() const { return batch == 0 ? 0 : static_cast<size_t>(m * n); }

  static Result<Matrices> Of(const Tensor& t) {
    if (t.rank() < 2) {
      return InvalidArgument("Input tensor must have rank >= 2: got {}", t.shape().ToString());
    }
    return Matrices{t.shape().product(0, t.rank() - 2), t.dim(t.rank() - 2), t.dim(t.rank() - 1)};
  }
  static Result<Matrices> Square(const Tensor& t) {
    TARE_ASSIGN_OR_RETURN(Matrices x, Of(t));
    if (x.m != x.n) return InvalidArgument("Input matrix must be square: {}", t.shape().ToString());
    return x;
  }
};

// The batch dimensions of `t` followed by `last`.
Result<Shape> BatchShape(const Tensor& t, std::initializer_list<int64_t> last) {
  std::vector<int64_t> dims(t.shape().dims().begin(), t.shape().dims().end() - 2);
  dims.insert(dims.end(), last);
  return Shape::Make(dims);
}

constexpr const char* kNotInvertible = "Input is not invertible.";

struct MatrixInverse {
  explicit MatrixInverse(AttrReader& a) : adjoint(a.Bool("adjoint")) {}
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Square(in));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), in.shape()));
    return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() -> Status {
      const auto size = static_cast<int64_t>(x.size());
      std::vector<T> lu(x.size()), unit(x.size(), T(0));
      for (int64_t i = 0; !unit.empty() && i < x.n; ++i) unit[static_cast<size_t>(i * x.n + i)] = T(1);
      std::vector<int64_t> rows;
      bool odd;
      for (int64_t b = 0; b < x.batch && size > 0; ++b) {
        const T* from = in.data<T>() + b * size;
        if (adjoint) math::Adjoint(from, x.n, x.n, lu.data());
        else std::copy_n(from, size, lu.data());
        if (!math::FactorLu(lu.data(), x.n, rows, odd)) return InvalidArgument("{}", kNotInvertible);
        math::SolveLu(lu.data(), rows, x.n, unit.data(), x.n, out->mutable_data<T>() + b * size);
      }
      return OkStatus();
    });
  }
  bool adjoint;
};

struct MatrixSolve {
  explicit MatrixSolve(AttrReader& a) : adjoint(a.Bool("adjoint")) {}
  Status Run(KernelCall& c) const {
    const Tensor &in = c.input(0), &rhs = c.input(1);
    if (in.rank() != rhs.rank()) return InvalidArgument("All input tensors must have the same rank.");
    TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Square(in));
    TARE_ASSIGN_OR_RETURN(Matrices y, Matrices::Of(rhs));
    for (int i = 0; i < in.rank() - 2; ++i) {
      if (in.dim(i) != rhs.dim(i)) return InvalidArgument("All input tensors must have the same outer dimensions.");
    }
    if (y.m != x.n) {
      return InvalidArgument("Input matrix and right-hand side must have the same number of rows: {} vs. {}", x.n, y.m);
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), rhs.shape()));
    return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() -> Status {
      const auto size = static_cast<int64_t>(x.size()), columns = static_cast<int64_t>(y.size());
      std::vector<T> lu(x.size());
      std::vector<int64_t> rows;
      bool odd;
      for (int64_t b = 0; b < x.batch && columns > 0; ++b) {
        const T* from = in.data<T>() + b * size;
        if (adjoint) math::Adjoint(from, x.n, x.n, lu.data());
        else std::copy_n(from, size, lu.data());
        if (!math::FactorLu(lu.data(), x.n, rows, odd)) return InvalidArgument("{}", kNotInvertible);
        math::SolveLu(lu.data(), rows, x.n, rhs.data<T>() + b * columns, y.n, out->mutable_data<T>() + b * columns);
      }
      return OkStatus();
    });
  }
  bool adjoint;
};

// The determinant, or its sign and the logarithm of its size.
template <bool kLog>
Status Determinant(KernelCall& c) {
  const Tensor& in = c.input(0);
  TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Square(in));
  TARE_ASSIGN_OR_RETURN(Shape shape, BatchShape(in, {}));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  Tensor* log = nullptr;
  if (kLog) {
    TARE_ASSIGN_OR_RETURN(log, c.Output(1, in.dtype(), shape));
  }
  return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() {
    const auto size = static_cast<int64_t>(x.size());
    std::vector<int64_t> rows;
    std::vector<T> lu(x.size());
    for (int64_t b = 0; b < x.batch; ++b) {
      std::copy_n(in.data<T>() + b * size, size, lu.data());
      bool odd;
      math::FactorLu(lu.data(), x.n, rows, odd);
      T product = odd ? T(-1) : T(1);
      math::Real<T> sum = 0;
      for (int64_t i = 0; i < x.n; ++i) {
        const T d = lu[static_cast<size_t>(i * x.n + i)];
        const auto magnitude = std::abs(d);
        sum += std::log(magnitude);
        product *= kLog && magnitude > 0 ? d / magnitude : d;
      }
      out->mutable_data<T>()[b] = product;
      if (kLog) log->mutable_data<T>()[b] = T(sum);
    }
    return OkStatus();
  });
}

Status Cholesky(KernelCall& c) {
  const Tensor& in = c.input(0);
  TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Square(in));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), in.shape()));
  return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() -> Status {
    std::copy_n(in.data<T>(), in.num_elements(), out->mutable_data<T>());
    for (int64_t b = 0; b < x.batch && x.n > 0; ++b) {
      T* factor = out->mutable_data<T>() + b * x.n * x.n;
      if (math::FactorCholesky(factor, x.n)) continue;
      // TensorFlow answers a matrix that is not positive definite with NaN.
      for (int64_t i = 0; i < x.n; ++i) {
        std::fill_n(factor + i * x.n, x.n, T(0));
        std::fill_n(factor + i * x.n, i + 1, T(std::numeric_limits<math::Real<T>>::quiet_NaN()));
      }
    }
    return OkStatus();
  });
}

struct TriangularSolve {
  explicit TriangularSolve(AttrReader& a) : lower(a.Bool("lower")), adjoint(a.Bool("adjoint")) {}
  Status Run(KernelCall& c) const {
    const Tensor &in = c.input(0), &rhs = c.input(1);
    TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Square(in));
    TARE_ASSIGN_OR_RETURN(Matrices y, Matrices::Of(rhs));
    if (y.m != x.n) return InvalidArgument("In[0] and In[1] sizes must match: {} vs. {}", in.shape().ToString(), rhs.shape().ToString());
    const Shape batch_x(in.shape().dims().first(static_cast<size_t>(in.rank() - 2)));
    const Shape batch_y(rhs.shape().dims().first(static_cast<size_t>(rhs.rank() - 2)));
    TARE_ASSIGN_OR_RETURN(Shape batch, BroadcastShape(batch_x, batch_y));
    std::vector<int64_t> dims(batch.dims().begin(), batch.dims().end());
    dims.insert(dims.end(), {x.n, y.n});
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
    return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() -> Status {
      for (int64_t b = 0; b < batch.num_elements() && x.n > 0 && y.n > 0; ++b) {
        // A zero on the diagonal gives infinities, as in TensorFlow.
        const T* a = in.data<T>() + Index(batch, batch_x, b) * x.n * x.n;
        T* to = out->mutable_data<T>() + b * x.n * y.n;
        std::copy_n(rhs.data<T>() + Index(batch, batch_y, b) * x.n * y.n, x.n * y.n, to);
        math::SolveTriangular(a, x.n, to, y.n, lower, adjoint);
      }
      return OkStatus();
    });
  }
  // Which matrix of a batch `in` belongs to the i-th of the broadcast batch.
  static int64_t Index(const Shape& out, const Shape& in, int64_t i) {
    int64_t index = 0, step = 1;
    for (int d = out.rank() - 1, e = in.rank() - 1; e >= 0; --d, --e) {
      if (in[e] != 1) index += i % out[d] * step;
      i /= out[d];
      step *= in[e];
    }
    return index;
  }
  bool lower, adjoint;
};

struct Qr {
  explicit Qr(AttrReader& a) : full(a.Bool("full_matrices")) {}
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Of(in));
    const int64_t columns = full ? x.m : std::min(x.m, x.n);
    TARE_ASSIGN_OR_RETURN(Shape q_shape, BatchShape(in, {x.m, columns}));
    TARE_ASSIGN_OR_RETURN(Shape r_shape, BatchShape(in, {columns, x.n}));
    TARE_ASSIGN_OR_RETURN(Tensor * q, c.Output(0, in.dtype(), q_shape));
    TARE_ASSIGN_OR_RETURN(Tensor * r, c.Output(1, in.dtype(), r_shape));
    return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() {
      std::vector<T> a(x.size());
      for (int64_t b = 0; b < x.batch && columns > 0; ++b) {
        std::copy_n(in.data<T>() + b * x.m * x.n, x.m * x.n, a.data());
        math::FactorQr(a.data(), x.m, x.n, q->mutable_data<T>() + b * x.m * columns, columns);
        std::copy_n(a.data(), columns * x.n, r->mutable_data<T>() + b * columns * x.n);
      }
      return OkStatus();
    });
  }
  bool full;
};

struct Svd {
  explicit Svd(AttrReader& a) : vectors(a.Bool("compute_uv")), full(a.Bool("full_matrices")) {}
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Of(in));
    const int64_t p = std::min(x.m, x.n), u_columns = full ? x.m : p, v_columns = full ? x.n : p;
    TARE_ASSIGN_OR_RETURN(Shape s_shape, BatchShape(in, {p}));
    TARE_ASSIGN_OR_RETURN(Shape u_shape, BatchShape(in, {x.m, u_columns}));
    TARE_ASSIGN_OR_RETURN(Shape v_shape, BatchShape(in, {x.n, v_columns}));
    if (!vectors) u_shape = v_shape = Shape{};
    TARE_ASSIGN_OR_RETURN(Tensor * s, c.Output(0, in.dtype(), s_shape));
    TARE_ASSIGN_OR_RETURN(Tensor * u, c.Output(1, in.dtype(), u_shape));
    TARE_ASSIGN_OR_RETURN(Tensor * v, c.Output(2, in.dtype(), v_shape));
    if (!vectors) {
      std::memset(u->mutable_raw(), 0, u->bytes());
      std::memset(v->mutable_raw(), 0, v->bytes());
    }
    return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() {
      for (int64_t b = 0; b < x.batch && (p > 0 || (vectors && full)); ++b) {
        T* uu = vectors ? u->mutable_data<T>() + b * x.m * u_columns : nullptr;
        T* vv = vectors ? v->mutable_data<T>() + b * x.n * v_columns : nullptr;
        One(in.data<T>() + b * x.m * x.n, x, s->mutable_data<T>() + b * p, uu, vv);
      }
      return OkStatus();
    });
  }

  // A wide matrix is decomposed by its adjoint, with u and v exchanged.
  template <class T>
  void One(const T* in, const Matrices& x, T* s, T* u, T* v) const {
    const bool wide = x.m < x.n;
    const int64_t m = wide ? x.n : x.m, n = wide ? x.m : x.n;
    std::vector<T> a(static_cast<size_t>(m * n));
    if (wide) math::Adjoint(in, x.m, x.n, a.data());
    else std::copy_n(in, m * n, a.data());
    std::vector<math::Real<T>> values(static_cast<size_t>(n));
    math::SingularValues(a.data(), m, n, values.data(), wide ? v : u, full ? m : n, wide ? u : v);
    std::ranges::transform(values, s, [](auto value) { return T(value); });
  }
  bool vectors, full;
};

struct SelfAdjointEig {
  explicit SelfAdjointEig(AttrReader& a) : vectors(a.Bool("compute_v")) {}
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    TARE_ASSIGN_OR_RETURN(Matrices x, Matrices::Square(in));
    TARE_ASSIGN_OR_RETURN(Shape shape, BatchShape(in, {x.n}));
    TARE_ASSIGN_OR_RETURN(Tensor * e, c.Output(0, in.dtype(), shape));
    TARE_ASSIGN_OR_RETURN(Tensor * v, c.Output(1, in.dtype(), vectors ? in.shape() : Shape{}));
    if (!vectors) std::memset(v->mutable_raw(), 0, v->bytes());
    return ForType(LinalgTypes{}, in.dtype(), [&]<class T>() {
      const auto size = static_cast<int64_t>(x.size());
      std::vector<T> a(x.size());
      std::vector<math::Real<T>> values(x.batch > 0 ? static_cast<size_t>(x.n) : 0);
      for (int64_t b = 0; b < x.batch && x.n > 0; ++b) {
        std::copy_n(in.data<T>() + b * size, size, a.data());
        math::EigenHermitian(a.data(), x.n, values.data(), vectors ? v->mutable_data<T>() + b * size : nullptr);
        std::ranges::transform(values, e->mutable_data<T>() + b * x.n, [](auto value) { return T(value); });
      }
      return OkStatus();
    });
  }
  bool vectors;
};

constexpr KernelRow kRows[] = {
    Op<Cholesky>("Cholesky"),
    Op<Determinant<true>>("LogMatrixDeterminant"),
    Op<Determinant<false>>("MatrixDeterminant"),
    Op<MatrixInverse>("MatrixInverse"),
    Op<MatrixSolve>("MatrixSolve"),
    Op<TriangularSolve>("MatrixTriangularSolve"),
    Op<Qr>("Qr"),
    Op<SelfAdjointEig>("SelfAdjointEigV2"),
    Op<Svd>("Svd"),
};

}  // namespace
extern constinit const KernelFamily kLinalgKernels = kRows;
}  // namespace tare
