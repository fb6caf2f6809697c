#include "resource/lookup_table.h"

#include <mutex>

namespace tare {
namespace {

using Form = LookupTable::Form;

size_t Elements(const Shape& s) { return static_cast<size_t>(s.num_elements()); }

bool IsKeyType(DType t) { return t == DType::kString || t == DType::kInt32 || t == DType::kInt64; }
bool IsValueType(DType t) {
  return IsKeyType(t) || t == DType::kFloat || t == DType::kDouble || t == DType::kBool;
}

// `shape` without its last `dims` dimensions, then `tail`.
Result<Shape> WithTail(const Shape& shape, int dims, const Shape& tail) {
  std::vector<int64_t> d(shape.dims().begin(), shape.dims().end() - dims);
  d.insert(d.end(), tail.dims().begin(), tail.dims().end());
  return Shape::Make(d);
}

bool EndsWith(const Shape& shape, const Shape& tail) {
  return shape.rank() >= tail.rank() &&
         std::equal(tail.dims().begin(), tail.dims().end(), shape.dims().end() - tail.rank());
}

// An element as TensorFlow's messages print it.
std::string Print(DType t, const void* data, size_t i) {
  switch (t) {
    case DType::kString: return std::string(static_cast<const StringCell*>(data)[i].view());
    case DType::kInt32: return fmt::format("{}", static_cast<const int32_t*>(data)[i]);
    case DType::kInt64: return fmt::format("{}", static_cast<const int64_t*>(data)[i]);
    case DType::kFloat: return fmt::format("{:g}", static_cast<const float*>(data)[i]);
    case DType::kDouble: return fmt::format("{:g}", static_cast<const double*>(data)[i]);
    default: return fmt::format("{:d}", static_cast<const bool*>(data)[i]);
  }
}

Status CheckDense(const LookupTable::Spec& s) {
  if (s.empty_key.shape() != s.deleted_key.shape()) {
    return InvalidArgument("Empty and deleted keys must have same shape, got shapes: {} and {}",
                           s.empty_key.shape().ToString(), s.deleted_key.shape().ToString());
  }
  if (s.key_shape.rank() > 1) {
    return InvalidArgument("Empty key must be a scalar or a vector, got shape {}", s.key_shape.ToString());
  }
  if (s.value_shape.rank() > 1) {
    return InvalidArgument("Empty value must be a scalar or a vector, got shape {}", s.value_shape.ToString());
  }
  if (!(s.max_load > 0 && s.max_load < 1)) {
    return InvalidArgument("max_load_factor must be between 0 and 1, got: {:g}", s.max_load);
  }
  if (s.buckets < 4 || (s.buckets & (s.buckets - 1)) != 0 || s.buckets > (int64_t{1} << 31)) {
    return InvalidArgument("Number of buckets must be at least 4 and a power of 2, got: {}", s.buckets);
  }
  return OkStatus();
}

}  // namespace

Result<Ref<LookupTable>> LookupTable::Make(std::string name, Spec spec, const Ref<Account>& account) {
  if (!IsKeyType(spec.key_dtype) || !IsValueType(spec.value_dtype)) {
    return Unimplemented("there is no table of {} to {}", DTypeName(spec.key_dtype), DTypeName(spec.value_dtype));
  }
  if (spec.form == Form::kMutableOfTensors && spec.value_shape.rank() != 1) {
    return InvalidArgument("Default value must be a vector, got shape {}", spec.value_shape.ToString());
  }
  if (spec.form == Form::kDense) TARE_RETURN_IF_ERROR(CheckDense(spec));
  auto table = Ref<LookupTable>::Adopt(new LookupTable(std::move(name), std::move(spec), account));
  if (table->spec_.form == Form::kDense && !table->spec_.key_shape.num_elements()) {
    return InvalidArgument("Empty and deleted keys must have elements");
  }
  if (table->spec_.form == Form::kDense && table->IsReserved(table->spec_.empty_key, table->spec_.deleted_key.raw(), 0)) {
    return InvalidArgument("Empty and deleted keys cannot be equal");
  }
  return table;
}

LookupTable::LookupTable(std::string name, Spec spec, const Ref<Account>& account)
    : Resource(std::move(name)), spec_(std::move(spec)), key_elements_(Elements(spec_.key_shape)),
      value_elements_(Elements(spec_.value_shape)),
      rows_(account, {spec_.key_dtype, key_elements_}, {spec_.value_dtype, value_elements_},
            spec_.form == Form::kDense) {
  if (spec_.form == Form::kDense) rows_.ReserveSlots(static_cast<size_t>(spec_.buckets));
}

Status LookupTable::CheckOpen() const {
  if (!closed_) return OkStatus();
  return FailedPrecondition("Table {} was destroyed, or its model was unloaded.", name());
}

Result<int64_t> LookupTable::size() const {
  std::shared_lock lock(mutex_);
  TARE_RETURN_IF_ERROR(CheckOpen());
  return static_cast<int64_t>(rows_.size());
}

Result<Shape> LookupTable::FoundShape(const Shape& keys) const {
  if (!EndsWith(keys, spec_.key_shape)) {
    return InvalidArgument("Input key shape {} must end with the table's key shape {}", keys.ToString(),
                           spec_.key_shape.ToString());
  }
  return WithTail(keys, spec_.key_shape.rank(), spec_.value_shape);
}

Status LookupTable::CheckKeys(const Tensor& keys) const {
  const Shape& s = keys.shape();
  if (spec_.form != Form::kDense) return OkStatus();
  // One dimension of keys; a scalar key may also come alone, or as a row of one element.
  const bool scalar = spec_.key_shape.rank() == 0;
  if (scalar && (s.rank() == 0 || (s.rank() == 2 && s[1] == 1))) return OkStatus();
  if (s.rank() == spec_.key_shape.rank() + 1 && EndsWith(s, spec_.key_shape)) return OkStatus();
  TARE_ASSIGN_OR_RETURN(Shape expected, WithTail(Shape{s.rank() ? s[0] : 1}, 0, spec_.key_shape));
  return InvalidArgument("Expected key shape {} got {}", expected.ToString(), s.ToString());
}

Status LookupTable::CheckKeysAndValues(const Tensor& keys, const Tensor& values) const {
  TARE_ASSIGN_OR_RETURN(Shape expected, FoundShape(keys.shape()));
  TARE_RETURN_IF_ERROR(CheckKeys(keys));
  if (values.shape() == expected) return OkStatus();
  return InvalidArgument("Expected shape {} for value, got {}", expected.ToString(), values.shape().ToString());
}

bool LookupTable::IsReserved(const Tensor& reserved, const void* keys, size_t row) const {
  const size_t first = row * key_elements_;
  if (spec_.key_dtype == DType::kString) {
    auto* k = static_cast<const StringCell*>(keys) + first;
    return std::equal(k, k + key_elements_, reserved.data<StringCell>(),
                      [](const StringCell& a, const StringCell& b) { return a.view() == b.view(); });
  }
  const size_t size = DTypeSize(spec_.key_dtype);
  return std::memcmp(static_cast<const std::byte*>(keys) + first * size, reserved.raw(), key_elements_ * size) == 0;
}

Status LookupTable::CheckReserved(const void* keys, size_t row) const {
  if (spec_.form != Form::kDense) return OkStatus();
  for (bool deleted : {false, true}) {
    if (!IsReserved(deleted ? spec_.deleted_key : spec_.empty_key, keys, row)) continue;
    return InvalidArgument("Using the {} as a table key is not allowed", deleted ? "deleted_key" : "empty_key");
  }
  return OkStatus();
}

Status LookupTable::Find(const Tensor& keys, const Tensor& default_value, Tensor& out, ThreadPool& threads) const {
  TARE_RETURN_IF_ERROR(CheckKeys(keys));
  std::shared_lock lock(mutex_);
  TARE_RETURN_IF_ERROR(CheckOpen());
  if (spec_.form == Form::kStatic && !initialized_) return FailedPrecondition("Table not initialized.");
  const auto n = static_cast<size_t>(RowsIn(keys));
  if (spec_.form == Form::kDense) {
    for (size_t i = 0; i < n; ++i) TARE_RETURN_IF_ERROR(CheckReserved(keys.raw(), i));
  }
  // As TensorFlow has it: static and dense tables take the first default for every key, though they may be
  // given one for each.
  const bool one_default = default_value.shape() == spec_.value_shape || spec_.form == Form::kStatic ||
                           spec_.form == Form::kDense;
  const RowType type{spec_.value_dtype, value_elements_};
  void* to = out.mutable_raw();
  threads.ParallelFor(static_cast<int64_t>(n), 40, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      size_t row = rows_.Find(keys.raw(), i);
      if (row != TableRows::kNone) {
        rows_.CopyValue(row, to, i);
      } else {
        CopyElements(type.dtype,
                     static_cast<const std::byte*>(default_value.raw()) +
                         (one_default ? 0 : i) * type.elements * DTypeSize(type.dtype),
                     static_cast<std::byte*>(to) + i * type.elements * DTypeSize(type.dtype), type.elements);
      }
    }
  });
  return OkStatus();
}

