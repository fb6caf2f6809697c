// Where values are: indices of true elements, distinct values, positions in sorted rows.
#include <limits>

#include "kernels/distinct.h"
#include "kernels/registry.h"

namespace tare {
namespace {

template <class T>
bool IsTrue(const T& v) {
  return v != T(0);
}

template <class T>
Status WhereOf(KernelCall& c) {
  const Tensor& in = c.input(0);
  const std::span<const T> values = in.as<T>();
  int64_t found = 0;
  for (const T& v : values) found += IsTrue(v);
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt64, Shape{found, in.rank()}));
  int64_t* to = out->mutable_data<int64_t>();
  if (found == 0) return OkStatus();
  if (in.rank() == 1) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (IsTrue(values[i])) *to++ = static_cast<int64_t>(i);
    }
    return OkStatus();
  }
  // Rows of the last dimension; the index before them changes once a row.
  const int last = in.rank() - 1;
  const int64_t n = in.dim(last), rows = in.shape().product(0, last);
  std::array<int64_t, kMaxRank> index{};
  const T* row = values.data();
  for (int64_t r = 0; r < rows; ++r, row += n) {
    for (int64_t i = 0; i < n; ++i) {
      if (!IsTrue(row[i])) continue;
      to = std::copy_n(index.begin(), last, to);
      *to++ = i;
    }
    for (int d = last - 1; d >= 0 && ++index[d] == in.dim(d); --d) index[d] = 0;
  }
  return OkStatus();
}

Status Where(KernelCall& c) {
  if (c.input(0).rank() < 1) return InvalidArgument("WhereOp : Unhandled input dimensions: 0");
  return ForType(Join<Numbers, Types<bool>>{}, c.input(0).dtype(), [&]<class T>() { return WhereOf<T>(c); });
}

// x as [outer, n, inner]: n items, compared as wholes.
template <class T>
struct Items {
  const T* x;
  int64_t outer, n, inner;

  uint64_t Hash(int64_t item) const {
    if (outer * inner == 1) return HashValue(x[item]);
    uint64_t h = 0;
    for (int64_t o = 0; o < outer; ++o) {
      const T* run = x + (o * n + item) * inner;
      for (int64_t i = 0; i < inner; ++i) h = (h ^ HashValue(run[i])) * 0x100000001b3;
    }
    return h ^ h >> 29;
  }
  bool Same(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o) {
      const T *run_a = x + (o * n + a) * inner, *run_b = x + (o * n + b) * inner;
      for (int64_t i = 0; i < inner; ++i) {
        if (!SameValue(run_a[i], run_b[i])) return false;
      }
    }
    return true;
  }
};

void StoreInt(Tensor& t, int64_t i, int64_t value) {
  if (t.dtype() == DType::kInt64) t.mutable_data<int64_t>()[i] = value;
  else t.mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
}

