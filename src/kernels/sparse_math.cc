// Sparse tensors, arithmetic: products and sums with dense and sparse tensors, reductions, softmax.
#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "kernels/combine.h"
#include "kernels/registry.h"
#include "kernels/sparse_common.h"

namespace tare {
namespace {

// What sums of T are gathered in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
T Conjugate(T x) {
  if constexpr (requires { x.imag(); }) return std::conj(x);
  else return x;
}

struct DenseMatMul {
  explicit DenseMatMul(AttrReader& a)
      : adjoint_a(a.Bool("adjoint_a")), adjoint_b(a.Bool("adjoint_b")) {}

  Status Run(KernelCall& c) const {
    const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &b = c.input(3);
    if (b.rank() != 2) return InvalidArgument("Tensor 'b' is not a matrix");
    if (shape.rank() != 1 || shape.dim(0) != 2)
      return InvalidArgument("Tensor 'a_shape' must have 2 elements");
    if (values.rank() != 1) return InvalidArgument("Tensor 'a_values' is not a vector");
    if (indices.rank() != 2) return InvalidArgument("Tensor 'a_indices' is not a matrix");
    if (indices.dim(0) != values.dim(0)) {
      return InvalidArgument(
          "Number of rows of a_indices does not match number of entries in a_values");
    }
    if (indices.dim(1) != 2)
      return InvalidArgument(
          "Number of columns of a_indices does not match number of entries in a_shape");
    auto a = shape.as<int64_t>();
    TARE_RETURN_IF_ERROR(Shape::Make(a).status());
    const int64_t rows = a[adjoint_a], inner = a[!adjoint_a];
    const int64_t b_inner = b.dim(adjoint_b), columns = b.dim(!adjoint_b);
    if (inner != b_inner) {
      return InvalidArgument(
          "Cannot multiply A and B because inner dimension does not match: {} vs. {}.  Did you "
          "forget a transpose?  "
          "Dimensions of A: [{}, {}).  Dimensions of B: {}",
          inner, b_inner, a[0], a[1], b.shape().ToString());
    }
    std::vector<int64_t> space(
        indices.dtype() == DType::kInt32 ? static_cast<size_t>(indices.num_elements()) : 0);
    TARE_ASSIGN_OR_RETURN(auto index, IntValues(indices, space));
    const int64_t n = values.dim(0);
    for (int64_t i = 0; i < n; ++i) {
      int64_t m = index[2 * i + adjoint_a], k = index[2 * i + !adjoint_a];
      if (k < 0 || k >= inner)
        return InvalidArgument("k ({}) from index[{},{}] out of bounds (>={})", k, i, !adjoint_a,
                               inner);
      if (m < 0 || m >= rows)
        return InvalidArgument("m ({}) from index[{},{}] out of bounds (>={})", m, i, adjoint_a,
                               rows);
    }
    const int64_t out_dims[] = {rows, columns};
    TARE_ASSIGN_OR_RETURN(Shape out_shape, Shape::Make(out_dims));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, b.dtype(), out_shape));
    return ForType(Join<Floats, Join<Complexes, Types<int32_t, int64_t>>>{}, b.dtype(),
                   [&]<class T>() {
                     std::vector<Sum<T>> sums;
                     Sum<T>* to;
                     if constexpr (std::is_same_v<T, Sum<T>>) {
                       to = out->mutable_data<T>();
                       std::fill_n(to, rows * columns, T{});
                     } else {
                       sums.resize(static_cast<size_t>(rows * columns));
                       to = sums.data();
                     }
                     for (int64_t i = 0; i < n; ++i) {
                       AddRow<T>(values.data<T>()[i], index[2 * i + !adjoint_a], b, columns,
                                 to + index[2 * i + adjoint_a] * columns);
                     }
                     if constexpr (!std::is_same_v<T, Sum<T>>)
                       std::ranges::copy(sums, out->mutable_data<T>());
                     return OkStatus();
                   });
  }

 private:
  // Adds `a` times row k of b to a row of the product.
  template <class T>
  void AddRow(T a, int64_t k, const Tensor& b, int64_t columns, Sum<T>* to) const {
    if (adjoint_a) a = Conjugate(a);
    const T* from = b.data<T>();
    auto factor = static_cast<Sum<T>>(a);
    if (adjoint_b) {
      const int64_t inner = b.dim(1);
      for (int64_t j = 0; j < columns; ++j) {
        to[j] = math::Add(to[j],
                          math::Mul(factor, static_cast<Sum<T>>(Conjugate(from[j * inner + k]))));
      }
    } else {
      from += k * columns;
      for (int64_t j = 0; j < columns; ++j)
        to[j] = math::Add(to[j], math::Mul(factor, static_cast<Sum<T>>(from[j])));
    }
  }
  bool adjoint_a, adjoint_b;
};

