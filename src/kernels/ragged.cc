// Ragged tensors: ranges, gathering rows, filling empty ones.
#include <algorithm>
#include <cmath>

#include "kernels/ragged_common.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// --- RaggedRange ---

struct RaggedRange {
  explicit RaggedRange(AttrReader& a) : splits_type(a.Type("Tsplits")) {}
  Status Run(KernelCall& c) const {
    return ForType(Types<float, double, BFloat16, int32_t, int64_t>(), c.input(0).dtype(),
                   [&]<class T>() { return Make<T>(c); });
  }

  template <class T>
  Status Make(KernelCall& c) const {
    static constexpr std::string_view kNames[] = {"starts", "limits", "deltas"};
    int64_t rows = 1;
    bool vector = false;
    for (int i = 0; i < 3; ++i) {
      const Tensor& in = c.input(i);
      if (in.rank() > 1) return InvalidArgument("{} must be a scalar or vector", kNames[i]);
      if (in.rank() == 0) continue;
      if (vector && rows != in.dim(0)) return InvalidArgument("starts, limits, and deltas must have the same shape");
      vector = true;
      rows = in.dim(0);
    }
    auto value = [&](int input, int64_t row) { return c.input(input).data<T>()[c.input(input).rank() == 0 ? 0 : row]; };
    std::vector<int64_t> ends(static_cast<size_t>(rows) + 1);
    for (int64_t i = 0; i < rows; ++i) {
      TARE_ASSIGN_OR_RETURN(int64_t size, Size(value(0, i), value(1, i), value(2, i)));
      const int64_t before = ends[static_cast<size_t>(i)];
      if (size > std::numeric_limits<int64_t>::max() - before) return InvalidArgument("the ranges are too long");
      ends[static_cast<size_t>(i) + 1] = before + size;
    }
    TARE_RETURN_IF_ERROR(SetInts(c, 0, splits_type, ends));
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::span(&ends.back(), 1)));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(1, c.input(0).dtype(), shape));
    T* to = out->mutable_data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      T v = value(0, i);
      const T delta = value(2, i);
      for (int64_t n = ends[static_cast<size_t>(i) + 1] - ends[static_cast<size_t>(i)]; n > 0; --n) {
        *to++ = v;
        v = Add(v, delta);
      }
    }
    return OkStatus();
  }

  template <class T>
  static T Add(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else return static_cast<T>(a + b);
  }

  template <class T>
  static Result<int64_t> Size(T start, T limit, T delta) {
    if (delta == T(0)) return InvalidArgument("Requires delta != 0");
    if (delta > T(0) ? start >= limit : start <= limit) return int64_t{0};
    if constexpr (std::is_integral_v<T>) {
      const uint64_t s = static_cast<uint64_t>(start), l = static_cast<uint64_t>(limit), d = static_cast<uint64_t>(delta);
      const uint64_t length = delta > 0 ? l - s : s - l, step = delta > 0 ? d : 0 - d;
      return static_cast<int64_t>((length - 1) / step + 1);
    } else {
      const double n = std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta)));
      if (!(n < 0x1p63)) return InvalidArgument("Requires ((limit - start) / delta) <= 9223372036854775807");
      return static_cast<int64_t>(n);
    }
  }
  DType splits_type;
};

// --- RaggedGather ---

struct RaggedGather {
  explicit RaggedGather(AttrReader& a)
      : splits_type(a.Type("Tsplits")), in_rank(static_cast<int>(a.Int("PARAMS_RAGGED_RANK"))),
        out_rank(static_cast<int>(a.Int("OUTPUT_RAGGED_RANK"))) {}

