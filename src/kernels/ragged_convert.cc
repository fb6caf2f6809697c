// Ragged tensors made dense or sparse.
#include <algorithm>

#include "kernels/ragged_common.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// --- RaggedTensorToTensor ---

enum class PartitionType { kFirstDimSize, kValueRowids, kRowSplits };

struct RaggedTensorToTensor {
  explicit RaggedTensorToTensor(AttrReader& a) {
    for (const std::string& name : a.Strings("row_partition_types")) {
      if (name == "FIRST_DIM_SIZE") types.push_back(PartitionType::kFirstDimSize);
      else if (name == "VALUE_ROWIDS") types.push_back(PartitionType::kValueRowids);
      else if (name == "ROW_SPLITS") types.push_back(PartitionType::kRowSplits);
      else if (name == "ROW_LENGTHS" || name == "ROW_LIMITS" || name == "ROW_STARTS")
        a.Fail(InvalidArgument("Cannot handle type {}", name));
      else a.Fail(InvalidArgument("Unknown string for partition info type: {}", name));
    }
    if (types.empty()) {
      a.Fail(InvalidArgument("No row_partition_types given."));
    } else if (types[0] == PartitionType::kValueRowids) {
      a.Fail(InvalidArgument("Cannot handle VALUE_ROWIDS in first dimension."));
    } else if (static_cast<int64_t>(types.size()) != a.Int("num_row_partition_tensors")) {
      a.Fail(InvalidArgument("row_partition_types and row_partition_tensors differ in number"));
    }
    for (size_t i = 1; i < types.size(); ++i) {
      if (types[i] == PartitionType::kFirstDimSize) a.Fail(InvalidArgument("Cannot handle type FIRST_DIM_SIZE"));
    }
    first = !types.empty() && types[0] == PartitionType::kFirstDimSize ? 1 : 0;
  }

