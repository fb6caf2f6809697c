// Feature crosses: for each row of a batch, all combinations of one value from each column, joined as strings
// or hashed. Columns are sparse tensors, then dense matrices.
#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/hashing.h"
#include "kernels/registry.h"
#include "kernels/sparse_common.h"

namespace tare {
namespace {

// The values of one column, row by row.
struct Column {
  const Tensor* values;
  std::vector<int64_t> starts, counts;  // by row

  DType dtype() const { return values->dtype(); }
  std::string_view text(int64_t i) const { return values->data<StringCell>()[i].view(); }
  int64_t number(int64_t i) const { return values->data<int64_t>()[i]; }
};

Result<Column> SparseColumn(const Tensor& indices, const Tensor& values, const Tensor& shape, int position) {
  if (indices.rank() != 2 || indices.dim(1) != 2) {
    return InvalidArgument("Input indices should be a matrix of 2 columns but received shape {} at position {}",
                           indices.shape().ToString(), position);
  }
  if (values.rank() != 1) {
    return InvalidArgument("Input values should be a vector but received shape {} at position {}",
                           values.shape().ToString(), position);
  }
  if (values.dim(0) != indices.dim(0)) {
    return InvalidArgument("Expected size of values to be {} got {} at position {}", indices.dim(0), values.dim(0),
                           position);
  }
  if (shape.rank() != 1 || shape.dim(0) != 2) {
    return InvalidArgument("shape should imply a 2D tensor, but got {} at position {}", shape.shape().ToString(), position);
  }
  TARE_RETURN_IF_ERROR(Shape::Make(shape.as<int64_t>()).status());
  Column column{&values, {}, {}};
  const auto rows = static_cast<size_t>(shape.data<int64_t>()[0]);
  // Rows are taken to be in order; what is not in its place is left out.
  const int64_t* index = indices.data<int64_t>();
  for (int64_t row = 0, i = 0; row < static_cast<int64_t>(rows); ++row) {
    const int64_t start = i;
    while (i < indices.dim(0) && index[2 * i] == row) ++i;
    column.starts.push_back(start);
    column.counts.push_back(i - start);
  }
  return column;
}

struct Columns {
  std::vector<Column> all;
  int64_t rows = 0;

  // From N indices, N values, N shapes and then dense matrices, up to `end` inputs.
  static Result<Columns> Make(const KernelCall& c, int n, int end) {
    Columns columns;
    for (int i = 0; i < n; ++i) {
      const Tensor& shape = c.input(2 * n + i);
      // Before a row is counted, so that no shape makes us count many for nothing.
      if (shape.rank() == 1 && shape.dim(0) == 2 && !columns.all.empty() && shape.data<int64_t>()[0] != columns.rows) {
        return InvalidArgument("Expected batch size {} got {} at position {}", columns.rows, shape.data<int64_t>()[0], i);
      }
      TARE_ASSIGN_OR_RETURN(Column column, SparseColumn(c.input(i), c.input(n + i), shape, i));
      columns.rows = static_cast<int64_t>(column.starts.size());
      columns.all.push_back(std::move(column));
    }
    for (int i = 3 * n; i < end; ++i) {
      const Tensor& dense = c.input(i);
      if (dense.rank() != 2) {
        return InvalidArgument("Dense inputs should be a matrix but received shape {} at position {}",
                               dense.shape().ToString(), i - 3 * n);
      }
      if (!columns.all.empty() && dense.dim(0) != columns.rows) {
        return InvalidArgument("Expected batch size {} got {} at dense tensor {}", columns.rows, dense.dim(0), i - 3 * n);
      }
      columns.rows = dense.dim(0);
      Column column{&dense, {}, {}};
      for (int64_t row = 0; row < columns.rows; ++row) {
        column.starts.push_back(row * dense.dim(1));
        column.counts.push_back(dense.dim(1));
      }
      columns.all.push_back(std::move(column));
    }
    return columns;
  }
};

// Sets the three outputs; join(elements, i) sets value i from one element of each column.
template <class Join>
Status Cross(KernelCall& c, const Columns& columns, DType dtype, Join join) {
  std::vector<int64_t> per_row(static_cast<size_t>(columns.rows));
  int64_t total = 0, most = 0;
  for (int64_t row = 0; row < columns.rows; ++row) {
    int64_t n = 1;
    for (const Column& column : columns.all) {
      if (__builtin_mul_overflow(n, column.counts[row], &n)) return InvalidArgument("too many crosses in row {}", row);
    }
    if (__builtin_add_overflow(total, n, &total)) return InvalidArgument("too many crosses");
    most = std::max(most, n);
    per_row[row] = n;
  }
  const int64_t index_dims[] = {total, 2};
  TARE_ASSIGN_OR_RETURN(Shape index_shape, Shape::Make(index_dims));
  TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(0, DType::kInt64, index_shape));
  TARE_ASSIGN_OR_RETURN(Tensor * values, c.Output(1, dtype, {total}));
  const int64_t dims[] = {columns.rows, most};
  TARE_RETURN_IF_ERROR(OutputVector(c, 2, dims));
  std::vector<int64_t> elements(columns.all.size());
  int64_t at = 0;
  for (int64_t row = 0; row < columns.rows; ++row) {
    for (int64_t i = 0; i < per_row[row]; ++i, ++at) {
      // The last column varies fastest.
      int64_t rest = i;
      for (size_t k = columns.all.size(); k-- > 0;) {
        const Column& column = columns.all[k];
        elements[k] = column.starts[row] + rest % column.counts[row];
        rest /= column.counts[row];
      }
      indices->mutable_data<int64_t>()[2 * at] = row;
      indices->mutable_data<int64_t>()[2 * at + 1] = i;
      join(elements, values, at);
    }
  }
  return OkStatus();
}

Status CrossStrings(KernelCall& c, const Columns& columns, std::string_view separator) {
  std::string joined;
  return Cross(c, columns, DType::kString, [&](const std::vector<int64_t>& elements, Tensor* out, int64_t at) {
    joined.clear();
    for (size_t k = 0; k < elements.size(); ++k) {
      if (k > 0) joined += separator;
      const Column& column = columns.all[k];
      if (column.dtype() == DType::kString) joined += column.text(elements[k]);
      else joined += std::to_string(column.number(elements[k]));
    }
    out->mutable_data<StringCell>()[at].Assign(joined);
  });
}

// hash(column, element) gives each value's hash; `seed`, if any, is what the first is joined to.
template <class Hash>
Status CrossHashes(KernelCall& c, const Columns& columns, int64_t buckets, std::optional<uint64_t> seed, Hash hash) {
  const auto divisor = static_cast<uint64_t>(buckets > 0 ? buckets : std::numeric_limits<int64_t>::max());
  return Cross(c, columns, DType::kInt64, [&](const std::vector<int64_t>& elements, Tensor* out, int64_t at) {
    std::optional<uint64_t> joined = seed;
    for (size_t k = 0; k < elements.size(); ++k) {
      const uint64_t h = hash(columns.all[k], elements[k]);
      joined = joined ? JoinFingerprints(*joined, h) : h;
    }
    out->mutable_data<int64_t>()[at] = static_cast<int64_t>(joined.value_or(0) % divisor);
  });
}

struct SparseCross {
  explicit SparseCross(AttrReader& a)
      : n(static_cast<int>(a.Int("N"))), hashed(a.Bool("hashed_output")), buckets(a.Int("num_buckets")),
        key(static_cast<uint64_t>(a.Int("hash_key"))), as_strings(a.Type("internal_type") == DType::kString) {
    if ((a.Type("out_type") == DType::kInt64) != hashed) {
      a.Fail(InvalidArgument("out_type must be int64 for a hashed output and string otherwise"));
    }
  }
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Columns columns, Columns::Make(c, n, c.num_inputs()));
    for (const Column& column : columns.all) {
      if (as_strings && column.dtype() != DType::kString) {
        return InvalidArgument("Input values should be of internal type string but received {}", DTypeName(column.dtype()));
      }
    }
    if (!hashed) return CrossStrings(c, columns, "_X_");
    return CrossHashes(c, columns, buckets, key, [this](const Column& column, int64_t i) {
      if (column.dtype() == DType::kString) return Farm64(column.text(i));
      return static_cast<uint64_t>(column.number(i));
    });
  }
  int n;
  bool hashed;
  int64_t buckets;
  uint64_t key;
  bool as_strings;
};