Status LookupTable::ReserveDense(int64_t more) {
  if (spec_.form != Form::kDense) return OkStatus();
  const double pending = static_cast<double>(rows_.size()) + static_cast<double>(more);
  size_t slots = rows_.slots() ? rows_.slots() : static_cast<size_t>(spec_.buckets);
  while (pending > static_cast<double>(slots) * spec_.max_load) slots *= 2;
  rows_.ReserveSlots(slots);
  return OkStatus();
}

Status LookupTable::Insert(const Tensor& keys, const Tensor& values) {
  if (spec_.form == Form::kStatic) {
    return Unimplemented("Insert not supported by InitializableLookupTable implementations");
  }
  TARE_RETURN_IF_ERROR(CheckKeysAndValues(keys, values));
  std::unique_lock lock(mutex_);
  TARE_RETURN_IF_ERROR(CheckOpen());
  const int64_t n = RowsIn(keys);
  TARE_RETURN_IF_ERROR(ReserveDense(n));
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    TARE_RETURN_IF_ERROR(CheckReserved(keys.raw(), i));
    bool added;
    rows_.SetValue(rows_.FindOrAdd(keys.raw(), i, &added), values.raw(), i);
  }
  return OkStatus();
}

Status LookupTable::Remove(const Tensor& keys) {
  if (spec_.form == Form::kStatic) {
    return Unimplemented("Remove not supported by InitializableLookupTable implementations");
  }
  TARE_RETURN_IF_ERROR(FoundShape(keys.shape()).status());
  TARE_RETURN_IF_ERROR(CheckKeys(keys));
  std::unique_lock lock(mutex_);
  TARE_RETURN_IF_ERROR(CheckOpen());
  for (size_t i = 0; i < static_cast<size_t>(RowsIn(keys)); ++i) {
    TARE_RETURN_IF_ERROR(CheckReserved(keys.raw(), i));
    rows_.Remove(keys.raw(), i);
  }
  return OkStatus();
}