// The values of a sparse tensor with those of a dense one, broadcast to its shape, at the same
// places.
template <class Combine>
Status WithDense(KernelCall& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2),
               &dense = c.input(3);
  if (indices.rank() != 2 || values.rank() != 1 || shape.rank() != 1) {
    return InvalidArgument(
        "Inputs sp_indices, sp_values and sp_shape should be a matrix and two vectors");
  }
  TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c, 0));
  const int lead = s.rank() - dense.rank();
  bool fits = lead >= 0;
  for (int d = 0; fits && d < dense.rank(); ++d)
    fits = dense.dim(d) == s.dims[lead + d] || dense.dim(d) == 1;
  if (!fits) {
    return InvalidArgument(
        "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: {} "
        "vs. {}",
        IndexString(s.dims), dense.shape().ToString());
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, values.dtype(), values.shape()));
  return ForType(Numbers{}, values.dtype(), [&]<class T>() -> Status {
    for (int64_t i = 0; i < s.size(); ++i) {
      if (!s.InBounds(i)) {
        return InvalidArgument(
            "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape");
      }
      int64_t offset = 0;
      for (int d = 0; d < dense.rank(); ++d) {
        offset = offset * dense.dim(d) + (dense.dim(d) == 1 ? 0 : s.at(i)[lead + d]);
      }
      T by = dense.data<T>()[offset];
      if constexpr (std::is_same_v<Combine, Over> && std::is_integral_v<T>) {
        if (by == 0) return InvalidArgument("Integer division by zero");
      }
      out->mutable_data<T>()[i] = Combine()(values.data<T>()[i], by);
    }
    return OkStatus();
  });
}

Status AddToDense(KernelCall& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2),
               &dense = c.input(3);
  if (indices.rank() != 2 || values.rank() != 1 || shape.rank() != 1) {
    return InvalidArgument(
        "Input a_indices, a_values and a_shape should be a matrix and two vectors");
  }
  if (values.dim(0) != indices.dim(0)) {
    return InvalidArgument("Dimensions {} and {} are not compatible", indices.dim(0),
                           values.dim(0));
  }
  if (shape.dim(0) != indices.dim(1) || shape.dim(0) != dense.rank()) {
    return InvalidArgument(
        "Three dimensions should be equal: a_indices.dim(1), a_shape, b.rank: {}, {}, {}",
        indices.dim(1), shape.dim(0), dense.rank());
  }
  std::array<int64_t, kMaxRank> dims_space;
  TARE_ASSIGN_OR_RETURN(auto dims, IntValues(shape, dims_space));
  for (int d = 0; d < dense.rank(); ++d) {
    if (dims[d] == dense.dim(d)) continue;
    return InvalidArgument(
        "Dimension {} does not equal (no broadcasting is supported): sparse side {} vs dense side "
        "{}",
        d, dims[d], dense.dim(d));
  }
  std::vector<int64_t> space(
      indices.dtype() == DType::kInt32 ? static_cast<size_t>(indices.num_elements()) : 0);
  TARE_ASSIGN_OR_RETURN(auto index, IntValues(indices, space));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dense.dtype(), dense.shape()));
  CopyElements(dense.dtype(), dense.raw(), out->mutable_raw(),
               static_cast<size_t>(dense.num_elements()));
  return ForType(Numbers{}, dense.dtype(), [&]<class T>() -> Status {
    for (int64_t i = 0; i < values.dim(0); ++i) {
      int64_t offset = 0;
      for (int d = 0; d < dense.rank(); ++d) {
        int64_t at = index[i * dense.rank() + d];
        if (at < 0 || at >= dense.dim(d)) {
          return InvalidArgument(
              "Sparse tensor has an invalid index on dimension {}: a_indices({},{}) = {}", d, i, d,
              at);
        }
        offset = offset * dense.dim(d) + at;
      }
      T& to = out->mutable_data<T>()[offset];
      to = math::Add(to, values.data<T>()[i]);
    }
    return OkStatus();
  });
}

Status CheckSameShape(const Sparse& a, const Sparse& b) {
  if (a.rank() != b.rank()) {
    return InvalidArgument("Operands should have the same ranks; got shapes: {} and {}",
                           IndexString(a.dims), IndexString(b.dims));
  }
  for (int d = 0; d < a.rank(); ++d) {
    if (a.dims[d] == b.dims[d]) continue;
    return InvalidArgument("Operands' shapes do not match: got {} and {} for dimension {}",
                           a.dims[d], b.dims[d], d);
  }
  return OkStatus();
}

