// Lookup tables: static ones, filled once (HashTable); mutable ones with scalar or vector values
// (MutableHashTable, MutableHashTableOfTensors); and dense ones, whose export shows their buckets.
//
// A table's memory is its own, charged as Kind::kTables, and goes back at once when the table is closed.
// Thread-safe: many find at once; a change waits for them.
#pragma once
#include <functional>
#include <shared_mutex>

#include "resource/resource_scope.h"
#include "resource/table_rows.h"
#include "threads/thread_pool.h"

namespace tare {

class LookupTable final : public Resource {
 public:
  static constexpr std::string_view kTypeName = "LookupTable";
  enum class Form { kStatic, kMutable, kMutableOfTensors, kDense };
  struct Spec {
    Form form = Form::kStatic;
    DType key_dtype = DType::kInvalid;
    DType value_dtype = DType::kInvalid;
    Shape key_shape;
    Shape value_shape;
    // Dense tables only: two keys that no row may have, and when to grow.
    Tensor empty_key;
    Tensor deleted_key;
    int64_t buckets = 0;
    float max_load = 0;
  };
  // Unimplemented for dtypes, InvalidArgument for shapes and sizes that TensorFlow has no table for.
  static Result<Ref<LookupTable>> Make(std::string name, Spec spec, const Ref<Account>& account);

  std::string_view type_name() const override { return kTypeName; }
  const Spec& spec() const { return spec_; }
  Result<int64_t> size() const;

  // The shape of what is found for keys of a shape. InvalidArgument when they cannot be keys.
  Result<Shape> FoundShape(const Shape& keys) const;
  // Values of `keys` to `out`, of `default_value` (one, or one a key) where there is none.
  Status Find(const Tensor& keys, const Tensor& default_value, Tensor& out, ThreadPool& threads) const;
  Status Insert(const Tensor& keys, const Tensor& values);
  Status Remove(const Tensor& keys);
  // Replaces a mutable table's rows; fills a static one.
  Status Import(const Tensor& keys, const Tensor& values);
  // The rows, in no particular order; dense tables give all buckets.
  Status Export(const Ref<Account>& account, Tensor* keys, Tensor* values) const;

  // Fills a static table. Filled already: nothing changes, and FailedPrecondition when the size differs.
  Status Initialize(const Tensor& keys, const Tensor& values);
  // The same, row by row: `fill` is called once, with a function that adds rows; -1 = unknown size.
  using AddRow = std::function<Status(const void* key, const void* value)>;
  Status Initialize(int64_t size, const std::function<Status(const AddRow&)>& fill);
  void Close() override;

 private:
  LookupTable(std::string name, Spec spec, const Ref<Account>& account);
  Status CheckOpen() const;
  Status CheckKeys(const Tensor& keys) const;
  Status CheckKeysAndValues(const Tensor& keys, const Tensor& values) const;
  // Refuses a dense table's two reserved keys.
  Status CheckReserved(const void* keys, size_t row) const;
  bool IsReserved(const Tensor& reserved, const void* keys, size_t row) const;
  Status AddUnique(const void* keys, size_t key, const void* values, size_t value);
  // Room for `more` rows in a dense table, by its own rule.
  Status ReserveDense(int64_t more);
  int64_t RowsIn(const Tensor& keys) const { return keys.num_elements() / static_cast<int64_t>(key_elements_); }

  const Spec spec_;
  const size_t key_elements_, value_elements_;
  mutable std::shared_mutex mutex_;
  TableRows rows_;            // guarded by mutex_
  bool initialized_ = false;  // guarded by mutex_
  bool closed_ = false;       // guarded by mutex_
};

}  // namespace tare
