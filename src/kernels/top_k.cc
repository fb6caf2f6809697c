// The greatest elements of rows: which they are, how many, whether a target is among them.
#include <algorithm>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// A strict order of all values. NaN comes before everything, as if the greatest.
template <class T>
bool Greater(T a, T b) {
  if constexpr (std::is_floating_point_v<internal::LoopType<T>>) {
    internal::LoopType<T> x = a, y = b;
    if (x != x || y != y) return x != x && y == y;
    return x > y;
  } else {
    return a > b;
  }
}

// REQUIRES: one element, of int16, int32 or int64.
Result<int64_t> ScalarInt(const Tensor& t) {
  if (t.dtype() == DType::kInt16) return int64_t{t.scalar<int16_t>()};
  int64_t space;
  TARE_ASSIGN_OR_RETURN(auto values, IntValues(t, {&space, 1}));
  return values[0];
}

Status CheckHasRows(const Tensor& x) {
  return x.rank() > 0 ? OkStatus() : InvalidArgument("input must be >= 1-D, got shape {}", x.shape().ToString());
}

// Writes indices in the type an attribute names.
void StoreIndices(DType type, std::span<const int64_t> from, Tensor& out, int64_t at) {
  (void)ForType(Types<int16_t, uint16_t, int32_t, int64_t>{}, type, [&]<class I>() {
    I* to = out.mutable_data<I>() + at;
    for (int64_t i : from) *to++ = static_cast<I>(i);
    return OkStatus();
  });
}

// Equal values go by index. Leaves the k indices at the front of `order`.
template <class T>
void TopOfRow(const T* row, int64_t n, int64_t k, T* values, std::vector<int64_t>& order) {
  auto before = [row](int64_t a, int64_t b) {
    return Greater(row[a], row[b]) || (a < b && !Greater(row[b], row[a]));
  };
  if (k == 1) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) best = Greater(row[i], row[best]) ? i : best;
    order.assign(1, best);
  } else {
    order.resize(n);
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
  }
  for (int64_t i = 0; i < k; ++i) values[i] = row[order[i]];
}

Status TopK(KernelCall& c, int64_t k, DType index_type) {
  const Tensor& x = c.input(0);
  if (k < 0) return InvalidArgument("Need k >= 0, got {}", k);
  TARE_RETURN_IF_ERROR(CheckHasRows(x));
  int last = x.rank() - 1;
  int64_t n = x.dim(last), rows = x.shape().product(0, last);
  if (n < k) return InvalidArgument("input must have at least k columns. Had {}, needed {}", n, k);
  Shape shape = x.shape();
  shape.set_dim(last, k);
  return ForType(Reals{}, x.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * values, c.Output(0, x.dtype(), shape));
    TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(1, index_type, shape));
    if (k == 0) return OkStatus();
    const T* from = x.data<T>();
    T* to = values->mutable_data<T>();
    c.threads().ParallelFor(rows, 4 * n, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order;
      for (int64_t r = begin; r < end; ++r) {
        TopOfRow(from + r * n, n, k, to + r * k, order);
        StoreIndices(index_type, std::span(order).first(k), *indices, r * k);
      }
    });
    return OkStatus();
  });
}

// Results are in order whether `sorted` asks for it or not.
struct TopKV1 {
  explicit TopKV1(AttrReader& a) : k(a.Int("k")) {}
  Status Run(KernelCall& c) const { return TopK(c, k, DType::kInt32); }
  int64_t k;
};

struct TopKV2 {
  explicit TopKV2(AttrReader& a) : index_type(a.Type("index_type")) {}
  Status Run(KernelCall& c) const {
    const Tensor& k = c.input(1);
    if (k.rank() != 0) return InvalidArgument("k must be scalar, got shape {}", k.shape().ToString());
    TARE_ASSIGN_OR_RETURN(int64_t count, ScalarInt(k));
    return TopK(c, count, index_type);
  }
  DType index_type;
};

// False for a target out of range, and wherever a value met on the way is not finite.
bool IsInTop(std::span<const float> row, int64_t target, int64_t k) {
  if (target < 0 || target >= static_cast<int64_t>(row.size()) || !std::isfinite(row[target])) return false;
  int64_t greater = 0;
  for (float v : row) {
    if (!std::isfinite(v)) return false;
    if (v > row[target] && ++greater > k) return false;
  }
  return greater < k;
}

Status InTopK(KernelCall& c, int64_t k) {
  const Tensor &x = c.input(0), &targets = c.input(1);
  if (x.rank() != 2) return InvalidArgument("predictions must be 2-dimensional");
  if (targets.rank() != 1) return InvalidArgument("targets must be 1-dimensional");
  if (x.dim(0) != targets.dim(0)) {
    return InvalidArgument("First dimension of predictions {} must match length of targets {}", x.dim(0),
                           targets.dim(0));
  }
  std::vector<int64_t> space(targets.num_elements());
  TARE_ASSIGN_OR_RETURN(auto wanted, IntValues(targets, space));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kBool, targets.shape()));
  auto all = x.as<float>();
  for (int64_t r = 0; r < x.dim(0); ++r) {
    out->mutable_data<bool>()[r] = IsInTop(all.subspan(r * x.dim(1), x.dim(1)), wanted[r], k);
  }
  return OkStatus();
}