  Status Run(KernelCall& c) const {
    const Tensor &values = c.input(1), &default_value = c.input(2);
    if (values.rank() == 0) return InvalidArgument("values must have at least one dimension");
    const int ragged_rank = static_cast<int>(types.size()) - first;
    std::vector<std::vector<int64_t>> parts;
    for (int i = 0; i < static_cast<int>(types.size()); ++i) {
      TARE_ASSIGN_OR_RETURN(std::vector<int64_t> p, WideValues(c.input(3 + i)));
      parts.push_back(std::move(p));
    }
    if (parts[0].empty()) {
      return InvalidArgument("Invalid first partition input. Tensor requires at least one element.");
    }
    const int64_t row_count = first ? parts[0][0] : static_cast<int64_t>(parts[0].size()) - 1;
    if (row_count < 0) return InvalidArgument("Dimension {} must be >= 0", row_count);
    TARE_RETURN_IF_ERROR(CheckParts(parts, row_count));
    TARE_ASSIGN_OR_RETURN(Shape shape, OutputShape(c, parts, row_count, ragged_rank));
    const Shape inner(values.shape().dims().subspan(1));
    Tensor filler;
    TARE_ASSIGN_OR_RETURN(filler, Filler(c, default_value, values, inner));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, values.dtype(), shape));
    std::vector<int64_t> places;
    if (out->num_elements() > 0) places = Places(parts, shape, ragged_rank, values.dim(0));
    return Fill(values, places, filler, inner.num_elements(), *out);
  }

  // Each partition's rows and values agree with its neighbours'.
  Status CheckParts(std::span<const std::vector<int64_t>> parts, int64_t rows) const {
    for (size_t i = static_cast<size_t>(first); i < parts.size(); ++i) {
      const std::vector<int64_t>& p = parts[i];
      if (types[i] == PartitionType::kRowSplits) {
        if (p.empty() || p[0] != 0 || static_cast<int64_t>(p.size()) - 1 != rows || !std::ranges::is_sorted(p)) {
          return InvalidArgument("Invalid row split size.");
        }
        rows = p.back();
      } else {
        for (size_t k = 0; k < p.size(); ++k) {
          if (p[k] < 0 || p[k] >= rows) {
            return InvalidArgument("Got {}_value_rowid={} which is not less than {}", k ? "next" : "current", p[k], rows);
          }
          if (k > 0 && p[k] < p[k - 1]) return InvalidArgument("value_rowids must not decrease");
        }
        rows = static_cast<int64_t>(p.size());
      }
    }
    return OkStatus();
  }

  // The longest row of a partition.
  int64_t Width(size_t i, std::span<const int64_t> p) const {
    int64_t width = 0, run = 0;
    for (size_t k = 0; k < p.size(); ++k) {
      if (types[i] == PartitionType::kRowSplits) run = k ? p[k] - p[k - 1] : 0;
      else run = k && p[k] == p[k - 1] ? run + 1 : 1;
      width = std::max(width, run);
    }
    return width;
  }

  Result<Shape> OutputShape(KernelCall& c, std::span<const std::vector<int64_t>> parts, int64_t rows,
                            int ragged_rank) const {
    const Tensor& wanted = c.input(0);
    const Shape& flat = c.input(1).shape();
    TARE_ASSIGN_OR_RETURN(std::vector<int64_t> dims, WideValues(wanted));
    const int rank = ragged_rank + flat.rank();
    if (wanted.rank() > 1) return InvalidArgument("Shape must be at most rank 1 but is rank {}", wanted.rank());
    if (wanted.rank() == 0) {
      if (dims[0] != -1) return InvalidArgument("shape must be -1 or a vector");
      dims.assign(static_cast<size_t>(rank), -1);
    }
    if (static_cast<int>(dims.size()) != rank) {
      return InvalidArgument("rt_input.shape and shape={} are incompatible: rt_input.rank = {} but shape.rank = {}",
                             PartialShape{false, dims}.ToString(), rank, dims.size());
    }
    const std::vector<int64_t> given = dims;
    for (int i = 0; i < rank; ++i) {
      int64_t& d = dims[static_cast<size_t>(i)];
      if (d < -1) return InvalidArgument("Dimension {} must be >= -1", d);
      const int inner = i - ragged_rank;
      if (inner > 0) {
        if (d >= 0 && d != flat[inner]) {
          return InvalidArgument("rt_input.shape and shape={} are incompatible: rt_input.shape[{}] = {} but shape[{}] = {}",
                                 PartialShape{false, given}.ToString(), i, flat[inner], i, d);
        }
        d = flat[inner];
      } else if (d < 0) {
        const auto part = static_cast<size_t>(i - 1 + first);
        d = i == 0 ? rows : Width(part, parts[part]);
      }
    }
    return Shape::Make(dims);
  }

  // The default value as wide as one flat value.
  static Result<Tensor> Filler(KernelCall& c, const Tensor& value, const Tensor& values, const Shape& inner) {
    if (value.rank() >= values.rank()) {
      return InvalidArgument(
          "default_value.shape={} and rt_input.flat_values.shape={} are incompatible: default_value.rank = {}  must be "
          "less than rt_input.flat_values.rank = {}",
          value.shape().ToString(), values.shape().ToString(), value.rank(), values.rank());
    }
    if (value.num_elements() == 1 || value.shape() == inner) return value;
    auto both = BroadcastShape(value.shape(), inner);
    if (!both.ok() || *both != inner) {
      return InvalidArgument("default_value.shape={} and rt_input.flat_values.shape={} are incompatible",
                             value.shape().ToString(), values.shape().ToString());
    }
    TARE_ASSIGN_OR_RETURN(Tensor wide, c.Temp(value.dtype(), inner));
    for (int64_t i = 0, n = inner.num_elements(); i < n; ++i) {
      int64_t from = 0, step = 1;
      for (int64_t d = value.rank() - 1, rest = i; d >= 0; --d) {
        const int64_t inner_dim = inner[static_cast<int>(d) + inner.rank() - value.rank()];
        const int64_t own = value.dim(static_cast<int>(d));
        from += own == 1 ? 0 : rest % inner_dim * step;
        step *= own;
        rest /= inner_dim;
      }
      CopyRange(value, from, wide, i, 1);
    }
    return wide;
  }

  // Where in the output, in flat values, each value goes; -1: nowhere. Places rise.
  std::vector<int64_t> Places(std::span<const std::vector<int64_t>> parts, const Shape& shape, int ragged_rank,
                              int64_t values) const {
    std::vector<int64_t> places;
    bool have_places = false;  // before the first partition, row i has place i * stride
    for (int level = 0; level < ragged_rank; ++level) {
      const auto part = static_cast<size_t>(level + first);
      const std::vector<int64_t>& p = parts[part];
      const int64_t width = shape[level + 1], stride = shape.product(level + 2, ragged_rank + 1);
      const int64_t row_stride = width * stride;
      auto place_of_row = [&](int64_t row) -> int64_t {
        if (have_places) return places[static_cast<size_t>(row)];
        return row < shape[0] ? row * row_stride : -1;
      };
      std::vector<int64_t> next;
      auto add = [&](int64_t row_place, int64_t column) {
        next.push_back(row_place >= 0 && column < width ? row_place + column * stride : -1);
      };
      if (types[part] == PartitionType::kRowSplits) {
        next.reserve(static_cast<size_t>(p.back()));
        for (size_t r = 0; r + 1 < p.size(); ++r) {
          const int64_t place = place_of_row(static_cast<int64_t>(r));
          for (int64_t k = 0; k < p[r + 1] - p[r]; ++k) add(place, k);
        }
      } else {
        next.reserve(p.size());
        int64_t column = 0;
        for (size_t k = 0; k < p.size(); ++k) {
          column = k && p[k] == p[k - 1] ? column + 1 : 0;
          add(place_of_row(p[k]), column);
        }
      }
      places = std::move(next);
      have_places = true;
    }
    if (!have_places) {
      for (int64_t i = 0; i < std::min(shape[0], values); ++i) places.push_back(i);
    }
    return places;
  }

  // Copies runs of values that stay together, and fills what lies between with the default.
  static Status Fill(const Tensor& values, std::span<const int64_t> places, const Tensor& filler, int64_t width,
                     Tensor& out) {
    if (out.num_elements() == 0) return OkStatus();
    const bool one = filler.num_elements() == 1 && width != 1;
    auto fill = [&](int64_t begin, int64_t end) {
      const int64_t n = one ? 1 : width;
      for (int64_t at = begin * width; at < end * width; at += n) CopyRange(filler, 0, out, at, n);
    };
    const int64_t end = out.num_elements() / width, available = values.dim(0);
    int64_t filled = 0;
    for (size_t i = 0; i < places.size();) {
      const int64_t to = places[i];
      size_t n = 1;
      if (to >= 0) {
        while (i + n < places.size() && places[i + n] == to + static_cast<int64_t>(n)) ++n;
        if (static_cast<int64_t>(i + n) > available) {
          return InvalidArgument("the row partitions point past the {} values", available);
        }
        fill(filled, to);
        CopyRange(values, static_cast<int64_t>(i) * width, out, to * width, static_cast<int64_t>(n) * width);
        filled = to + static_cast<int64_t>(n);
      }
      i += n;
    }
    fill(filled, end);
    return OkStatus();
  }

  std::vector<PartitionType> types;
  int first = 0;  // partitions before the first ragged dimension's
};

