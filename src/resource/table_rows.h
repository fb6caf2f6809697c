// The rows of a lookup table: keys and values in arrays of their own, found by an open-addressing index.
//
// Keys and values are rows of one or more elements: plain ones lie in the arrays, strings are views of bytes
// in one region, so that the whole goes back to the OS at once and no key costs a malloc. Rows stay dense: a
// removed row is replaced by the last one. Strings that nothing refers to any more are dropped by copying
// the others to a fresh region once they are the greater part, which bounds a table under steady change.
// Many may find; one may change.
#pragma once
#include <memory>
#include <string_view>

#include "memory/paged_array.h"
#include "memory/region.h"
#include "tensor/dtype.h"
#include "tensor/string_cell.h"

namespace tare {

// A column's element type and how many make a row.
struct RowType {
  DType dtype;
  size_t elements = 1;
  bool is_string() const { return dtype == DType::kString; }
  // Bytes of a row as stored.
  size_t stride() const {
    return elements * (is_string() ? sizeof(std::string_view) : DTypeSize(dtype));
  }
};

class TableRows {
 public:
  // `ordered` files integer keys by their low bits, as dense tables do; else keys are mixed.
  TableRows(const Ref<Account>& account, RowType key, RowType value, bool ordered);
  TableRows(TableRows&&) = default;
  TableRows& operator=(TableRows&&) = default;

  static constexpr size_t kNone = ~size_t{0};

  size_t size() const { return size_; }
  // Keys and values of tensors are addressed by row: `keys` is a tensor's data.
  size_t Find(const void* keys, size_t row) const;
  // The row of that key, added with an empty value when there is none; `*added` says which.
  size_t FindOrAdd(const void* keys, size_t row, bool* added);
  void SetValue(size_t row, const void* values, size_t from);
  bool Remove(const void* keys, size_t row);
  // Drops every row and returns the memory.
  void Clear();
  // Room for `rows` in all; and, once no more are to come, for no more than there are.
  void Reserve(size_t rows);
  void Trim();

  // Copies a key or value out to a tensor's data at row `to`.
  void CopyKey(size_t row, void* out, size_t to) const { Copy(key_, keys_.data(), row, out, to); }
  void CopyValue(size_t row, void* out, size_t to) const { Copy(value_, values_.data(), row, out, to); }
  bool ValueEquals(size_t row, const void* values, size_t from) const;

  // Index slots, for tables that export them: at least `slots` (a power of two); the row in slot i, or
  // kNone, or kDeleted.
  static constexpr size_t kDeleted = kNone - 1;
  void ReserveSlots(size_t slots);
  size_t slots() const { return mask_ ? mask_ + 1 : 0; }
  size_t RowInSlot(size_t i) const;

 private:
  struct Slot {
    uint32_t row_plus_1;  // 0: never used; kDeletedSlot: was used
    uint32_t hash;
  };
  static constexpr uint32_t kDeletedSlot = ~uint32_t{0};

  template <class K>
  uint32_t Hash(const K* key) const;
  template <class K, class Stored>
  bool Equal(const K* key, size_t row) const;
  template <class K, class Stored>
  size_t FindSlot(const K* key, uint32_t hash) const;
  // Calls f with the key as its own type: StringCell, int32_t, int64_t or bytes.
  template <class F>
  auto WithKey(const void* keys, size_t row, F&& f) const;
  static void Copy(const RowType& type, const std::byte* rows, size_t row, void* out, size_t to);
  void Store(const RowType& type, std::byte* at, const void* from, size_t row);
  void Rehash(size_t slots);
  void DropDeadStrings();
  size_t StringBytes(const RowType& type, const std::byte* at) const;

  Ref<Account> account_;
  RowType key_, value_;
  bool ordered_;
  size_t size_ = 0;
  size_t mask_ = 0;
  size_t deleted_ = 0;
  size_t string_bytes_ = 0;  // in the region, dead ones included
  size_t dead_bytes_ = 0;
  PagedArray<std::byte> keys_, values_;
  PagedArray<Slot> index_;
  std::unique_ptr<Region> strings_;
};

}  // namespace tare
