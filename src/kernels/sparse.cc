// Sparse tensors, their form: to dense, order, shape, filling empty rows, slices, splits and joins.
// The values are only moved, so every dtype will do. Arithmetic is in sparse_math.cc, crosses in
// sparse_cross.cc.
#include <algorithm>
#include <cstring>

#include "kernels/registry.h"
#include "kernels/sparse_common.h"

namespace tare {

Result<Sparse> Sparse::Make(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2)
    return InvalidArgument("Sparse indices must be rank 2 but is rank {}", indices.rank());
  if (values.rank() != 1)
    return InvalidArgument("Sparse values must be rank 1 but is rank {}", values.rank());
  if (shape.rank() != 1)
    return InvalidArgument("Sparse shape must be rank 1 but is rank {}", shape.rank());
  if (indices.dim(0) != values.dim(0)) {
    return InvalidArgument("Number of elements in indices ({}) and values ({}) do not match",
                           indices.dim(0), values.dim(0));
  }
  if (indices.dim(1) != shape.dim(0)) {
    return InvalidArgument("Index rank ({}) and shape rank ({}) do not match", indices.dim(1),
                           shape.dim(0));
  }
  TARE_RETURN_IF_ERROR(Shape::Make(shape.as<int64_t>()).status());
  return Sparse{&indices, &values, shape.as<int64_t>()};
}

int Sparse::Compare(int64_t i, const Sparse& o, int64_t j) const {
  auto order =
      std::lexicographical_compare_three_way(at(i), at(i) + rank(), o.at(j), o.at(j) + rank());
  return order < 0 ? -1 : order > 0;
}

bool Sparse::InBounds(int64_t i) const {
  for (int d = 0; d < rank(); ++d) {
    if (at(i)[d] < 0 || at(i)[d] >= dims[d]) return false;
  }
  return true;
}

Status Sparse::CheckBounds() const {
  for (int64_t i = 0; i < size(); ++i) {
    if (InBounds(i)) continue;
    return InvalidArgument("indices[{}] = {} is out of bounds: need 0 <= index < {}", i,
                           IndexString({at(i), dims.size()}), IndexString(dims));
  }
  return OkStatus();
}

std::vector<int64_t> Sparse::SortedOrder() const {
  std::vector<int64_t> order(static_cast<size_t>(size()));
  std::iota(order.begin(), order.end(), 0);
  auto before = [&](int64_t a, int64_t b) { return Compare(a, *this, b) < 0; };
  if (!std::ranges::is_sorted(order, before)) std::ranges::stable_sort(order, before);
  return order;
}

std::string IndexString(std::span<const int64_t> index) {
  std::string s = "[";
  for (size_t i = 0; i < index.size(); ++i) s += (i ? "," : "") + std::to_string(index[i]);
  return s + "]";
}

Status OutputVector(KernelCall& c, int i, std::span<const int64_t> values) {
  TARE_ASSIGN_OR_RETURN(Tensor * out,
                        c.Output(i, DType::kInt64, {static_cast<int64_t>(values.size())}));
  std::ranges::copy(values, out->mutable_data<int64_t>());
  return OkStatus();
}

namespace {

struct ToDense {
  explicit ToDense(AttrReader& a) : validate(a.Bool("validate_indices")) {}