struct SparseCrossV2 {
  explicit SparseCrossV2(AttrReader& a) : n(static_cast<int>(a.Int("N"))) {}
  Status Run(KernelCall& c) const {
    const int last = c.num_inputs() - 1;
    TARE_ASSIGN_OR_RETURN(Columns columns, Columns::Make(c, n, last));
    if (c.input(last).num_elements() != 1) return InvalidArgument("sep must be a scalar");
    return CrossStrings(c, columns, c.input(last).scalar<StringCell>().view());
  }
  int n;
};

struct SparseCrossHashed {
  explicit SparseCrossHashed(AttrReader& a) : n(static_cast<int>(a.Int("N"))) {}
  Status Run(KernelCall& c) const {
    const int salt_input = c.num_inputs() - 1;
    TARE_ASSIGN_OR_RETURN(Columns columns, Columns::Make(c, n, c.num_inputs() - 3));
    const Tensor &buckets = c.input(salt_input - 2), &strong = c.input(salt_input - 1), &salt = c.input(salt_input);
    if (buckets.num_elements() != 1 || strong.num_elements() != 1) {
      return InvalidArgument("num_buckets and strong_hash must be scalars");
    }
    if (salt.num_elements() != 2) {
      return InvalidArgument("Input \"salt\" must have length 2 but has length {}", salt.num_elements());
    }
    const bool keyed = strong.scalar<bool>();
    const auto k0 = static_cast<uint64_t>(salt.data<int64_t>()[0]), k1 = static_cast<uint64_t>(salt.data<int64_t>()[1]);
    return CrossHashes(c, columns, buckets.scalar<int64_t>(), {}, [&](const Column& column, int64_t i) {
      // As TensorFlow has it: a dense number is its own hash, of a sparse one only the low four bytes count.
      const bool dense = column.values->rank() == 2;
      std::string_view bytes;
      if (column.dtype() == DType::kString) {
        bytes = column.text(i);
      } else if (dense && !keyed) {
        return static_cast<uint64_t>(column.number(i));
      } else {
        bytes = {reinterpret_cast<const char*>(column.values->data<int64_t>() + i), 4};
      }
      return keyed ? SipHash(k0, k1, bytes) : Farm64(bytes);
    });
  }
  int n;
};

constexpr KernelRow kRows[] = {
    Op<SparseCross>("SparseCross"),
    Op<SparseCrossHashed>("SparseCrossHashed"),
    Op<SparseCrossV2>("SparseCrossV2"),
};

}  // namespace
extern constinit const KernelFamily kSparseCrossKernels = kRows;
}  // namespace tare