// Merges two sorted sparse tensors. keep(i, j) gives a value or nothing for elements i of a and j
// of b at one place, or -1 for the one that is not there.
template <class T, class F>
Status Merge(KernelCall& c, const Sparse& a, const Sparse& b, F keep) {
  std::vector<const int64_t*> index;
  std::vector<T> values;
  for (int64_t i = 0, j = 0; i < a.size() || j < b.size();) {
    int order = i == a.size() ? 1 : j == b.size() ? -1 : a.Compare(i, b, j);
    std::optional<T> value = keep(order <= 0 ? i : -1, order >= 0 ? j : -1);
    if (value) {
      index.push_back(order <= 0 ? a.at(i) : b.at(j));
      values.push_back(*value);
    }
    i += order <= 0;
    j += order >= 0;
  }
  auto n = static_cast<int64_t>(values.size());
  TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(0, DType::kInt64, {n, a.rank()}));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(1, DTypeOf<T>::value, {n}));
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(index[i], a.rank(), indices->mutable_data<int64_t>() + i * a.rank());
  std::ranges::copy(values, out->mutable_data<T>());
  return OkStatus();
}

Status Add(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Sparse a, Sparse::Make(c, 0));
  TARE_ASSIGN_OR_RETURN(Sparse b, Sparse::Make(c, 3));
  TARE_RETURN_IF_ERROR(CheckSameShape(a, b));
  const Tensor& threshold = c.input(6);
  if (threshold.rank() != 0) {
    return InvalidArgument("The magnitude threshold must be a scalar: got shape {}",
                           threshold.shape().ToString());
  }
  TARE_RETURN_IF_ERROR(OutputVector(c, 2, a.dims));
  return ForType(Numbers{}, a.values->dtype(), [&]<class T>() -> Status {
    using Real = decltype([] {
      if constexpr (requires { T().imag(); })
        return T().real();
      else
        return T();
    }());
    if (threshold.dtype() != DTypeOf<Real>::value)
      return InvalidArgument("thresh must be of type {}", DTypeName(DTypeOf<Real>::value));
    const Real least = threshold.scalar<Real>();
    const T *x = a.values->data<T>(), *y = b.values->data<T>();
    // Only sums are held to the threshold: an element that is in one operand alone is kept.
    return Merge<T>(c, a, b, [&](int64_t i, int64_t j) -> std::optional<T> {
      if (i < 0) return y[j];
      if (j < 0) return x[i];
      T sum = math::Add(x[i], y[j]);
      bool keep;
      if constexpr (requires { sum.imag(); })
        keep = least <= std::abs(sum);
      else
        keep = least <= (sum < T{} ? math::Neg(sum) : sum);
      return keep ? std::optional<T>(sum) : std::nullopt;
    });
  });
}

template <class Combine>
Status OfBoth(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Sparse a, Sparse::Make(c, 0));
  TARE_ASSIGN_OR_RETURN(Sparse b, Sparse::Make(c, 3));
  TARE_RETURN_IF_ERROR(CheckSameShape(a, b));
  return ForType(Reals{}, a.values->dtype(), [&]<class T>() {
    const T *x = a.values->data<T>(), *y = b.values->data<T>();
    return Merge<T>(c, a, b, [&](int64_t i, int64_t j) -> std::optional<T> {
      return Combine()(i < 0 ? T{} : x[i], j < 0 ? T{} : y[j]);
    });
  });
}