  Status Run(KernelCall& c) const {
    const Tensor &indices = c.input(0), &shape = c.input(1), &values = c.input(2),
                 &fill = c.input(3);
    if (indices.rank() > 2) {
      return InvalidArgument("sparse_indices should be a scalar, vector, or matrix, got shape {}",
                             indices.shape().ToString());
    }
    const int64_t n = indices.rank() > 0 ? indices.dim(0) : 1,
                  rank = indices.rank() > 1 ? indices.dim(1) : 1;
    if (shape.rank() != 1)
      return InvalidArgument("output_shape must be rank 1, got shape {}", shape.shape().ToString());
    if (shape.dim(0) != rank) {
      return InvalidArgument("output_shape has incorrect number of elements: {} should be: {}",
                             shape.dim(0), rank);
    }
    if (values.rank() > 1 || (values.rank() == 1 && values.dim(0) != n)) {
      return InvalidArgument("sparse_values has incorrect shape {}, should be [] or [{}]",
                             values.shape().ToString(), n);
    }
    if (fill.rank() != 0) return InvalidArgument("default_value should be a scalar.");
    std::array<int64_t, kMaxRank> dims_space;
    TARE_ASSIGN_OR_RETURN(auto dims, IntValues(shape, dims_space));
    TARE_ASSIGN_OR_RETURN(Shape dense, Shape::Make(dims));
    std::vector<int64_t> index_space(
        indices.dtype() == DType::kInt32 ? static_cast<size_t>(n * rank) : 0);
    TARE_ASSIGN_OR_RETURN(auto index, IntValues(indices, index_space));
    std::vector<int64_t> offsets;
    TARE_RETURN_IF_ERROR(Offsets(index, dims, n, &offsets));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, fill.dtype(), dense));
    if (IsPlain(fill.dtype())) {
      TARE_RETURN_IF_ERROR(ForSize(fill.dtype(), [&]<class T>() {
        std::fill_n(static_cast<T*>(out->mutable_raw()), out->num_elements(),
                    *static_cast<const T*>(fill.raw()));
        return OkStatus();
      }));
    } else {
      for (int64_t i = 0; i < out->num_elements(); ++i) CopyElement(fill, 0, out, i);
    }
    for (int64_t i = 0; i < n; ++i)
      CopyElement(values, values.rank() == 0 ? 0 : i, out, offsets[i]);
    return OkStatus();
  }

 private:
  Status Offsets(std::span<const int64_t> index, std::span<const int64_t> dims, int64_t n,
                 std::vector<int64_t>* offsets) const {
    const size_t rank = dims.size();
    offsets->reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      auto at = index.subspan(static_cast<size_t>(i) * rank, rank);
      int64_t offset = 0;
      for (size_t d = 0; d < rank; ++d) {
        if (at[d] < 0 || at[d] >= dims[d]) {
          return InvalidArgument("indices[{}] = {} is out of bounds: need 0 <= index < {}", i,
                                 IndexString(at), IndexString(dims));
        }
        offset = offset * dims[d] + at[d];
      }
      if (validate && i > 0 && offset <= offsets->back()) {
        if (offset == offsets->back())
          return InvalidArgument("indices[{}] = {} is repeated", i, IndexString(at));
        return InvalidArgument(
            "indices[{}] = {} is out of order. Many sparse ops require sorted indices.\n    Use "
            "`tf.sparse.reorder` to create a correctly ordered copy.\n\n",
            i, IndexString(at));
      }
      offsets->push_back(offset);
    }
    return OkStatus();
  }
  bool validate;
};

Status Reorder(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c, 0));
  std::vector<int64_t> order = s.SortedOrder();
  TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(0, DType::kInt64, c.input(0).shape()));
  TARE_ASSIGN_OR_RETURN(Tensor * values, c.Output(1, c.input(1).dtype(), c.input(1).shape()));
  for (int64_t i = 0; i < s.size(); ++i) {
    std::copy_n(s.at(order[i]), s.rank(), indices->mutable_data<int64_t>() + i * s.rank());
    CopyElement(*s.values, order[i], values, i);
  }
  return OkStatus();
}

// The new shape with its -1 worked out.
Result<std::vector<int64_t>> TargetShape(std::span<const int64_t> from,
                                         std::span<const int64_t> to) {
  for (int64_t d : from) {
    if (d < 0) return InvalidArgument("Expected shape dimensions to be non-negative, got {}", d);
  }
  TARE_ASSIGN_OR_RETURN(Shape old, Shape::Make(from));
  const int64_t total = old.num_elements();
  std::vector<int64_t> dims(to.begin(), to.end());
  int unknown = -1;
  int64_t known = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == -1) {
      if (unknown >= 0)
        return InvalidArgument("only one output dimension may be -1, not both {} and {}", unknown,
                               d);
      unknown = static_cast<int>(d);
      dims[d] = 1;
    } else if (dims[d] < 0) {
      return InvalidArgument("size {} must be non-negative, not {}", d, dims[d]);
    }
  }
  TARE_ASSIGN_OR_RETURN(Shape target, Shape::Make(dims));
  known = target.num_elements();
  if (unknown >= 0) {
    if (known == 0) {
      return InvalidArgument(
          "reshape cannot infer the missing input size for an empty tensor unless all specified "
          "input sizes are non-zero");
    }
    dims[unknown] = total / known;
    if (dims[unknown] * known != total) {
      return InvalidArgument(
          "Input to reshape is a SparseTensor with {} dense values, but the requested shape "
          "requires a multiple of {}. input_shape={} output_shape={}",
          total, known, old.ToString(), target.ToString());
    }
  } else if (known != total) {
    return InvalidArgument(
        "Input to reshape is a tensor with {} dense values, but the requested shape has {}. "
        "input_shape={} output_shape={}",
        total, known, old.ToString(), target.ToString());
  }
  return dims;
}

