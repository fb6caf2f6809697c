#include "kernels/feature_output.h"

#include <cstring>
#include <utility>

namespace tare {

Result<DenseShape> DenseShape::Make(PartialShape shape) {
  DenseShape d;
  if (shape.unknown_rank) return InvalidArgument("a dense feature needs a shape of known rank");
  d.dims.assign(shape.dims.begin(), shape.dims.end());
  d.variable = !d.dims.empty() && d.dims[0] < 0;
  TARE_ASSIGN_OR_RETURN(Shape fixed, Shape::Make(std::span(d.dims).subspan(d.variable)));
  d.stride = fixed.num_elements();
  if (d.variable && d.stride == 0)
    return InvalidArgument("a dense feature of variable length has an empty stride");
  return d;
}

Result<Shape> DenseShape::Full(std::vector<int64_t> lead, int64_t rows) const {
  lead.insert(lead.end(), dims.begin(), dims.end());
  if (variable) lead[lead.size() - dims.size()] = rows;
  return Shape::Make(lead);
}

std::vector<DenseShape> ReadDenseShapes(AttrReader& a, std::string_view name) {
  std::vector<DenseShape> shapes;
  for (PartialShape p : a.Shapes(name)) {
    auto shape = DenseShape::Make(p);
    if (!shape.ok())
      a.Fail(std::move(shape).status());
    else
      shapes.push_back(*std::move(shape));
  }
  return shapes;
}

Status CheckDefault(size_t i, const DenseShape& shape, const Tensor& value) {
  if (shape.variable) {
    if (value.num_elements() == 1) return OkStatus();
    return InvalidArgument(
        "dense_shape[{}] is a variable length shape: {}, therefore def_value[{}] must contain a "
        "single element (the "
        "padding element).  But its shape is: {}",
        i, shape.ToString(), i, value.shape().ToString());
  }
  if (value.num_elements() == 0 || std::ranges::equal(value.shape().dims(), shape.dims))
    return OkStatus();
  return InvalidArgument(
      "def_value[{}].shape() == {} is not compatible with dense_shapes_[{}] == {}", i,
      value.shape().ToString(), i, shape.ToString());
}

std::string_view RowName(const Tensor& names, int64_t row) {
  return row < names.num_elements() ? names.data<StringCell>()[row].view() : kUnknownName;
}

Status FeatureOutputs::Values(int i, const FeatureColumn& column) {
  TARE_ASSIGN_OR_RETURN(Tensor * out, c_.Output(i, column.spec.dtype, {column.values.size()}));
  column.values.CopyTo(0, column.values.size(), out, 0);
  return OkStatus();
}

Status FeatureOutputs::Integers(int i, DType dtype, const Shape& shape,
                                const std::vector<int64_t>& values) {
  TARE_ASSIGN_OR_RETURN(Tensor * out, c_.Output(i, dtype, shape));
  return ForType(Indexes{}, dtype, [&]<class T>() -> Status {
    for (size_t k = 0; k < values.size(); ++k) {
      if (!std::in_range<T>(values[k]))
        return InvalidArgument("row splits beyond {}", DTypeName(dtype));
      out->mutable_data<T>()[k] = static_cast<T>(values[k]);
    }
    return OkStatus();
  });
}

Status FeatureOutputs::Sparse(int k, int n, const FeatureColumn& column) {
  std::vector<int64_t> indices, shape;
  for (size_t row = 0; row < column.counts.size(); ++row) {
    for (int64_t j = 0; j < column.counts[row]; ++j) {
      if (batched_) indices.push_back(static_cast<int64_t>(row));
      indices.push_back(j);
    }
  }
  if (batched_) shape.push_back(static_cast<int64_t>(column.counts.size()));
  shape.push_back(column.max_count());
  return SetSparse(k, n, column, indices, shape);
}

Status FeatureOutputs::SparseList(int k, int n, const FeatureColumn& column) {
  std::vector<int64_t> indices, shape;
  size_t step = 0;
  for (size_t row = 0; row < column.lengths.size(); ++row) {
    for (int64_t s = 0; s < column.lengths[row]; ++s, ++step) {
      for (int64_t j = 0; j < column.counts[step]; ++j) {
        if (batched_) indices.push_back(static_cast<int64_t>(row));
        indices.push_back(s);
        indices.push_back(j);
      }
    }
  }
  if (batched_) shape.push_back(static_cast<int64_t>(column.lengths.size()));
  shape.push_back(column.max_length());
  shape.push_back(column.max_count());
  return SetSparse(k, n, column, indices, shape);
}

Status FeatureOutputs::SetSparse(int k, int n, const FeatureColumn& column,
                                 const std::vector<int64_t>& indices,
                                 const std::vector<int64_t>& shape) {
  const Shape index_shape{column.values.size(), static_cast<int64_t>(shape.size())};
  TARE_RETURN_IF_ERROR(Integers(at_ + k, DType::kInt64, index_shape, indices));
  TARE_RETURN_IF_ERROR(Values(at_ + n + k, column));
  return Vector(at_ + 2 * n + k, DType::kInt64, shape);
}

std::vector<int64_t> FeatureOutputs::Splits(const std::vector<int64_t>& counts) {
  std::vector<int64_t> splits{0};
  for (int64_t n : counts) splits.push_back(splits.back() + std::max<int64_t>(n, 0));
  return splits;
}

namespace {

void CopyDefault(const Tensor& value, Tensor* out, int64_t at, int64_t n) {
  const size_t size = DTypeSize(value.dtype());
  auto* to = static_cast<std::byte*>(out->mutable_raw()) + static_cast<size_t>(at) * size;
  if (value.num_elements() == n)
    return CopyElements(value.dtype(), value.raw(), to, static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    CopyElements(value.dtype(), value.raw(), to + static_cast<size_t>(i) * size, 1);
}

}  // namespace

Status FeatureOutputs::Dense(int i, const FeatureColumn& column, const DenseShape& shape,
                             const Tensor& value, const Tensor& names) {
  int64_t row_size = shape.stride;
  for (size_t row = 0; row < column.counts.size(); ++row) {
    const int64_t n = column.counts[row];
    auto where = [&] {
      return fmt::format("Name: {}, ", RowName(names, static_cast<int64_t>(row)));
    };
    if (n < 0 && value.num_elements() == 0) {
      return InvalidArgument("{}Feature: {} (data type: {}) is required but could not be found.",
                             where(), column.spec.key, DTypeName(column.spec.dtype));
    }
    if (n >= 0 && (shape.variable ? n % shape.stride != 0 : n != shape.stride)) {
      return InvalidArgument(
          "{}Key: {}, Index: {}.  Number of {} values != expected.  Values size: {} but output "
          "shape: {}",
          where(), column.spec.key, row, DTypeName(column.spec.dtype), n, shape.ToString());
    }
    row_size = std::max(row_size, shape.variable ? n : 0);
  }
  if (shape.variable) row_size = column.max_count();
  std::vector<int64_t> lead;
  if (batched_) lead.push_back(static_cast<int64_t>(column.counts.size()));
  TARE_ASSIGN_OR_RETURN(Shape full, shape.Full(lead, shape.variable ? row_size / shape.stride : 0));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c_.Output(i, column.spec.dtype, full));
  int64_t from = 0, at = 0;
  for (int64_t n : column.counts) {
    const int64_t present = std::max<int64_t>(n, 0);
    column.values.CopyTo(from, present, out, at);
    if (present < row_size) CopyDefault(value, out, at + present, row_size - present);
    from += present;
    at += row_size;
  }
  return OkStatus();
}

Status FeatureOutputs::DenseList(int i, const FeatureColumn& column, const DenseShape& shape,
                                 bool may_be_absent, const Tensor& names) {
  if (shape.variable)
    return InvalidArgument("feature list {} needs a fully defined shape", column.spec.key);
  for (size_t row = 0; row < column.lengths.size(); ++row) {
    if (column.lengths[row] >= 0 || may_be_absent) continue;
    return InvalidArgument(
        "Name: {}, Feature list '{}' is required but could not be found.  Did you mean to include "
        "it in "
        "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
        RowName(names, static_cast<int64_t>(row)), column.spec.key);
  }
  for (int64_t n : column.counts) {
    if (n == shape.stride) continue;
    return InvalidArgument(
        "Name: {}, Key: {}.  Number of {} values != expected.  values size: {} but output shape: "
        "{}",
        kUnknownName, column.spec.key, DTypeName(column.spec.dtype), std::max<int64_t>(n, 0),
        shape.ToString());
  }
  const int64_t steps = column.max_length();
  std::vector<int64_t> lead;
  if (batched_) lead.push_back(static_cast<int64_t>(column.lengths.size()));
  lead.push_back(steps);
  TARE_ASSIGN_OR_RETURN(Shape full, shape.Full(lead, 0));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c_.Output(i, column.spec.dtype, full));
  if (IsPlain(out->dtype()) && out->bytes() > 0) std::memset(out->mutable_raw(), 0, out->bytes());
  int64_t from = 0, at = 0;
  for (int64_t length : column.lengths) {
    const int64_t n = std::max<int64_t>(length, 0) * shape.stride;
    column.values.CopyTo(from, n, out, at);
    from += n;
    at += steps * shape.stride;
  }
  return OkStatus();
}