// SparseReduceSum, SparseReduceMax (to a dense tensor) and their ...Sparse forms.
template <class Combine>
struct Reduce {
  explicit Reduce(AttrReader& a)
      : keep_dims(a.Bool("keep_dims")), to_sparse(a.op().name.ends_with("Sparse")) {}

  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c, 0));
    const int rank = s.rank();
    std::vector<bool> reduced(static_cast<size_t>(rank));
    for (int32_t axis : c.input(3).as<int32_t>()) {
      if (axis < -rank || axis >= rank) {
        return InvalidArgument("Invalid reduction dimension {}, for input with {} dimensions.",
                               axis, rank);
      }
      reduced[axis < 0 ? axis + rank : axis] = true;
    }
    std::vector<int> kept;
    std::vector<int64_t> group_dims, out_dims;
    for (int d = 0; d < rank; ++d) {
      if (!reduced[d]) {
        kept.push_back(d);
        group_dims.push_back(s.dims[d]);
        out_dims.push_back(s.dims[d]);
      } else if (keep_dims) {
        out_dims.push_back(1);
      }
    }
    TARE_ASSIGN_OR_RETURN(Shape out_shape, Shape::Make(out_dims));
    std::vector<int64_t> groups(static_cast<size_t>(s.size()));
    for (int64_t i = 0; i < s.size(); ++i) {
      for (size_t k = 0; k < kept.size(); ++k) {
        int64_t at = s.at(i)[kept[k]];
        if (at < 0 || at >= group_dims[k]) {
          return InvalidArgument("indices[{}] = {} is out of bounds: need 0 <= index < {}", i,
                                 IndexString({s.at(i), s.dims.size()}), IndexString(s.dims));
        }
        groups[i] = groups[i] * group_dims[k] + at;
      }
    }
    return ForType(std::conditional_t<std::is_same_v<Combine, Plus>, Numbers, Reals>{},
                   s.values->dtype(), [&]<class T>() {
                     return to_sparse ? ToSparse<T>(c, s, groups, out_dims, reduced)
                                      : ToDense<T>(c, s, groups, out_shape);
                   });
  }

 private:
  template <class T>
  Status ToDense(KernelCall& c, const Sparse& s, const std::vector<int64_t>& groups,
                 const Shape& shape) const {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DTypeOf<T>::value, shape));
    T* to = out->mutable_data<T>();
    std::fill_n(to, out->num_elements(), T{});
    std::vector<bool> seen(static_cast<size_t>(out->num_elements()));
    for (int64_t i = 0; i < s.size(); ++i) {
      T value = s.values->data<T>()[i];
      to[groups[i]] = seen[groups[i]] ? Combine()(to[groups[i]], value) : value;
      seen[groups[i]] = true;
    }
    return OkStatus();
  }

  template <class T>
  Status ToSparse(KernelCall& c, const Sparse& s, const std::vector<int64_t>& groups,
                  const std::vector<int64_t>& dims, const std::vector<bool>& reduced) const {
    std::vector<int64_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int64_t i) { return groups[i]; });
    std::vector<T> values;
    std::vector<int64_t> first;  // an element of each group
    for (size_t k = 0; k < order.size(); ++k) {
      T value = s.values->data<T>()[order[k]];
      if (k > 0 && groups[order[k]] == groups[order[k - 1]]) {
        values.back() = Combine()(values.back(), value);
      } else {
        values.push_back(value);
        first.push_back(order[k]);
      }
    }
    auto n = static_cast<int64_t>(values.size()), rank = static_cast<int64_t>(dims.size());
    TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(0, DType::kInt64, {n, rank}));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(1, DTypeOf<T>::value, {n}));
    std::ranges::copy(values, out->mutable_data<T>());
    int64_t* index = indices->mutable_data<int64_t>();
    for (int64_t i : first) {
      for (int d = 0; d < s.rank(); ++d) {
        if (!reduced[d])
          *index++ = s.at(i)[d];
        else if (keep_dims)
          *index++ = 0;
      }
    }
    return OutputVector(c, 2, dims);
  }
  bool keep_dims, to_sparse;
};

// Over the elements of a row: those whose indices agree in all dimensions but the last.
Status Softmax(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c, 0));
  if (s.rank() < 2)
    return InvalidArgument("Input should have rank >= 2, but received shape: {}",
                           IndexString(s.dims));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, s.values->dtype(), s.values->shape()));
  return ForType(Floats{}, s.values->dtype(), [&]<class T>() {
    const T* in = s.values->data<T>();
    using F = std::conditional_t<std::is_same_v<T, double>, double, float>;
    for (int64_t begin = 0, end; begin < s.size(); begin = end) {
      end = begin + 1;
      F most = static_cast<F>(in[begin]), sum = 0;
      while (end < s.size() && std::equal(s.at(begin), s.at(begin) + s.rank() - 1, s.at(end))) {
        most = std::max(most, static_cast<F>(in[end++]));
      }
      for (int64_t i = begin; i < end; ++i) sum += std::exp(static_cast<F>(in[i]) - most);
      for (int64_t i = begin; i < end; ++i) {
        out->mutable_data<T>()[i] = static_cast<T>(std::exp(static_cast<F>(in[i]) - most) / sum);
      }
    }
    return OkStatus();
  });
}

constexpr KernelRow kRows[] = {
    Op<Add>("SparseAdd"),
    Op<WithDense<Plus>>("SparseDenseCwiseAdd"),
    Op<WithDense<Over>>("SparseDenseCwiseDiv"),
    Op<WithDense<Times>>("SparseDenseCwiseMul"),
    Op<Reduce<Larger>>("SparseReduceMax"),
    Op<Reduce<Larger>>("SparseReduceMaxSparse"),
    Op<Reduce<Plus>>("SparseReduceSum"),
    Op<Reduce<Plus>>("SparseReduceSumSparse"),
    Op<Softmax>("SparseSoftmax"),
    Op<OfBoth<Larger>>("SparseSparseMaximum"),
    Op<OfBoth<Smaller>>("SparseSparseMinimum"),
    Op<AddToDense>("SparseTensorDenseAdd"),
    Op<DenseMatMul>("SparseTensorDenseMatMul"),
};

}  // namespace
extern constinit const KernelFamily kSparseMathKernels = kRows;
}  // namespace tare