Status Reshape(KernelCall& c) {
  const Tensor &indices = c.input(0), &old_shape = c.input(1), &new_shape = c.input(2);
  if (indices.rank() != 2) return InvalidArgument("Input must be a matrix.");
  if (old_shape.rank() != 1 || new_shape.rank() != 1) {
    return InvalidArgument("Target shape should be a vector but received shape {}",
                           new_shape.shape().ToString());
  }
  if (indices.dim(1) != old_shape.dim(0)) {
    return InvalidArgument("Input tensor rank must match input shape length.");
  }
  auto from = old_shape.as<int64_t>();
  TARE_ASSIGN_OR_RETURN(std::vector<int64_t> to, TargetShape(from, new_shape.as<int64_t>()));
  TARE_RETURN_IF_ERROR(OutputVector(c, 1, to));
  if (std::ranges::equal(from, to)) {
    c.SetOutput(0, indices);
    return OkStatus();
  }
  const auto rank = static_cast<int64_t>(to.size());
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt64, {indices.dim(0), rank}));
  const int64_t* in = indices.data<int64_t>();
  int64_t* index = out->mutable_data<int64_t>();
  for (int64_t i = 0; i < indices.dim(0); ++i, in += from.size(), index += rank) {
    uint64_t offset = 0;  // indices out of bounds wrap, as TensorFlow lets them pass
    for (size_t d = 0; d < from.size(); ++d) {
      offset = offset * static_cast<uint64_t>(from[d]) + static_cast<uint64_t>(in[d]);
    }
    auto rest = static_cast<int64_t>(offset);
    for (int64_t d = rank - 1; d > 0; --d) {
      index[d] = to[d] > 0 ? rest % to[d] : 0;
      rest = to[d] > 0 ? rest / to[d] : 0;
    }
    if (rank > 0) index[0] = rest;
  }
  return OkStatus();
}

Status FillEmptyRows(KernelCall& c) {
  const Tensor& fill = c.input(3);
  if (fill.rank() != 0)
    return InvalidArgument("default_value must be a scalar, saw: {}", fill.shape().ToString());
  TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c, 0));
  if (s.rank() == 0) return InvalidArgument("Dense shape cannot be empty.");
  const int64_t rows = s.dims[0], n = s.size();
  if (rows == 0 && n > 0) {
    return InvalidArgument(
        "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {}", n);
  }
  TARE_ASSIGN_OR_RETURN(Tensor * empty, c.Output(2, DType::kBool, {rows}));
  // Elements of each row, then where its next one goes.
  TARE_ASSIGN_OR_RETURN(Tensor next_of, c.Temp(DType::kInt64, {rows}));
  int64_t* next = next_of.mutable_data<int64_t>();
  std::fill_n(next, rows, 0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t row = s.at(i)[0];
    if (row < 0 || row >= rows)
      return InvalidArgument("indices({}, 0) is invalid: {} >= {}", i, row, rows);
    ++next[row];
  }
  int64_t total = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t count = next[r];
    empty->mutable_data<bool>()[r] = count == 0;
    next[r] = total;
    total += std::max<int64_t>(count, 1);
  }
  TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(0, DType::kInt64, {total, s.rank()}));
  TARE_ASSIGN_OR_RETURN(Tensor * values, c.Output(1, fill.dtype(), {total}));
  TARE_ASSIGN_OR_RETURN(Tensor * moved_to, c.Output(3, DType::kInt64, {n}));
  int64_t* index = indices->mutable_data<int64_t>();
  for (int64_t r = 0; r < rows; ++r) {
    if (!empty->data<bool>()[r]) continue;
    std::fill_n(index + next[r] * s.rank(), s.rank(), 0);
    index[next[r] * s.rank()] = r;
    CopyElement(fill, 0, values, next[r]);
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t to = next[s.at(i)[0]]++;
    std::copy_n(s.at(i), s.rank(), index + to * s.rank());
    CopyElement(*s.values, i, values, to);
    moved_to->mutable_data<int64_t>()[i] = to;
  }
  return OkStatus();
}

