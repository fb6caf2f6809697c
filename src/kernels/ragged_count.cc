// Counting values by row: ragged bincount, and counts as sparse rows.
#include <algorithm>

#include "kernels/ragged_common.h"
#include "kernels/registry.h"

namespace tare {
namespace {

using OutputTypes = Types<int32_t, int64_t, float, double>;

Status CheckCountSplits(std::span<const int64_t> splits, int64_t count) {
  if (splits[0] != 0) return InvalidArgument("Splits must start with 0, not with {}", splits[0]);
  if (splits.back() != count) {
    return InvalidArgument("Splits must end with the number of values, got {} instead of {}", splits.back(), count);
  }
  if (!std::ranges::is_sorted(splits)) return InvalidArgument("Splits must not decrease");
  return OkStatus();
}

struct RaggedBincount {
  explicit RaggedBincount(AttrReader& a) : binary(a.Bool("binary_output")) {}
  Status Run(KernelCall& c) const {
    if (c.input(2).rank() != 0) return InvalidArgument("Shape must be rank 0 but is rank {}", c.input(2).rank());
    return ForType(OutputTypes(), c.input(3).dtype(), [&]<class T>() { return Count<T>(c); });
  }

  template <class T>
  Status Count(KernelCall& c) const {
    const Tensor& weights = c.input(3);
    std::span<const int64_t> splits = c.input(0).as<int64_t>();
    TARE_ASSIGN_OR_RETURN(std::vector<int64_t> values, WideValues(c.input(1)));
    TARE_ASSIGN_OR_RETURN(std::vector<int64_t> size, WideValues(c.input(2)));
    const int64_t width = size[0];
    if (width < 0) return InvalidArgument("size ({}) must be non-negative", width);
    if (splits.empty()) return InvalidArgument("Splits must be non-empty");
    TARE_RETURN_IF_ERROR(CheckCountSplits(splits, static_cast<int64_t>(values.size())));
    const bool weighted = weights.num_elements() > 0;
    if (weighted && weights.num_elements() != static_cast<int64_t>(values.size())) {
      return InvalidArgument("weights and values must have as many elements: {} and {}", weights.num_elements(),
                             values.size());
    }
    const int64_t dims[] = {static_cast<int64_t>(splits.size()) - 1, width};
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, weights.dtype(), shape));
    std::ranges::fill(out->mut<T>(), T{});
    T* row = out->mutable_data<T>();
    for (size_t r = 0; r + 1 < splits.size(); ++r, row += width) {
      for (int64_t i = splits[r]; i < splits[r + 1]; ++i) {
        const int64_t v = values[static_cast<size_t>(i)];
        if (v < 0) return InvalidArgument("Input must be non-negative");
        if (v >= width) continue;
        if (binary) row[v] = T{1};
        else row[v] = static_cast<T>(row[v] + (weighted ? weights.data<T>()[i] : T{1}));
      }
    }
    return OkStatus();
  }
  bool binary;
};

// The counting of the three ops whose output is sparse, which differ in how values have rows.
struct SparseCounter {
  explicit SparseCounter(AttrReader& a)
      : min_length(a.Int("minlength")), max_length(a.Int("maxlength")), binary(a.Bool("binary_output")),
        dtype(a.Type("output_type")) {}

  // `row_of(i)` is the row of value i; without rows the output has one dimension.
  template <class RowOf>
  Status Count(KernelCall& c, const Tensor& in, const Tensor& weights, bool has_rows, int64_t rows, RowOf row_of) const {
    if (weights.num_elements() > 0 && weights.shape() != in.shape()) {
      return InvalidArgument("Weights and values must have the same shape. Weight shape: {}; values shape: {}",
                             weights.shape().ToString(), in.shape().ToString());
    }
    TARE_ASSIGN_OR_RETURN(std::vector<int64_t> values, WideValues(in));
    int64_t largest = 0;
    for (int64_t v : values) {
      if (v < 0) return InvalidArgument("Input values must all be non-negative");
      largest = std::max(largest, v);
    }
    if (largest == std::numeric_limits<int64_t>::max()) return InvalidArgument("Input values are too large");
    std::vector<Entry> entries;
    entries.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (max_length < 0 || values[i] < max_length) entries.push_back({row_of(i), values[i], i});
    }
    // The order of weights stays that of the input, so that sums are rounded alike.
    std::ranges::sort(entries);
    size_t distinct = 0;
    for (size_t i = 0; i < entries.size(); ++i) distinct += i == 0 || !entries[i].SameCell(entries[i - 1]);
    const int rank = has_rows ? 2 : 1;
    const auto n = static_cast<int64_t>(distinct);
    TARE_ASSIGN_OR_RETURN(Tensor* indices, c.Output(0, DType::kInt64, {n, rank}));
    TARE_ASSIGN_OR_RETURN(Tensor* counts, c.Output(1, dtype, {n}));
    TARE_ASSIGN_OR_RETURN(Tensor* shape, c.Output(2, DType::kInt64, {rank}));
    int64_t* dims = shape->mutable_data<int64_t>();
    if (has_rows) *dims++ = rows;
    *dims = max_length >= 0 ? max_length : std::max(largest + 1, min_length);
    return ForType(OutputTypes(), dtype, [&]<class T>() {
      const T* weight = weights.num_elements() > 0 ? weights.data<T>() : nullptr;
      int64_t* index = indices->mutable_data<int64_t>();
      T* count = counts->mutable_data<T>() - 1;
      for (size_t i = 0; i < entries.size(); ++i) {
        const Entry& e = entries[i];
        if (i == 0 || !e.SameCell(entries[i - 1])) {
          if (has_rows) *index++ = e.row;
          *index++ = e.value;
          *++count = T{};
        }
        if (binary) *count = T{1};
        else *count = static_cast<T>(*count + (weight ? weight[e.at] : T{1}));
      }
      return OkStatus();
    });
  }

  struct Entry {
    int64_t row, value;
    size_t at;
    auto operator<=>(const Entry&) const = default;
    bool SameCell(const Entry& o) const { return row == o.row && value == o.value; }
  };
  int64_t min_length, max_length;
  bool binary;
  DType dtype;
};