// --- RaggedTensorToSparse ---

struct RaggedTensorToSparse {
  explicit RaggedTensorToSparse(AttrReader& a) : ragged_rank(static_cast<int>(a.Int("RAGGED_RANK"))) {}
  Status Run(KernelCall& c) const {
    const Tensor& values = c.input(ragged_rank);
    TARE_ASSIGN_OR_RETURN(auto splits, NestedSplits(c, 0, ragged_rank, values));
    if (values.rank() == 0) return InvalidArgument("rt_dense_values must have at least one dimension");
    const int rank = ragged_rank + values.rank();
    const int64_t n = values.num_elements(), width = values.shape().product(1, values.rank());
    TARE_ASSIGN_OR_RETURN(Tensor* indices, c.Output(0, DType::kInt64, {n, rank}));
    TARE_ASSIGN_OR_RETURN(Tensor* shape, c.Output(2, DType::kInt64, {rank}));
    c.SetOutput(1, values.Reshaped({n}));
    int64_t* dims = shape->mutable_data<int64_t>();
    dims[0] = static_cast<int64_t>(splits[0].size()) - 1;
    for (int d = 0; d < ragged_rank; ++d) {
      dims[d + 1] = 0;
      const std::vector<int64_t>& s = splits[static_cast<size_t>(d)];
      for (size_t i = 1; i < s.size(); ++i) dims[d + 1] = std::max(dims[d + 1], s[i] - s[i - 1]);
    }
    for (int d = 1; d < values.rank(); ++d) dims[ragged_rank + d] = values.dim(d);

    // For each flat value, the row that holds it at each level, from the inside out.
    std::vector<size_t> row(static_cast<size_t>(ragged_rank), 0);
    std::vector<int64_t> head(static_cast<size_t>(ragged_rank) + 1);
    int64_t* index = indices->mutable_data<int64_t>();
    for (int64_t v = 0; v < values.dim(0); ++v) {
      int64_t at = v;
      for (int d = ragged_rank - 1; d >= 0; --d) {
        size_t& r = row[static_cast<size_t>(d)];
        const std::vector<int64_t>& s = splits[static_cast<size_t>(d)];
        while (s[r + 1] <= at) ++r;
        head[static_cast<size_t>(d) + 1] = at - s[r];
        at = static_cast<int64_t>(r);
      }
      head[0] = at;
      for (int64_t k = 0; k < width; ++k) {
        index = std::ranges::copy(head, index).out;
        int64_t rest = k;
        for (int d = values.rank() - 1; d > 0; --d) {
          index[d - 1] = rest % values.dim(d);
          rest /= values.dim(d);
        }
        index += values.rank() - 1;
      }
    }
    return OkStatus();
  }
  int ragged_rank;
};

constexpr KernelRow kRows[] = {
    Op<RaggedTensorToSparse>("RaggedTensorToSparse"),
    Op<RaggedTensorToTensor>("RaggedTensorToTensor"),
};

}  // namespace
extern constinit const KernelFamily kRaggedConvertKernels = kRows;
}  // namespace tare
