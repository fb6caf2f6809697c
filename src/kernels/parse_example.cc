// Parsing tf.train.Example and SequenceExample messages into sparse, dense and ragged tensors.
//
// Keys come as one vector (V2 ops), as scalars (ParseExample, ParseSingleSequenceExample) or as attributes.
// `serialized` is a vector, or for some ops a scalar, which gives outputs without the batch dimension.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/feature_batch.h"
#include "kernels/registry.h"

namespace tare {
namespace {

constexpr std::string_view kUnknown = "<unknown>";

// What a dense feature must look like.
struct DenseShape {
  std::vector<int64_t> dims;
  bool variable = false;  // the first dimension is as long as the feature makes it
  int64_t stride = 1;     // elements, without a variable first dimension

  static Result<DenseShape> Make(PartialShape shape) {
    DenseShape d;
    if (shape.unknown_rank) return InvalidArgument("a dense feature needs a shape of known rank");
    d.dims.assign(shape.dims.begin(), shape.dims.end());
    d.variable = !d.dims.empty() && d.dims[0] < 0;
    TARE_ASSIGN_OR_RETURN(Shape fixed, Shape::Make(std::span(d.dims).subspan(d.variable)));
    d.stride = fixed.num_elements();
    if (d.variable && d.stride == 0) return InvalidArgument("a dense feature of variable length has an empty stride");
    return d;
  }
  // With `lead` dimensions in front and `rows` for a variable first one.
  Result<Shape> Full(std::vector<int64_t> lead, int64_t rows) const {
    lead.insert(lead.end(), dims.begin(), dims.end());
    if (variable) lead[lead.size() - dims.size()] = rows;
    return Shape::Make(lead);
  }
  std::string ToString() const { return PartialShape{false, dims}.ToString(); }
};

std::vector<DenseShape> ReadShapes(AttrReader& a, std::string_view name) {
  std::vector<DenseShape> shapes;
  for (PartialShape p : a.Shapes(name)) {
    auto shape = DenseShape::Make(p);
    if (!shape.ok()) a.Fail(std::move(shape).status());
    else shapes.push_back(*std::move(shape));
  }
  return shapes;
}

// Sets outputs one after another.
class Outputs {
 public:
  Outputs(KernelCall& c, bool batched) : c_(c), batched_(batched) {}

  void Skip(int n) { at_ += n; }
  int at() const { return at_; }
  bool batched() const { return batched_; }

  Status Values(int i, const FeatureColumn& column) {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c_.Output(i, column.spec.dtype, {column.values.size()}));
    column.values.CopyTo(0, column.values.size(), out, 0);
    return OkStatus();
  }
  Status Vector(int i, DType dtype, const std::vector<int64_t>& values) {
    return Set(i, dtype, Shape{static_cast<int64_t>(values.size())}, values);
  }
  Status Set(int i, DType dtype, const Shape& shape, const std::vector<int64_t>& values) {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c_.Output(i, dtype, shape));
    return ForType(Indexes{}, dtype, [&]<class T>() -> Status {
      for (size_t k = 0; k < values.size(); ++k) {
        if (!std::in_range<T>(values[k])) return InvalidArgument("row splits beyond {}", DTypeName(dtype));
        out->mutable_data<T>()[k] = static_cast<T>(values[k]);
      }
      return OkStatus();
    });
  }
  // Three groups of n outputs: indices, values, shapes; this is column k of n.
  Status SparseColumn(int k, int n, const FeatureColumn& column) {
    std::vector<int64_t> indices, shape;
    for (size_t row = 0; row < column.counts.size(); ++row) {
      for (int64_t j = 0; j < column.counts[row]; ++j) {
        if (batched_) indices.push_back(static_cast<int64_t>(row));
        indices.push_back(j);
      }
    }
    if (batched_) shape.push_back(static_cast<int64_t>(column.counts.size()));
    shape.push_back(column.max_count());
    return Sparse(k, n, column, indices, shape);
  }
  Status SparseListColumn(int k, int n, const FeatureColumn& column) {
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
    return Sparse(k, n, column, indices, shape);
  }
  // Zero, then the running sums of counts.
  static std::vector<int64_t> Splits(const std::vector<int64_t>& counts) {
    std::vector<int64_t> splits{0};
    for (int64_t n : counts) splits.push_back(splits.back() + std::max<int64_t>(n, 0));
    return splits;
  }
  KernelCall& call() { return c_; }