struct DenseCount : SparseCounter {
  using SparseCounter::SparseCounter;
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 1 && in.rank() != 2) {
      return InvalidArgument("Input must be a 1 or 2-dimensional tensor. Got: {}", in.shape().ToString());
    }
    const bool has_rows = in.rank() == 2;
    if (has_rows && in.dim(0) == 0) return InvalidArgument("Invalid input: Shapes dimension cannot be 0.");
    const auto width = static_cast<size_t>(has_rows ? std::max<int64_t>(1, in.dim(1)) : 1);
    return Count(c, in, c.input(1), has_rows, in.dim(0),
                 [=](size_t i) { return has_rows ? static_cast<int64_t>(i / width) : 0; });
  }
};

struct SparseCount : SparseCounter {
  using SparseCounter::SparseCounter;
  Status Run(KernelCall& c) const {
    const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
    if (shape.rank() != 1) return InvalidArgument("Input shape must be a vector. Got: {}", shape.shape().ToString());
    if (indices.rank() != 2) {
      return InvalidArgument("Input indices must be a 2-dimensional tensor. Got: {}", indices.shape().ToString());
    }
    if (values.rank() != 1) return InvalidArgument("Input values must be a vector. Got: {}", values.shape().ToString());
    const int64_t rank = shape.dim(0);
    if (values.dim(0) != indices.dim(0)) {
      return InvalidArgument("Number of values must match first dimension of indices.Got {} values, indices shape: {}",
                             values.dim(0), indices.shape().ToString());
    }
    if (rank != indices.dim(1)) {
      return InvalidArgument("Number of dimensions must match second dimension of indices.Got {} dimensions, indices shape: {}",
                             rank, indices.shape().ToString());
    }
    if (rank == 0) return InvalidArgument("The shape argument requires at least one element.");
    const int64_t *index = indices.data<int64_t>(), *dims = shape.data<int64_t>();
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      if (index[i] >= 0 && index[i] < dims[i % rank]) continue;
      return InvalidArgument("Invalid index value at {}: dimension {} has value {} which is not in [0, {})", i / rank,
                             i % rank, index[i], dims[i % rank]);
    }
    const bool has_rows = rank > 1;
    return Count(c, values, c.input(3), has_rows, dims[0],
                 [=](size_t i) { return has_rows ? index[i * static_cast<size_t>(rank)] : 0; });
  }
};

struct RaggedCount : SparseCounter {
  using SparseCounter::SparseCounter;
  Status Run(KernelCall& c) const {
    std::span<const int64_t> splits = c.input(0).as<int64_t>();
    const Tensor& values = c.input(1);
    if (splits.size() < 2) return InvalidArgument("Must provide at least 2 elements for the splits argument");
    TARE_RETURN_IF_ERROR(CheckCountSplits(splits, values.num_elements()));
    size_t row = 0;
    return Count(c, values, c.input(2), true, static_cast<int64_t>(splits.size()) - 1, [&](size_t i) {
      while (splits[row + 1] <= static_cast<int64_t>(i)) ++row;
      return static_cast<int64_t>(row);
    });
  }
};

constexpr KernelRow kRows[] = {
    Op<DenseCount>("DenseCountSparseOutput"),
    Op<RaggedBincount>("RaggedBincount"),
    Op<RaggedCount>("RaggedCountSparseOutput"),
    Op<SparseCount>("SparseCountSparseOutput"),
};

}  // namespace
extern constinit const KernelFamily kRaggedCountKernels = kRows;
}  // namespace tare