Status LookupTable::Import(const Tensor& keys, const Tensor& values) {
  const bool dense = spec_.form == Form::kDense;
  if (!dense) TARE_RETURN_IF_ERROR(CheckKeysAndValues(keys, values));
  if (spec_.form == Form::kStatic) return Initialize(keys, values);
  const Shape key_row{static_cast<int64_t>(key_elements_)}, value_row{static_cast<int64_t>(value_elements_)};
  if (dense) {
    // As exported: a row a bucket, scalars as rows of one.
    TARE_ASSIGN_OR_RETURN(Shape expected, WithTail(keys.shape(), std::min(keys.rank(), 1), value_row));
    if (values.shape() != expected || keys.rank() != 2 || !EndsWith(keys.shape(), key_row)) {
      return InvalidArgument("Expected shape {} for value, got {}", expected.ToString(), values.shape().ToString());
    }
  }
  std::unique_lock lock(mutex_);
  TARE_RETURN_IF_ERROR(CheckOpen());
  rows_.Clear();
  const int64_t n = RowsIn(keys);
  TARE_RETURN_IF_ERROR(ReserveDense(n));
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    if (dense && !CheckReserved(keys.raw(), i).ok()) continue;
    bool added;
    rows_.SetValue(rows_.FindOrAdd(keys.raw(), i, &added), values.raw(), i);
  }
  return OkStatus();
}