 private:
  Status Sparse(int k, int n, const FeatureColumn& column, const std::vector<int64_t>& indices,
                const std::vector<int64_t>& shape) {
    const Shape index_shape{column.values.size(), static_cast<int64_t>(shape.size())};
    TARE_RETURN_IF_ERROR(Set(at_ + k, DType::kInt64, index_shape, indices));
    TARE_RETURN_IF_ERROR(Values(at_ + n + k, column));
    return Vector(at_ + 2 * n + k, DType::kInt64, shape);
  }
  KernelCall& c_;
  bool batched_;
  int at_ = 0;
};

std::string_view RowName(const Tensor& names, int64_t row) {
  return row < names.num_elements() ? names.data<StringCell>()[row].view() : kUnknown;
}

Status CheckDefault(size_t i, const DenseShape& shape, const Tensor& value) {
  if (shape.variable) {
    if (value.num_elements() == 1) return OkStatus();
    return InvalidArgument(
        "dense_shape[{}] is a variable length shape: {}, therefore def_value[{}] must contain a single element (the "
        "padding element).  But its shape is: {}",
        i, shape.ToString(), i, value.shape().ToString());
  }
  if (value.num_elements() == 0 || std::ranges::equal(value.shape().dims(), shape.dims)) return OkStatus();
  return InvalidArgument("def_value[{}].shape() == {} is not compatible with dense_shapes_[{}] == {}", i,
                         value.shape().ToString(), i, shape.ToString());
}

void CopyDefault(const Tensor& value, Tensor* out, int64_t at, int64_t n) {
  const size_t size = DTypeSize(value.dtype());
  auto* to = static_cast<std::byte*>(out->mutable_raw()) + static_cast<size_t>(at) * size;
  if (value.num_elements() == n) return CopyElements(value.dtype(), value.raw(), to, static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) CopyElements(value.dtype(), value.raw(), to + static_cast<size_t>(i) * size, 1);
}