  Status Run(KernelCall& c) const {
    const Tensor &values = c.input(in_rank), &indices = c.input(in_rank + 1);
    if (out_rank != indices.rank() - 1 + in_rank) {
      return InvalidArgument("OUTPUT_RAGGED_RANK is {}, but gathering gives {}", out_rank, indices.rank() - 1 + in_rank);
    }
    if (values.rank() == 0) return InvalidArgument("params.rank must be nonzero");
    std::vector<std::vector<int64_t>> splits;
    for (int i = 0; i < in_rank; ++i) {
      TARE_ASSIGN_OR_RETURN(std::vector<int64_t> s, WideValues(c.input(i)));
      splits.push_back(std::move(s));
    }
    for (size_t i = 0; i < splits.size(); ++i) {
      const std::vector<int64_t>& s = splits[i];
      if (s.empty()) return InvalidArgument("Ragged splits may not be empty");
      if (s[0] < 0) return InvalidArgument("Ragged splits must be non-negative");
      if (!std::ranges::is_sorted(s)) return InvalidArgument("Ragged splits must be sorted");
      const bool last = i + 1 == splits.size();
      const int64_t count = last ? values.dim(0) : static_cast<int64_t>(splits[i + 1].size()) - 1;
      if (s.back() > count) return InvalidArgument("Ragged splits must not point past values");
    }
    TARE_ASSIGN_OR_RETURN(std::vector<int64_t> rows, WideValues(indices));
    const int64_t row_count = static_cast<int64_t>(splits[0].size()) - 1;
    std::vector<Range> ranges;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0 || rows[i] >= row_count) {
        return InvalidArgument("indices[{}] = {} is not in [0, {})", i, rows[i], row_count);
      }
      ranges.push_back({rows[i], rows[i] + 1});
    }
    // The dimensions of the indices, all but the last of which are rows of equal length.
    int output = 0;
    for (int d = 0; d + 1 < indices.rank(); ++d) {
      std::vector<int64_t> even(static_cast<size_t>(indices.shape().product(0, d + 1)) + 1);
      for (size_t i = 0; i < even.size(); ++i) even[i] = static_cast<int64_t>(i) * indices.dim(d + 1);
      TARE_RETURN_IF_ERROR(SetInts(c, output++, splits_type, even));
    }
    for (size_t level = 0; level < splits.size(); ++level) {
      const std::vector<int64_t>& s = splits[level];
      // One row alone, of a scalar index, is no dimension.
      if (level > 0 || indices.rank() > 0) {
        std::vector<int64_t> ends = {0};
        for (const Range& r : ranges) {
          for (int64_t row = r.begin; row < r.end; ++row) {
            const auto at = static_cast<size_t>(row);
            ends.push_back(ends.back() + s[at + 1] - s[at]);
          }
        }
        TARE_RETURN_IF_ERROR(SetInts(c, output++, splits_type, ends));
      }
      for (Range& r : ranges) r = {s[static_cast<size_t>(r.begin)], s[static_cast<size_t>(r.end)]};
    }
    return GatherValues(c, values, ranges);
  }

  struct Range {
    int64_t begin, end;
  };

  Status GatherValues(KernelCall& c, const Tensor& values, std::span<const Range> ranges) const {
    int64_t total = 0;
    for (const Range& r : ranges) total += r.end - r.begin;
    std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
    dims[0] = total;
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(out_rank, values.dtype(), shape));
    const int64_t width = shape.product(1, shape.rank());
    int64_t to = 0;
    for (const Range& r : ranges) {
      const int64_t n = (r.end - r.begin) * width;
      CopyRange(values, r.begin * width, *out, to, n);
      to += n;
    }
    return OkStatus();
  }
  DType splits_type;
  int in_rank, out_rank;
};

// --- RaggedFillEmptyRows ---

