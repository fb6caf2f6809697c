#include "resource/table_rows.h"

#include <farmhash.h>

namespace tare {
namespace {

constexpr size_t kMinSlots = 16;
// Dead strings below this are not worth a copy of the others.
constexpr size_t kMinDeadBytes = 64 << 10;

std::string_view View(const StringCell& s) { return s.view(); }
template <class T>
T View(const T& v) {
  return v;
}

uint64_t Mix(uint64_t v) {
  v *= 0x9e3779b97f4a7c15;
  return v >> 32;
}

}  // namespace

TableRows::TableRows(const Ref<Account>& account, RowType key, RowType value, bool ordered)
    : account_(account), key_(key), value_(value), ordered_(ordered), keys_(account, Kind::kTables),
      values_(account, Kind::kTables), index_(account, Kind::kTables) {}

template <class K>
uint32_t TableRows::Hash(const K* key) const {
  uint64_t h = 0;
  for (size_t i = 0; i < key_.elements; ++i) {
    auto v = View(key[i]);
    if constexpr (std::is_same_v<decltype(v), std::string_view>) {
      h = h * 31 + util::Hash64(v.data(), v.size());
    } else {
      auto wide = static_cast<uint64_t>(static_cast<int64_t>(v));
      h = h * 31 + (ordered_ ? wide : Mix(wide));
    }
  }
  return static_cast<uint32_t>(h);
}

template <class K, class Stored>
bool TableRows::Equal(const K* key, size_t row) const {
  auto* stored = reinterpret_cast<const Stored*>(keys_.data()) + row * key_.elements;
  for (size_t i = 0; i < key_.elements; ++i) {
    if (stored[i] != View(key[i])) return false;
  }
  return true;
}

template <class K, class Stored>
size_t TableRows::FindSlot(const K* key, uint32_t hash) const {
  if (mask_ == 0) return kNone;
  // Triangular steps visit every slot; Rehash keeps some unused, where the search ends.
  for (size_t at = hash & mask_, step = 1;; at = (at + step++) & mask_) {
    const Slot& s = index_[at];
    if (s.row_plus_1 == 0) return kNone;
    if (s.hash == hash && s.row_plus_1 != kDeletedSlot && Equal<K, Stored>(key, s.row_plus_1 - 1)) return at;
  }
}

template <class F>
auto TableRows::WithKey(const void* keys, size_t row, F&& f) const {
  size_t first = row * key_.elements;
  switch (key_.dtype) {
    case DType::kString:
      return f.template operator()<StringCell, std::string_view>(static_cast<const StringCell*>(keys) + first);
    case DType::kInt32: return f.template operator()<int32_t, int32_t>(static_cast<const int32_t*>(keys) + first);
    default: return f.template operator()<int64_t, int64_t>(static_cast<const int64_t*>(keys) + first);
  }
}

size_t TableRows::Find(const void* keys, size_t row) const {
  return WithKey(keys, row, [&]<class K, class S>(const K* key) -> size_t {
    size_t at = FindSlot<K, S>(key, Hash(key));
    return at == kNone ? kNone : index_[at].row_plus_1 - 1;
  });
}

size_t TableRows::FindOrAdd(const void* keys, size_t row, bool* added) {
  return WithKey(keys, row, [&]<class K, class S>(const K* key) -> size_t {
    const uint32_t hash = Hash(key);
    size_t at = FindSlot<K, S>(key, hash);
    *added = at == kNone;
    if (!*added) return index_[at].row_plus_1 - 1;
    if (size_ >= kDeletedSlot - 2) throw std::bad_alloc();
    // Dense tables choose their number of slots, which is the exported one; here only an unused one must stay.
    const size_t used = size_ + deleted_ + 1;
    if (ordered_ ? used >= slots() : used * 4 > slots() * 3) {
      Rehash(std::max(kMinSlots, (size_ + 1) * 2 > slots() ? slots() * 2 : slots()));
    }
    keys_.Reserve((size_ + 1) * key_.stride());
    values_.Reserve((size_ + 1) * value_.stride());
    Store(key_, keys_.data() + size_ * key_.stride(), keys, row);
    std::memset(values_.data() + size_ * value_.stride(), 0, value_.stride());
    at = hash & mask_;
    for (size_t step = 1; index_[at].row_plus_1 != 0 && index_[at].row_plus_1 != kDeletedSlot;) {
      at = (at + step++) & mask_;
    }
    deleted_ -= index_[at].row_plus_1 == kDeletedSlot;
    index_[at] = {static_cast<uint32_t>(++size_), hash};
    return size_ - 1;
  });
}

void TableRows::SetValue(size_t row, const void* values, size_t from) {
  std::byte* at = values_.data() + row * value_.stride();
  dead_bytes_ += StringBytes(value_, at);
  Store(value_, at, values, from);
  DropDeadStrings();
}

bool TableRows::Remove(const void* keys, size_t row) {
  return WithKey(keys, row, [&]<class K, class S>(const K* key) {
    size_t at = FindSlot<K, S>(key, Hash(key));
    if (at == kNone) return false;
    const size_t gone = index_[at].row_plus_1 - 1, last = size_ - 1;
    std::byte* key_at = keys_.data() + gone * key_.stride();
    std::byte* value_at = values_.data() + gone * value_.stride();
    dead_bytes_ += StringBytes(key_, key_at) + StringBytes(value_, value_at);
    if (gone != last) {
      auto* last_key = reinterpret_cast<const S*>(keys_.data()) + last * key_.elements;
      size_t moved = Hash(last_key) & mask_;
      for (size_t step = 1; index_[moved].row_plus_1 != last + 1;) moved = (moved + step++) & mask_;
      index_[moved].row_plus_1 = static_cast<uint32_t>(gone + 1);
      std::memcpy(key_at, keys_.data() + last * key_.stride(), key_.stride());
      std::memcpy(value_at, values_.data() + last * value_.stride(), value_.stride());
    }
    index_[at] = {kDeletedSlot, 0};
    ++deleted_;
    --size_;
    DropDeadStrings();
    return true;
  });
}

void TableRows::Clear() {
  size_ = mask_ = deleted_ = string_bytes_ = dead_bytes_ = 0;
  keys_.Free();
  values_.Free();
  index_.Free();
  strings_.reset();
}

void TableRows::Reserve(size_t rows) {
  keys_.Reserve(rows * key_.stride());
  values_.Reserve(rows * value_.stride());
  size_t n = kMinSlots;
  while (rows * 4 > n * 3) n *= 2;
  ReserveSlots(n);
}

void TableRows::Trim() {
  keys_.Trim(size_ * key_.stride());
  values_.Trim(size_ * value_.stride());
}

void TableRows::Copy(const RowType& type, const std::byte* rows, size_t row, void* out, size_t to) {
  const std::byte* from = rows + row * type.stride();
  if (type.is_string()) {
    auto* s = reinterpret_cast<const std::string_view*>(from);
    auto* cells = static_cast<StringCell*>(out) + to * type.elements;
    for (size_t i = 0; i < type.elements; ++i) cells[i].Assign(s[i]);
    return;
  }
  auto* at = static_cast<std::byte*>(out) + to * type.stride();
  switch (type.stride()) {
    case 8: std::memcpy(at, from, 8); break;
    case 4: std::memcpy(at, from, 4); break;
    default: std::memcpy(at, from, type.stride());
  }
}

void TableRows::Store(const RowType& type, std::byte* at, const void* from, size_t row) {
  if (!type.is_string()) {
    std::memcpy(at, static_cast<const std::byte*>(from) + row * type.stride(), type.stride());
    return;
  }
  if (!strings_) strings_ = std::make_unique<Region>(account_, Kind::kTables);
  auto* cells = static_cast<const StringCell*>(from) + row * type.elements;
  auto* s = reinterpret_cast<std::string_view*>(at);
  for (size_t i = 0; i < type.elements; ++i) {
    s[i] = strings_->CopyString(cells[i].view());
    string_bytes_ += s[i].size();
  }
}

size_t TableRows::StringBytes(const RowType& type, const std::byte* at) const {
  size_t bytes = 0;
  if (!type.is_string()) return 0;
  auto* s = reinterpret_cast<const std::string_view*>(at);
  for (size_t i = 0; i < type.elements; ++i) bytes += s[i].size();
  return bytes;
}

void TableRows::DropDeadStrings() {
  if (dead_bytes_ < kMinDeadBytes || dead_bytes_ * 2 < string_bytes_) return;
  auto fresh = std::make_unique<Region>(account_, Kind::kTables);
  // All at once, so that running out of memory leaves every row as it was.
  char* next = fresh->AllocateArray<char>(string_bytes_ - dead_bytes_).data();
  auto copy = [&](const RowType& type, std::byte* rows) {
    if (!type.is_string()) return;
    auto* s = reinterpret_cast<std::string_view*>(rows);
    for (size_t i = 0; i < size_ * type.elements; ++i) {
      if (s[i].empty()) continue;
      std::memcpy(next, s[i].data(), s[i].size());
      s[i] = {next, s[i].size()};
      next += s[i].size();
    }
  };
  copy(key_, keys_.data());
  copy(value_, values_.data());
  strings_ = std::move(fresh);
  string_bytes_ -= std::exchange(dead_bytes_, 0);
}

bool TableRows::ValueEquals(size_t row, const void* values, size_t from) const {
  const std::byte* at = values_.data() + row * value_.stride();
  auto same = [&]<class Stored, class T>() {
    auto* a = reinterpret_cast<const Stored*>(at);
    auto* b = static_cast<const T*>(values) + from * value_.elements;
    return std::equal(a, a + value_.elements, b, [](const Stored& x, const T& y) { return x == View(y); });
  };
  switch (value_.dtype) {
    case DType::kString: return same.template operator()<std::string_view, StringCell>();
    case DType::kFloat: return same.template operator()<float, float>();
    case DType::kDouble: return same.template operator()<double, double>();
    default:
      return std::memcmp(at, static_cast<const std::byte*>(values) + from * value_.stride(), value_.stride()) == 0;
  }
}

void TableRows::ReserveSlots(size_t n) {
  if (n > slots()) Rehash(n);
}

size_t TableRows::RowInSlot(size_t i) const {
  uint32_t r = index_[i].row_plus_1;
  return r == 0 ? kNone : r == kDeletedSlot ? kDeleted : r - 1;
}

void TableRows::Rehash(size_t n) {
  PagedArray<Slot> old(account_, Kind::kTables);
  old.Reserve(n);  // the fresh one, until the swap
  std::swap(old, index_);
  const size_t old_slots = slots();
  mask_ = n - 1;
  deleted_ = 0;
  for (size_t i = 0; i < old_slots; ++i) {
    if (old[i].row_plus_1 == 0 || old[i].row_plus_1 == kDeletedSlot) continue;
    size_t at = old[i].hash & mask_;
    for (size_t step = 1; index_[at].row_plus_1 != 0;) at = (at + step++) & mask_;
    index_[at] = old[i];
  }
}

}  // namespace tare