// Elements of `s`, by number, with indices that `shift` changes, as outputs of a sparse tensor.
template <class F>
Status OutputPicked(KernelCall& c, int indices_output, int values_output, const Sparse& s,
                    const std::vector<int64_t>& picked, F shift) {
  auto n = static_cast<int64_t>(picked.size());
  TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(indices_output, DType::kInt64, {n, s.rank()}));
  TARE_ASSIGN_OR_RETURN(Tensor * values, c.Output(values_output, s.values->dtype(), {n}));
  for (int64_t i = 0; i < n; ++i) {
    int64_t* index = indices->mutable_data<int64_t>() + i * s.rank();
    std::copy_n(s.at(picked[i]), s.rank(), index);
    shift(index);
    CopyElement(*s.values, picked[i], values, i);
  }
  return OkStatus();
}

Status Slice(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c, 0));
  const Tensor &start = c.input(3), &size = c.input(4);
  for (auto [t, name] : {std::pair{&start, "start"}, std::pair{&size, "size"}}) {
    if (t->rank() != 1 || t->dim(0) != s.rank()) {
      return InvalidArgument("Expected {} to be a vector of length {} but got length {}", name,
                             s.rank(), t->num_elements());
    }
  }
  auto begin = start.as<int64_t>(), length = size.as<int64_t>();
  std::vector<int64_t> end, dims;
  for (int d = 0; d < s.rank(); ++d) {
    if (length[d] < 0) return InvalidArgument("Expected a non-negative size, got {}", length[d]);
    int64_t stop = s.dims[d];
    if (int64_t sum; !__builtin_add_overflow(begin[d], length[d], &sum)) stop = std::min(stop, sum);
    end.push_back(stop);
    // As TensorFlow has it: a start below zero still gives the whole size.
    dims.push_back(
        begin[d] < s.dims[d] ? std::min(length[d], s.dims[d] - std::max<int64_t>(begin[d], 0)) : 0);
  }
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < s.size(); ++i) {
    bool in = true;
    for (int d = 0; d < s.rank(); ++d) in = in && s.at(i)[d] >= begin[d] && s.at(i)[d] < end[d];
    if (in) picked.push_back(i);
  }
  TARE_RETURN_IF_ERROR(OutputVector(c, 2, dims));
  return OutputPicked(c, 0, 1, s, picked, [&](int64_t* index) {
    for (int d = 0; d < s.rank(); ++d) {
      index[d] =
          static_cast<int64_t>(static_cast<uint64_t>(index[d]) - static_cast<uint64_t>(begin[d]));
    }
  });
}

struct Split {
  explicit Split(AttrReader& a) : parts(a.Int("num_split")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c, 1));
    if (c.input(0).num_elements() != 1) return InvalidArgument("split_dim must be a scalar");
    const int64_t given = c.input(0).scalar<int64_t>(), rank = s.rank();
    if (given < -rank || given >= rank) {
      return InvalidArgument("Input axis should be in range [{}, {}), got {}", -rank, rank, given);
    }
    const int64_t axis = given < 0 ? given + rank : given, size = s.dims[axis];
    if (parts < 1 || parts > size) {
      return InvalidArgument(
          "Input num_split should be between 1 and the splitting dimension size ({}), got {}", size,
          parts);
    }
    TARE_RETURN_IF_ERROR(s.CheckBounds());
    // The first size % parts pieces are one longer than the others.
    const int64_t step = size / parts, longer = size % parts;
    auto start = [&](int64_t p) { return p * step + std::min(p, longer); };
    std::vector<std::vector<int64_t>> picked(static_cast<size_t>(parts));
    for (int64_t i = 0; i < s.size(); ++i) {
      int64_t at = s.at(i)[axis], edge = longer * (step + 1);
      picked[at < edge ? at / (step + 1) : longer + (at - edge) / step].push_back(i);
    }
    std::vector<int64_t> dims(s.dims.begin(), s.dims.end());
    for (int64_t p = 0; p < parts; ++p) {
      auto o = static_cast<int>(p), n = static_cast<int>(parts);
      TARE_RETURN_IF_ERROR(OutputPicked(c, o, n + o, s, picked[p],
                                        [&](int64_t* index) { index[axis] -= start(p); }));
      dims[axis] = start(p + 1) - start(p);
      TARE_RETURN_IF_ERROR(OutputVector(c, 2 * n + o, dims));
    }
    return OkStatus();
  }
  int64_t parts;
};