struct InTopKV1 {
  explicit InTopKV1(AttrReader& a) : k(a.Int("k")) {}
  Status Run(KernelCall& c) const { return InTopK(c, k); }
  int64_t k;
};

Status InTopKV2(KernelCall& c) {
  const Tensor& k = c.input(2);
  if (k.rank() != 0) return InvalidArgument("k must be 0-D, got shape {}", k.shape().ToString());
  TARE_ASSIGN_OR_RETURN(int64_t count, ScalarInt(k));
  return InTopK(c, count);
}

struct NthElement {
  explicit NthElement(AttrReader& a) : reverse(a.Bool("reverse")) {}
  Status Run(KernelCall& c) const {
    const Tensor &x = c.input(0), &n_tensor = c.input(1);
    if (n_tensor.rank() != 0) return InvalidArgument("N must be scalar but has rank {}", n_tensor.rank());
    int64_t n = n_tensor.scalar<int32_t>();
    if (n < 0) return InvalidArgument("n must be non-negative but is {}", n);
    if (x.rank() == 0) return InvalidArgument("Input must be at least rank 1 but is rank 0");
    int last = x.rank() - 1;
    int64_t width = x.dim(last), rows = x.shape().product(0, last);
    if (n >= width) return InvalidArgument("Input must have last dimension > n = {}", n);
    Shape shape = x.shape();
    shape.Remove(last);
    return ForType(Reals{}, x.dtype(), [&]<class T>() -> Status {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), shape));
      std::vector<T> row(width);
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(x.data<T>() + r * width, width, row.begin());
        auto nth = row.begin() + (reverse ? n : width - 1 - n);
        std::nth_element(row.begin(), nth, row.end(), Greater<T>);
        out->mutable_data<T>()[r] = *nth;
      }
      return OkStatus();
    });
  }
  bool reverse;
};

// --- ArgMax, ArgMin ---

// The first of the best along dimension n of [outer, n, inner]. NaN is never better.
template <class T, bool kMax>
void ArgBest(const T* x, int64_t n, int64_t inner, int64_t* out, T* best) {
  using L = internal::LoopType<T>;
  constexpr L kWorst = kMax ? (std::numeric_limits<L>::has_infinity ? -std::numeric_limits<L>::infinity()
                                                                    : std::numeric_limits<L>::lowest())
                            : (std::numeric_limits<L>::has_infinity ? std::numeric_limits<L>::infinity()
                                                                    : std::numeric_limits<L>::max());
  std::fill_n(best, inner, T(kWorst));
  std::fill_n(out, inner, 0);
  for (int64_t i = 0; i < n; ++i, x += inner) {
    for (int64_t j = 0; j < inner; ++j) {
      if (kMax ? L(x[j]) > L(best[j]) : L(x[j]) < L(best[j])) {
        best[j] = x[j];
        out[j] = i;
      }
    }
  }
}

Result<int> ArgDimension(const Tensor& x, const Tensor& dimension) {
  if (dimension.rank() != 0) {
    return InvalidArgument("dim must be a scalar, but received tensor of shape: {}", dimension.shape().ToString());
  }
  TARE_ASSIGN_OR_RETURN(int64_t d, ScalarInt(dimension));
  if (d < -x.rank() || d >= x.rank()) {
    return InvalidArgument("Expected dimension in the range [{}, {}), but got {}", -x.rank(), x.rank(), d);
  }
  int axis = static_cast<int>(d < 0 ? d + x.rank() : d);
  if (x.dim(axis) == 0) {
    return InvalidArgument("Reduction axis {} is empty in shape {}", axis, x.shape().ToString());
  }
  return axis;
}

template <bool kMax>
struct ArgExtreme {
  explicit ArgExtreme(AttrReader& a) : output_type(a.Type("output_type")) {}
  Status Run(KernelCall& c) const {
    const Tensor& x = c.input(0);
    TARE_ASSIGN_OR_RETURN(int axis, ArgDimension(x, c.input(1)));
    Shape shape = x.shape();
    shape.Remove(axis);
    int64_t outer = x.shape().product(0, axis), n = x.dim(axis), inner = x.shape().product(axis + 1, x.rank());
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, output_type, shape));
    if (shape.num_elements() == 0) return OkStatus();
    return ForType(Reals{}, x.dtype() == DType::kBool ? DType::kUint8 : x.dtype(), [&]<class T>() {
      const T* from = static_cast<const T*>(x.raw());
      c.threads().ParallelFor(outer, n * inner, [&](int64_t begin, int64_t end) {
        std::vector<T> best(inner);
        std::vector<int64_t> at(inner);
        for (int64_t r = begin; r < end; ++r) {
          ArgBest<T, kMax>(from + r * n * inner, n, inner, at.data(), best.data());
          StoreIndices(output_type, at, *out, r * inner);
        }
      });
      return OkStatus();
    });
  }
  DType output_type;
};

constexpr KernelRow kRows[] = {
    Op<ArgExtreme<true>>("ArgMax"),
    Op<ArgExtreme<false>>("ArgMin"),
    Op<InTopKV1>("InTopK"),
    Op<InTopKV2>("InTopKV2"),
    Op<NthElement>("NthElement"),
    Op<TopKV1>("TopK"),
    Op<TopKV2>("TopKV2"),
};

}  // namespace
extern constinit const KernelFamily kTopKKernels = kRows;
}  // namespace tare