Status FillEmptyRows(KernelCall& c) {
  const Tensor &ids = c.input(0), &values = c.input(1), &rows = c.input(2), &default_value = c.input(3);
  if (ids.rank() != 1) return InvalidArgument("value_rowids must be a vector, saw: {}", ids.shape().ToString());
  if (values.rank() != 1) return InvalidArgument("values must be a vector, saw: {}", values.shape().ToString());
  if (rows.rank() != 0) return InvalidArgument("nrows must be a scalar, saw: {}", rows.shape().ToString());
  if (default_value.rank() != 0) {
    return InvalidArgument("default_value must be a scalar, saw: {}", default_value.shape().ToString());
  }
  const int64_t n = ids.dim(0), row_count = rows.scalar<int64_t>();
  if (values.dim(0) != n) {
    return InvalidArgument("The length of `values` ({}) must match the first dimension of `value_rowids` ({}).",
                           values.dim(0), n);
  }
  if (row_count < 0) return InvalidArgument("nrows must not be negative, saw: {}", row_count);
  TARE_ASSIGN_OR_RETURN(Tensor* indicator, c.Output(2, DType::kBool, {row_count}));
  TARE_ASSIGN_OR_RETURN(Tensor* reverse, c.Output(3, DType::kInt64, {n}));
  if (row_count == 0) {
    if (n != 0) {
      return InvalidArgument("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {}", n);
    }
    TARE_RETURN_IF_ERROR(c.Output(0, DType::kInt64, {0, 1}).status());
    return c.Output(1, values.dtype(), {0}).status();
  }
  const int64_t* row_of = ids.data<int64_t>();
  // next[r]: where the next value of row r goes.
  std::vector<int64_t> next(static_cast<size_t>(row_count) + 1);
  for (int64_t i = 0; i < n; ++i) {
    if (row_of[i] < 0 || row_of[i] >= row_count) {
      return InvalidArgument("indices({}, 0) is invalid: {} >= {}", i, row_of[i], row_count);
    }
    ++next[static_cast<size_t>(row_of[i]) + 1];
  }
  bool* empty = indicator->mutable_data<bool>();
  for (size_t r = 0; r < static_cast<size_t>(row_count); ++r) {
    empty[r] = next[r + 1] == 0;
    next[r + 1] = next[r] + std::max<int64_t>(1, next[r + 1]);
  }
  const int64_t total = next.back();
  TARE_ASSIGN_OR_RETURN(Tensor* out_ids, c.Output(0, DType::kInt64, {total}));
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(1, values.dtype(), {total}));
  int64_t* id = out_ids->mutable_data<int64_t>();
  for (int64_t r = 0; r < row_count; ++r) {
    if (!empty[r]) continue;
    id[next[static_cast<size_t>(r)]] = r;
    CopyRange(default_value, 0, *out, next[static_cast<size_t>(r)], 1);
  }
  int64_t* map = reverse->mutable_data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = next[static_cast<size_t>(row_of[i])]++;
    id[at] = row_of[i];
    map[i] = at;
    CopyRange(values, i, *out, at, 1);
  }
  return OkStatus();
}

Status FillEmptyRowsGrad(KernelCall& c) {
  const Tensor &map = c.input(0), &grad = c.input(1);
  if (map.rank() != 1 || grad.rank() != 1) return InvalidArgument("reverse_index_map and grad_values must be vectors");
  return ForType(Numbers(), grad.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, grad.dtype(), map.shape()));
    TARE_ASSIGN_OR_RETURN(Tensor* rest, c.Output(1, grad.dtype(), {}));
    const T* from = grad.data<T>();
    T* to = out->mutable_data<T>();
    std::vector<bool> visited(static_cast<size_t>(grad.dim(0)));
    for (int64_t at : map.as<int64_t>()) {
      if (at < 0 || at >= grad.dim(0)) {
        return InvalidArgument("Elements in reverse index must be in [0, {}) but got {}", grad.dim(0), at);
      }
      *to++ = from[at];
      visited[static_cast<size_t>(at)] = true;
    }
    T sum{};
    for (size_t i = 0; i < visited.size(); ++i) {
      if (!visited[i]) sum = static_cast<T>(sum + from[i]);
    }
    *rest->mutable_data<T>() = sum;
    return OkStatus();
  });
}

constexpr KernelRow kRows[] = {
    Op<FillEmptyRows>("RaggedFillEmptyRows"),
    Op<FillEmptyRowsGrad>("RaggedFillEmptyRowsGrad"),
    Op<RaggedGather>("RaggedGather"),
    Op<RaggedRange>("RaggedRange"),
};

}  // namespace
extern constinit const KernelFamily kRaggedKernels = kRows;
}  // namespace tare