// Outputs 0 and 1: distinct items along `axis` and each item's number among them; 2, if wanted: how many
// of each.
Status UniqueAlong(KernelCall& c, int axis, DType index_type, bool with_counts) {
  const Tensor in = c.input(0);
  // Items without elements are all the same, however many rows hold none of them.
  const bool empty = in.num_elements() == 0;
  const int64_t n = in.dim(axis), outer = empty ? 0 : in.shape().product(0, axis);
  const int64_t inner = empty ? 0 : in.shape().product(axis + 1, in.rank());
  if (index_type == DType::kInt32 && n > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("unique does not support input tensors larger than {} elements",
                           std::numeric_limits<int32_t>::max());
  }
  TARE_ASSIGN_OR_RETURN(Tensor * idx, c.Output(1, index_type, Shape{n}));
  std::vector<int64_t> firsts, counts;
  TARE_RETURN_IF_ERROR(ForDistinct(in.dtype(), [&]<class T>() {
    Items<T> items{static_cast<const T*>(in.raw()), outer, n, inner};
    NumberTable table(n);
    for (int64_t i = 0; i < n; ++i) {
      const auto next = static_cast<int64_t>(firsts.size());
      const int64_t number = table.FindOrAdd(items.Hash(i), next, [&](int64_t k) { return items.Same(firsts[k], i); });
      if (number == next) {
        firsts.push_back(i);
        counts.push_back(0);
      }
      ++counts[number];
      StoreInt(*idx, i, number);
    }
    return OkStatus();
  }));
  const auto distinct = static_cast<int64_t>(firsts.size());
  Shape shape = in.shape();
  shape.set_dim(axis, distinct);
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  ForElement(in.dtype(), [&]<class T>() {
    const T* from = static_cast<const T*>(in.raw());
    T* to = static_cast<T*>(out->mutable_raw());
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < distinct; ++k, to += inner) CopyRun(from + (o * n + firsts[k]) * inner, to, inner);
    }
  });
  if (!with_counts) return OkStatus();
  TARE_ASSIGN_OR_RETURN(Tensor * count, c.Output(2, index_type, Shape{distinct}));
  for (int64_t k = 0; k < distinct; ++k) StoreInt(*count, k, counts[k]);
  return OkStatus();
}

template <bool kAxis, bool kCounts>
struct Unique {
  explicit Unique(AttrReader& a) : index_type(a.Type("out_idx")) {}
  Status Run(KernelCall& c) const {
    const int rank = c.input(0).rank();
    int64_t axis = 0;
    const bool has_axis = kAxis && c.input(1).num_elements() > 0;
    if (kAxis && (c.input(1).rank() != 1 || c.input(1).num_elements() > 1)) {
      return InvalidArgument("axis expects a 1D vector of at most one element, got shape {}",
                             c.input(1).shape().ToString());
    }
    if (!has_axis && rank != 1) return InvalidArgument("unique expects a 1D vector.");
    if (has_axis) {
      axis = Ints(c.input(1))[0];
      axis = axis < 0 ? axis + rank : axis;
      if (axis < 0 || axis >= rank) return InvalidArgument("axis has to be between [0, {})", rank);
    }
    return UniqueAlong(c, static_cast<int>(axis), index_type, kCounts);
  }
  DType index_type;
};

template <bool kUpper>
struct Bound {
  explicit Bound(AttrReader& a) : out_type(a.Type("out_type")) {}
  Status Run(KernelCall& c) const {
    const Tensor &sorted = c.input(0), &values = c.input(1);
    for (const Tensor* t : {&sorted, &values}) {
      if (t->rank() != 2) {
        return InvalidArgument("Shape must be rank 2 but is rank {} for `{}` argument", t->rank(),
                               t == &sorted ? "sorted_inputs" : "values");
      }
    }
    if (sorted.dim(0) != values.dim(0)) return InvalidArgument("Leading dim_size of both tensors must match.");
    const int64_t n = sorted.dim(1), m = values.dim(1);
    if (out_type == DType::kInt32 && n >= std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("trailing dim_size must less than INT_MAX for int32 output type, was {}", n);
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, out_type, values.shape()));
    return ForType(Join<Reals, Types<bool>>{}, sorted.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < values.num_elements(); ++i) {
        const T* row = sorted.data<T>() + i / m * n;
        const T& v = values.data<T>()[i];
        const T* at = kUpper ? std::upper_bound(row, row + n, v) : std::lower_bound(row, row + n, v);
        StoreInt(*out, i, at - row);
      }
      return OkStatus();
    });
  }
  DType out_type;
};