// Output i: a dense feature. `value` fills rows where it is absent, and pads a variable length.
Status DenseColumn(Outputs& o, int i, const FeatureColumn& column, const DenseShape& shape, const Tensor& value,
                   const Tensor& names) {
  int64_t row_size = shape.stride;
  for (size_t row = 0; row < column.counts.size(); ++row) {
    const int64_t n = column.counts[row];
    auto where = [&] { return fmt::format("Name: {}, ", RowName(names, static_cast<int64_t>(row))); };
    if (n < 0 && value.num_elements() == 0) {
      return InvalidArgument("{}Feature: {} (data type: {}) is required but could not be found.", where(),
                             column.spec.key, DTypeName(column.spec.dtype));
    }
    if (n >= 0 && (shape.variable ? n % shape.stride != 0 : n != shape.stride)) {
      return InvalidArgument("{}Key: {}, Index: {}.  Number of {} values != expected.  Values size: {} but output shape: {}",
                             where(), column.spec.key, row, DTypeName(column.spec.dtype), n, shape.ToString());
    }
    row_size = std::max(row_size, shape.variable ? n : 0);
  }
  if (shape.variable) row_size = column.max_count();
  std::vector<int64_t> lead;
  if (o.batched()) lead.push_back(static_cast<int64_t>(column.counts.size()));
  TARE_ASSIGN_OR_RETURN(Shape full, shape.Full(lead, shape.variable ? row_size / shape.stride : 0));
  TARE_ASSIGN_OR_RETURN(Tensor * out, o.call().Output(i, column.spec.dtype, full));
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

// Output i: a dense feature list, padded with zeros to the longest.
Status DenseListColumn(Outputs& o, int i, const FeatureColumn& column, const DenseShape& shape, bool may_be_absent,
                       const Tensor& names) {
  if (shape.variable) return InvalidArgument("feature list {} needs a fully defined shape", column.spec.key);
  for (size_t row = 0; row < column.lengths.size(); ++row) {
    if (column.lengths[row] >= 0 || may_be_absent) continue;
    return InvalidArgument("Name: {}, Feature list '{}' is required but could not be found.  Did you mean to include it in "
                           "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
                           RowName(names, static_cast<int64_t>(row)), column.spec.key);
  }
  for (int64_t n : column.counts) {
    if (n == shape.stride) continue;
    return InvalidArgument("Name: {}, Key: {}.  Number of {} values != expected.  values size: {} but output shape: {}",
                           kUnknown, column.spec.key, DTypeName(column.spec.dtype), std::max<int64_t>(n, 0), shape.ToString());
  }
  const int64_t steps = column.max_length();
  std::vector<int64_t> lead;
  if (o.batched()) lead.push_back(static_cast<int64_t>(column.lengths.size()));
  lead.push_back(steps);
  TARE_ASSIGN_OR_RETURN(Shape full, shape.Full(lead, 0));
  TARE_ASSIGN_OR_RETURN(Tensor * out, o.call().Output(i, column.spec.dtype, full));
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

// Where an op's keys come from.
struct Keys {
  // From a vector of strings.
  static Result<std::vector<std::string_view>> FromVector(const Tensor& t, size_t expected) {
    if (t.rank() != 1 || t.num_elements() != static_cast<int64_t>(expected)) {
      return InvalidArgument("Expected {} keys in a vector, got shape {}", expected, t.shape().ToString());
    }
    std::vector<std::string_view> keys;
    for (const StringCell& s : t.as<StringCell>()) keys.push_back(s.view());
    return keys;
  }
  // From `n` scalars, the inputs from `first` on.
  static Result<std::vector<std::string_view>> FromScalars(const KernelCall& c, int first, size_t n) {
    std::vector<std::string_view> keys;
    for (size_t i = 0; i < n; ++i) {
      const Tensor& t = c.input(first + static_cast<int>(i));
      if (t.num_elements() != 1) return InvalidArgument("Expected a scalar key, got shape {}", t.shape().ToString());
      keys.push_back(t.scalar<StringCell>().view());
    }
    return keys;
  }
  static std::vector<std::string_view> FromAttr(const std::vector<std::string>& keys) { return {keys.begin(), keys.end()}; }
};

std::vector<FeatureSpec> Specs(std::initializer_list<std::pair<const std::vector<std::string_view>*, const std::vector<DType>*>> parts) {
  std::vector<FeatureSpec> specs;
  for (auto [keys, types] : parts) {
    for (size_t i = 0; i < keys->size(); ++i) specs.push_back({(*keys)[i], (*types)[i]});
  }
  return specs;
}

Status CheckNames(const Tensor& names, const Tensor& serialized) {
  if (names.num_elements() == 0 || names.shape() == serialized.shape()) return OkStatus();
  return InvalidArgument("Expected names have the same shape as serialized: name.shape={}, serialized.shape={}",
                         names.shape().ToString(), serialized.shape().ToString());
}

// ParseExample, ParseExampleV2 and ParseSingleExample.
struct ParseExample {
  explicit ParseExample(AttrReader& a)
      : sparse_types(a.TypeList("sparse_types")), dense_types(a.TypeList("Tdense")), shapes(ReadShapes(a, "dense_shapes")) {
    form = a.op().name == "ParseExample" ? kV1 : a.op().name == "ParseExampleV2" ? kV2 : kSingle;
    if (form == kV2) {
      ragged_types = a.TypeList("ragged_value_types");
      split_types = a.TypeList("ragged_split_types");
    } else if (form == kSingle) {
      sparse_names = a.Strings("sparse_keys");
      dense_names = a.Strings("dense_keys");
      if (sparse_names.size() != sparse_types.size() || dense_names.size() != dense_types.size()) {
        a.Fail(InvalidArgument("as many keys as types are needed"));
      }
    }
    if (const char* count = form == kV1 ? "Nsparse" : "num_sparse"; a.Int(count) != static_cast<int64_t>(sparse_types.size())) {
      a.Fail(InvalidArgument("len(sparse_keys) != len(sparse_types)"));
    }
    if (shapes.size() != dense_types.size() || split_types.size() != ragged_types.size()) {
      a.Fail(InvalidArgument("len(dense_keys) != len(dense_shapes), or ragged types do not match"));
    }
  }

  Status Run(KernelCall& c) const {
    const Tensor& serialized = c.input(0);
    if (serialized.rank() > 1 || (form == kV1 && serialized.rank() != 1) || (form == kSingle && serialized.rank() != 0)) {
      return InvalidArgument("Expected serialized to be a {}, got shape {}", form == kSingle ? "scalar" : "vector",
                             serialized.shape().ToString());
    }
    std::vector<std::string_view> sparse, dense, ragged;
    int defaults = 1;
    const int ns = static_cast<int>(sparse_types.size()), nd = static_cast<int>(dense_types.size());
    if (form == kV2) {
      TARE_ASSIGN_OR_RETURN(sparse, Keys::FromVector(c.input(2), sparse_types.size()));
      TARE_ASSIGN_OR_RETURN(dense, Keys::FromVector(c.input(3), dense_types.size()));
      TARE_ASSIGN_OR_RETURN(ragged, Keys::FromVector(c.input(4), ragged_types.size()));
      defaults = 5;
    } else if (form == kV1) {
      TARE_ASSIGN_OR_RETURN(sparse, Keys::FromScalars(c, 2, sparse_types.size()));
      TARE_ASSIGN_OR_RETURN(dense, Keys::FromScalars(c, 2 + ns, dense_types.size()));
      defaults = 2 + ns + nd;
    } else {
      sparse = Keys::FromAttr(sparse_names);
      dense = Keys::FromAttr(dense_names);
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      TARE_RETURN_IF_ERROR(CheckDefault(i, shapes[i], c.input(defaults + static_cast<int>(i))));
    }
    const Tensor no_names(DType::kString, Shape{0}, nullptr, nullptr);
    const Tensor& names = form == kSingle ? no_names : c.input(1);
    TARE_RETURN_IF_ERROR(CheckNames(names, serialized));
    FeatureBatch batch(Specs({{&sparse, &sparse_types}, {&dense, &dense_types}, {&ragged, &ragged_types}}));
    for (int64_t row = 0; row < serialized.num_elements(); ++row) {
      TARE_ASSIGN_OR_RETURN(auto features, Submessages(serialized.data<StringCell>()[row].view(), 1));
      TARE_RETURN_IF_ERROR(batch.AddFeatures(features, RowName(names, row)));
    }
    return Write(c, batch, defaults, names, serialized.rank() == 1);
  }

 private:
  Status Write(KernelCall& c, const FeatureBatch& batch, int defaults, const Tensor& names, bool batched) const {
    Outputs o(c, batched);
    size_t k = 0;
    const int ns = static_cast<int>(sparse_types.size()), nr = static_cast<int>(ragged_types.size());
    for (int i = 0; i < ns; ++i) TARE_RETURN_IF_ERROR(o.SparseColumn(i, ns, batch.column(k++)));
    o.Skip(3 * ns);
    for (size_t i = 0; i < shapes.size(); ++i, o.Skip(1)) {
      TARE_RETURN_IF_ERROR(DenseColumn(o, o.at(), batch.column(k++), shapes[i], c.input(defaults + static_cast<int>(i)),
                                       names));
    }
    for (int i = 0; i < nr; ++i) {
      const FeatureColumn& column = batch.column(k++);
      TARE_RETURN_IF_ERROR(o.Values(o.at() + i, column));
      TARE_RETURN_IF_ERROR(o.Vector(o.at() + nr + i, split_types[i],
                                    batched ? Outputs::Splits(column.counts) : std::vector<int64_t>()));
    }
    return OkStatus();
  }
  enum Form { kV1, kV2, kSingle } form;
  std::vector<DType> sparse_types, dense_types, ragged_types, split_types;
  std::vector<DenseShape> shapes;
  std::vector<std::string> sparse_names, dense_names;
};

// ParseSequenceExample, its V2 and ParseSingleSequenceExample.
struct ParseSequence {
  explicit ParseSequence(AttrReader& a)
      : sparse_types(a.TypeList("context_sparse_types")), dense_types(a.TypeList("Tcontext_dense")),
        shapes(ReadShapes(a, "context_dense_shapes")), list_sparse_types(a.TypeList("feature_list_sparse_types")),
        list_dense_types(a.TypeList("feature_list_dense_types")),
        list_shapes(ReadShapes(a, "feature_list_dense_shapes")) {
    form = a.op().name == "ParseSequenceExample" ? kV1 : a.op().name == "ParseSequenceExampleV2" ? kV2 : kSingle;
    if (form == kV1) {
      names = {a.Strings("context_sparse_keys"), a.Strings("context_dense_keys"), a.Strings("feature_list_sparse_keys"),
               a.Strings("feature_list_dense_keys")};
      assumed_empty = a.Strings("feature_list_dense_missing_assumed_empty");
      if (names[0].size() != sparse_types.size() || names[1].size() != dense_types.size() ||
          names[2].size() != list_sparse_types.size() || names[3].size() != list_dense_types.size()) {
        a.Fail(InvalidArgument("as many keys as types are needed"));
      }
    } else if (form == kV2) {
      ragged_types = a.TypeList("context_ragged_value_types");
      split_types = a.TypeList("context_ragged_split_types");
      list_ragged_types = a.TypeList("feature_list_ragged_value_types");
      list_split_types = a.TypeList("feature_list_ragged_split_types");
    }
    auto counts = [&](const char* name, size_t n) {
      if (a.Has(name) && a.Int(name) != static_cast<int64_t>(n)) a.Fail(InvalidArgument("{} does not match its types", name));
    };
    counts("Ncontext_sparse", sparse_types.size());
    if (form != kV2) counts("Ncontext_dense", dense_types.size());
    counts("Nfeature_list_sparse", list_sparse_types.size());
    counts("Nfeature_list_dense", list_dense_types.size());
    if (shapes.size() != dense_types.size() || list_shapes.size() != list_dense_types.size() ||
        split_types.size() != ragged_types.size() || list_split_types.size() != list_ragged_types.size()) {
      a.Fail(InvalidArgument("as many shapes as dense types, and split types as ragged types, are needed"));
    }
  }

  Status Run(KernelCall& c) const {
    const Tensor& serialized = c.input(0);
    if (serialized.rank() > 1 || (form == kV1 && serialized.rank() != 1) || (form == kSingle && serialized.rank() != 0)) {
      return InvalidArgument("Expected serialized to be a {}, got shape {}", form == kSingle ? "scalar" : "vector",
                             serialized.shape().ToString());
    }
    Wanted w;
    TARE_RETURN_IF_ERROR(ReadInputs(c, &w));
    for (size_t i = 0; i < shapes.size(); ++i) {
      TARE_RETURN_IF_ERROR(CheckDefault(i, shapes[i], c.input(w.defaults + static_cast<int>(i))));
    }
    FeatureBatch context(Specs({{&w.keys[0], &sparse_types}, {&w.keys[1], &dense_types}, {&w.keys[4], &ragged_types}}));
    FeatureBatch lists(
        Specs({{&w.keys[2], &list_sparse_types}, {&w.keys[3], &list_dense_types}, {&w.keys[5], &list_ragged_types}}));
    for (int64_t row = 0; row < serialized.num_elements(); ++row) {
      std::string_view message = serialized.data<StringCell>()[row].view(), name = RowName(*w.debug_names, row);
      TARE_ASSIGN_OR_RETURN(auto features, Submessages(message, 1));
      TARE_ASSIGN_OR_RETURN(auto feature_lists, Submessages(message, 2));
      TARE_RETURN_IF_ERROR(context.AddFeatures(features, name));
      TARE_RETURN_IF_ERROR(lists.AddFeatureLists(feature_lists, name));
    }
    return Write(c, w, context, lists, serialized.rank() == 1);
  }

 private:
  // What the inputs ask for.
  struct Wanted {
    // Context sparse, context dense, list sparse, list dense, context ragged, list ragged.
    std::array<std::vector<std::string_view>, 6> keys;
    std::vector<bool> may_be_absent;  // by dense list
    int defaults = 0;
    const Tensor* debug_names = nullptr;
  };

  Status ReadInputs(const KernelCall& c, Wanted* w) const {
    const std::array<size_t, 6> sizes = {sparse_types.size(), dense_types.size(), list_sparse_types.size(),
                                         list_dense_types.size(), ragged_types.size(), list_ragged_types.size()};
    std::vector<std::string_view> absent;
    if (form == kV2) {
      constexpr int kInputs[] = {2, 3, 5, 6, 4, 7};
      for (int i = 0; i < 6; ++i) {
        TARE_ASSIGN_OR_RETURN(w->keys[i], Keys::FromVector(c.input(kInputs[i]), sizes[i]));
      }
      const Tensor& flags = c.input(8);
      if (flags.num_elements() != static_cast<int64_t>(sizes[3])) {
        return InvalidArgument("Expected {} flags of lists that may be missing, got shape {}", sizes[3],
                               flags.shape().ToString());
      }
      w->may_be_absent.assign(flags.as<bool>().begin(), flags.as<bool>().end());
      w->defaults = 9;
      w->debug_names = &c.input(1);
      return OkStatus();
    }
    if (form == kV1) {
      for (int i = 0; i < 4; ++i) w->keys[i] = Keys::FromAttr(names[i]);
      absent = Keys::FromAttr(assumed_empty);
      w->defaults = 2;
      w->debug_names = &c.input(1);
    } else {
      int at = 2;
      for (int i = 0; i < 4; at += static_cast<int>(sizes[i++])) {
        TARE_ASSIGN_OR_RETURN(w->keys[i], Keys::FromScalars(c, at, sizes[i]));
      }
      for (const StringCell& s : c.input(1).as<StringCell>()) absent.push_back(s.view());
      w->defaults = at;
      w->debug_names = &c.input(c.num_inputs() - 1);
    }
    for (std::string_view key : w->keys[3]) w->may_be_absent.push_back(std::ranges::find(absent, key) != absent.end());
    return OkStatus();
  }

  Status Write(KernelCall& c, const Wanted& w, const FeatureBatch& context, const FeatureBatch& lists,
               bool batched) const {
    Outputs o(c, batched);
    // Splits of a single message say nothing: they are a zero.
    auto splits = [&](int i, DType dtype, const std::vector<int64_t>& counts) {
      return batched ? o.Vector(i, dtype, Outputs::Splits(counts)) : o.Set(i, dtype, Shape{}, {0});
    };
    size_t k = 0;
    int n = static_cast<int>(sparse_types.size());
    for (int i = 0; i < n; ++i) TARE_RETURN_IF_ERROR(o.SparseColumn(i, n, context.column(k++)));
    o.Skip(3 * n);
    for (size_t i = 0; i < shapes.size(); ++i, o.Skip(1)) {
      TARE_RETURN_IF_ERROR(DenseColumn(o, o.at(), context.column(k++), shapes[i],
                                       c.input(w.defaults + static_cast<int>(i)), *w.debug_names));
    }
    n = static_cast<int>(ragged_types.size());
    for (int i = 0; i < n; ++i) {
      const FeatureColumn& column = context.column(k++);
      TARE_RETURN_IF_ERROR(o.Values(o.at() + i, column));
      TARE_RETURN_IF_ERROR(splits(o.at() + n + i, split_types[i], column.counts));
    }
    o.Skip(2 * n);
    k = 0;
    n = static_cast<int>(list_sparse_types.size());
    for (int i = 0; i < n; ++i) TARE_RETURN_IF_ERROR(o.SparseListColumn(i, n, lists.column(k++)));
    o.Skip(3 * n);
    n = static_cast<int>(list_shapes.size());
    for (int i = 0; i < n; ++i) {
      const FeatureColumn& column = lists.column(k++);
      TARE_RETURN_IF_ERROR(
          DenseListColumn(o, o.at() + i, column, list_shapes[i], w.may_be_absent[i], *w.debug_names));
      if (form == kSingle) continue;
      std::vector<int64_t> lengths = column.lengths;
      for (int64_t& l : lengths) l = std::max<int64_t>(l, 0);
      const Shape shape = batched ? Shape{static_cast<int64_t>(lengths.size())} : Shape{};
      TARE_RETURN_IF_ERROR(o.Set(o.at() + n + i, DType::kInt64, shape, lengths));
    }
    o.Skip(2 * n);
    n = static_cast<int>(list_ragged_types.size());
    for (int i = 0; i < n; ++i) {
      const FeatureColumn& column = lists.column(k++);
      TARE_RETURN_IF_ERROR(o.Values(o.at() + i, column));
      TARE_RETURN_IF_ERROR(splits(o.at() + n + i, list_split_types[i], column.lengths));
      TARE_RETURN_IF_ERROR(o.Vector(o.at() + 2 * n + i, list_split_types[i], Outputs::Splits(column.counts)));
    }
    return OkStatus();
  }

  enum Form { kV1, kV2, kSingle } form;
  std::vector<DType> sparse_types, dense_types, ragged_types, split_types;
  std::vector<DenseShape> shapes;
  std::vector<DType> list_sparse_types, list_dense_types, list_ragged_types, list_split_types;
  std::vector<DenseShape> list_shapes;
  std::array<std::vector<std::string>, 4> names;
  std::vector<std::string> assumed_empty;
};

constexpr KernelRow kRows[] = {
    Op<ParseExample>("ParseExample"),
    Op<ParseExample>("ParseExampleV2"),
    Op<ParseSequence>("ParseSequenceExample"),
    Op<ParseSequence>("ParseSequenceExampleV2"),
    Op<ParseExample>("ParseSingleExample"),
    Op<ParseSequence>("ParseSingleSequenceExample"),
};

}  // namespace
extern constinit const KernelFamily kParseExampleKernels = kRows;
}  // namespace tare