struct Concat {
  explicit Concat(AttrReader& a) : n(static_cast<int>(a.Int("N"))), given(a.Int("concat_dim")) {}

  Status Run(KernelCall& c) const {
    std::vector<Sparse> parts;
    int64_t total = 0;
    for (int i = 0; i < n; ++i) {
      TARE_ASSIGN_OR_RETURN(Sparse s, Sparse::Make(c.input(i), c.input(n + i), c.input(2 * n + i)));
      parts.push_back(s);
      total += s.size();
    }
    const int64_t rank = parts[0].rank();
    if (given < -rank || given >= rank) {
      return InvalidArgument("Concat dimension must be in range [{}, {}), got {}", -rank, rank,
                             given);
    }
    const int64_t axis = given < 0 ? given + rank : given;
    TARE_ASSIGN_OR_RETURN(std::vector<int64_t> dims, JoinedShape(parts, axis));
    TARE_RETURN_IF_ERROR(OutputVector(c, 2, dims));
    // Joined end to end, then put in order.
    TARE_ASSIGN_OR_RETURN(Tensor joined, c.Temp(DType::kInt64, {total, rank}));
    std::vector<std::pair<int, int64_t>> source;
    int64_t* index = joined.mutable_data<int64_t>();
    int64_t offset = 0;
    for (int p = 0; p < n; ++p) {
      for (int64_t i = 0; i < parts[p].size(); ++i, index += rank) {
        std::copy_n(parts[p].at(i), rank, index);
        index[axis] = static_cast<int64_t>(static_cast<uint64_t>(index[axis]) +
                                           static_cast<uint64_t>(offset));
        source.push_back({p, i});
      }
      offset += parts[p].dims[axis];
    }
    Sparse all{&joined, nullptr, dims};
    std::vector<int64_t> order = all.SortedOrder();
    TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(0, DType::kInt64, {total, rank}));
    TARE_ASSIGN_OR_RETURN(Tensor * values, c.Output(1, c.input(n).dtype(), {total}));
    for (int64_t i = 0; i < total; ++i) {
      std::copy_n(all.at(order[i]), rank, indices->mutable_data<int64_t>() + i * rank);
      auto [p, element] = source[order[i]];
      CopyElement(*parts[p].values, element, values, i);
    }
    return OkStatus();
  }

 private:
  static Result<std::vector<int64_t>> JoinedShape(const std::vector<Sparse>& parts, int64_t axis) {
    std::vector<int64_t> dims(parts[0].dims.begin(), parts[0].dims.end());
    for (size_t p = 1; p < parts.size(); ++p) {
      if (parts[p].rank() != parts[0].rank()) {
        return InvalidArgument(
            "Ranks of all input tensors must match: expected {} but got {} at position {}",
            parts[0].rank(), parts[p].rank(), p);
      }
      for (int64_t d = 0; d < parts[p].rank(); ++d) {
        if (d == axis) {
          if (__builtin_add_overflow(dims[d], parts[p].dims[d], &dims[d]))
            return InvalidArgument("the shape overflows");
        } else if (parts[p].dims[d] != dims[d]) {
          return InvalidArgument(
              "Input shapes must match: expected {} for dimension {} but got {} at position {}",
              dims[d], d, parts[p].dims[d], p);
        }
      }
    }
    TARE_RETURN_IF_ERROR(Shape::Make(dims).status());
    return dims;
  }
  int n;
  int64_t given;
};

constexpr KernelRow kRows[] = {
    Op<Concat>("SparseConcat"),   Op<FillEmptyRows>("SparseFillEmptyRows"),
    Op<Reorder>("SparseReorder"), Op<Reshape>("SparseReshape"),
    Op<Slice>("SparseSlice"),     Op<Split>("SparseSplit"),
    Op<ToDense>("SparseToDense"),
};

}  // namespace
extern constinit const KernelFamily kSparseKernels = kRows;
}  // namespace tare