Result<FeatureKeys> KeysFromVector(const Tensor& t, size_t expected) {
  if (t.rank() != 1 || t.num_elements() != static_cast<int64_t>(expected)) {
    return InvalidArgument("Expected {} keys in a vector, got shape {}", expected,
                           t.shape().ToString());
  }
  FeatureKeys keys;
  for (const StringCell& s : t.as<StringCell>()) keys.push_back(s.view());
  return keys;
}

Result<FeatureKeys> KeysFromScalars(const KernelCall& c, int first, size_t n) {
  FeatureKeys keys;
  for (size_t i = 0; i < n; ++i) {
    const Tensor& t = c.input(first + static_cast<int>(i));
    if (t.num_elements() != 1)
      return InvalidArgument("Expected a scalar key, got shape {}", t.shape().ToString());
    keys.push_back(t.scalar<StringCell>().view());
  }
  return keys;
}

std::vector<FeatureSpec> FeatureSpecs(
    std::initializer_list<std::pair<const FeatureKeys*, const std::vector<DType>*>> parts) {
  std::vector<FeatureSpec> specs;
  for (auto [keys, types] : parts) {
    for (size_t i = 0; i < keys->size(); ++i) specs.push_back({(*keys)[i], (*types)[i]});
  }
  return specs;
}

}  // namespace tare