Status LookupTable::Export(const Ref<Account>& account, Tensor* keys, Tensor* values) const {
  std::shared_lock lock(mutex_);
  TARE_RETURN_IF_ERROR(CheckOpen());
  if (spec_.form == Form::kStatic && !initialized_) return Aborted("HashTable is not initialized.");
  const bool dense = spec_.form == Form::kDense;
  const size_t n = dense ? rows_.slots() : rows_.size();
  Shape key_shape{static_cast<int64_t>(n)}, value_shape = key_shape;
  if (dense) key_shape.Append(static_cast<int64_t>(key_elements_));
  if (dense || spec_.value_shape.rank() > 0) value_shape.Append(static_cast<int64_t>(value_elements_));
  TARE_ASSIGN_OR_RETURN(*keys, Tensor::Make(account, spec_.key_dtype, key_shape));
  TARE_ASSIGN_OR_RETURN(*values, Tensor::Make(account, spec_.value_dtype, value_shape));
  if (!IsPlain(spec_.value_dtype) || values->bytes() == 0) {
    // Strings are empty already.
  } else {
    std::memset(values->mutable_raw(), 0, values->bytes());
  }
  const size_t key_bytes = key_elements_ * DTypeSize(spec_.key_dtype);
  for (size_t i = 0; i < n; ++i) {
    const size_t row = dense ? rows_.RowInSlot(i) : i;
    if (row == TableRows::kNone || row == TableRows::kDeleted) {
      const Tensor& reserved = row == TableRows::kNone ? spec_.empty_key : spec_.deleted_key;
      CopyElements(spec_.key_dtype, reserved.raw(), static_cast<std::byte*>(keys->mutable_raw()) + i * key_bytes,
                   key_elements_);
      continue;
    }
    rows_.CopyKey(row, keys->mutable_raw(), i);
    rows_.CopyValue(row, values->mutable_raw(), i);
  }
  return OkStatus();
}

Status LookupTable::AddUnique(const void* keys, size_t key, const void* values, size_t value) {
  bool added;
  size_t row = rows_.FindOrAdd(keys, key, &added);
  if (added) {
    rows_.SetValue(row, values, value);
  } else if (!rows_.ValueEquals(row, values, value)) {
    Tensor old;
    TARE_ASSIGN_OR_RETURN(old, Tensor::Make(MakeRef<Account>("message"), spec_.value_dtype, Shape{}));
    rows_.CopyValue(row, old.mutable_raw(), 0);
    return FailedPrecondition("HashTable has different value for same key. Key {} has {} and trying to add value {}",
                              Print(spec_.key_dtype, keys, key), Print(spec_.value_dtype, old.raw(), 0),
                              Print(spec_.value_dtype, values, value));
  }
  return OkStatus();
}

Status LookupTable::Initialize(int64_t size, const std::function<Status(const AddRow&)>& fill) {
  std::unique_lock lock(mutex_);
  TARE_RETURN_IF_ERROR(CheckOpen());
  if (spec_.form != Form::kStatic) return InvalidArgument("Table {} is not initializable", name());
  if (initialized_) {
    if (size < 0 || size == static_cast<int64_t>(rows_.size())) return OkStatus();
    return FailedPrecondition("Table was already initialized with different data.");
  }
  Status s = fill([&](const void* key, const void* value) { return AddUnique(key, 0, value, 0); });
  if (!s.ok()) {
    rows_.Clear();
    return s;
  }
  rows_.Trim();
  initialized_ = true;
  return OkStatus();
}

Status LookupTable::Initialize(const Tensor& keys, const Tensor& values) {
  if (keys.num_elements() == 0) return InvalidArgument("keys and values cannot be empty tensors.");
  const auto n = static_cast<size_t>(keys.num_elements());
  return Initialize(keys.num_elements(), [&](const AddRow&) {
    rows_.Reserve(n);
    for (size_t i = 0; i < n; ++i) TARE_RETURN_IF_ERROR(AddUnique(keys.raw(), i, values.raw(), i));
    return OkStatus();
  });
}

void LookupTable::Close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  rows_.Clear();
}

}  // namespace tare