// What of x is not in y, in order, and where it was.
struct ListDiff {
  explicit ListDiff(AttrReader& a) : index_type(a.Type("out_idx")) {}
  Status Run(KernelCall& c) const {
    const Tensor &x = c.input(0), &y = c.input(1);
    if (x.rank() != 1) return InvalidArgument("x should be a 1D vector.");
    if (y.rank() != 1) return InvalidArgument("y should be a 1D vector.");
    if (index_type == DType::kInt32 && x.num_elements() > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("x too large for int32 indexing");
    }
    return ForDistinct(x.dtype(), [&]<class T>() -> Status {
      const T *from = static_cast<const T*>(x.raw()), *gone = static_cast<const T*>(y.raw());
      NumberTable table(y.num_elements());
      for (int64_t i = 0; i < y.num_elements(); ++i) {
        table.FindOrAdd(HashValue(gone[i]), i, [&](int64_t k) { return SameValue(gone[k], gone[i]); });
      }
      std::vector<int64_t> kept;
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        if (!table.Contains(HashValue(from[i]), [&](int64_t k) { return SameValue(gone[k], from[i]); })) kept.push_back(i);
      }
      const Shape shape{static_cast<int64_t>(kept.size())};
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), shape));
      TARE_ASSIGN_OR_RETURN(Tensor * idx, c.Output(1, index_type, shape));
      T* to = static_cast<T*>(out->mutable_raw());
      for (size_t k = 0; k < kept.size(); ++k) {
        PutElement(to[k], from[kept[k]]);
        StoreInt(*idx, static_cast<int64_t>(k), kept[k]);
      }
      return OkStatus();
    });
  }
  DType index_type;
};

Status UnravelIndex(KernelCall& c) {
  const Tensor &indices = c.input(0), &dims_tensor = c.input(1);
  if (dims_tensor.rank() != 1) {
    return InvalidArgument("The indices can only be 1-D, got \"{}\"", dims_tensor.shape().ToString());
  }
  if (indices.rank() > 1) {
    return InvalidArgument("The indices can only be scalar or vector, got \"{}\"", indices.shape().ToString());
  }
  if (indices.num_elements() == 0) return InvalidArgument("received empty tensor indices");
  Ints dims(dims_tensor), values(indices);
  const auto rank = static_cast<int64_t>(dims.size()), n = indices.num_elements();
  std::vector<int64_t> strides(dims.size());
  int64_t size = 1;
  const int64_t most = indices.dtype() == DType::kInt32 ? std::numeric_limits<int32_t>::max()
                                                        : std::numeric_limits<int64_t>::max();
  for (int64_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) {
      return InvalidArgument("Input dims cannot contain a dim of zero, but dims contains zero at index {}", i);
    }
    if (dims[i] < 0) return InvalidArgument("Input dims cannot be negative. Got dim = {} at index {}", dims[i], i);
  }
  for (int64_t i = rank - 1; i >= 0; --i) {
    strides[i] = size;
    if (__builtin_mul_overflow(size, dims[i], &size) || size > most) {
      return InvalidArgument("Input dims product is causing integer overflow: ({})", fmt::join(dims, ","));
    }
  }
  for (int64_t v : values) {
    if (v >= size) return InvalidArgument("index is out of bound as with dims");
  }
  const Shape shape = indices.rank() == 0 ? Shape{rank} : Shape{rank, n};
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, indices.dtype(), shape));
  for (int64_t i = 0; i < rank; ++i) {
    for (int64_t k = 0; k < n; ++k) StoreInt(*out, i * n + k, values[k] % (strides[i] * dims[i]) / strides[i]);
  }
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<ListDiff>("ListDiff"),
    Op<Bound<false>>("LowerBound"),
    Op<Unique<false, false>>("Unique"),
    Op<Unique<true, false>>("UniqueV2"),
    Op<Unique<false, true>>("UniqueWithCounts"),
    Op<Unique<true, true>>("UniqueWithCountsV2"),
    Op<UnravelIndex>("UnravelIndex"),
    Op<Bound<true>>("UpperBound"),
    Op<Where>("Where"),
};

}  // namespace
extern constinit const KernelFamily kSearchKernels = kRows;
}  // namespace tare
