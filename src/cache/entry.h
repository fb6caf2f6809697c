// The cache's insides: an entry, what is known of each op, and the order of last use.
#pragma once
#include <atomic>
#include <bitset>
#include <string>
#include <vector>

#include "cache/kernel_cache.h"

namespace tare {

// Over which values one attribute of an op's kernels has ranged: a bitmap of their hashes, so that memory does
// not grow with their number. The count is near the truth up to some hundreds and only compared beyond.
struct AttrSpread {
  std::string name;
  std::bitset<512> seen;
};

// What is counted of one op or function, by one shard or by all.
struct OpCounts {
  size_t entries = 0, bytes = 0;
  uint64_t hits = 0;  // of entries that are gone
  uint64_t misses = 0, inserts = 0, evictions = 0, evicted_never_hit = 0, refused = 0;
  std::vector<AttrSpread> attrs;

  // Throws std::bad_alloc.
  void NoteAttrs(Attrs values);
  // Throws std::bad_alloc.
  void Add(const OpCounts& other);
  // The attribute of most values; empty when none had two.
  std::string_view varying_attribute() const;
};

// What a shard knows of one op or function; it outlives the op's entries, so that a bound hides nothing.
// Guarded by the shard's mutex.
struct OpRecord : OpCounts {
  bool is_function = false;
  KernelCache::Entry* first = nullptr;  // the op's entries, linked
};

// One op's line of the report, gathered from the shards.
struct OpSummary : OpCounts {
  void AddRecord(const OpRecord& record);
  KernelCacheOpReport Report(const std::string& name) const;
  size_t never_hit = 0;
};

struct KernelCache::Entry {
  // The account outlives the entry. Who makes an entry charges it, and discharges it with the last share.
  Entry(const Fingerprint& key, KernelPtr kernel, Account* account, const void* owner);

  // A share and, in the upper bits, a hit: one atomic addition counts both.
  static constexpr uint64_t kShare = 1;
  static constexpr int kHitShift = 24;
  static constexpr uint64_t kHit = uint64_t{1} << kHitShift;
  uint64_t hits() const { return shares.load(std::memory_order_relaxed) >> kHitShift; }
  // Deletes the entry with its last share, and gives how many bytes are to be discharged.
  size_t Drop() {
    uint64_t before = shares.fetch_sub(kShare, std::memory_order_acq_rel);
    if ((before & (kHit - 1)) != 1) return 0;
    const size_t freed = bytes;
    delete this;
    return freed;
  }

  const Fingerprint key;
  const KernelPtr kernel;
  Account* const account;
  const size_t bytes;
  const void* const owner;
  std::atomic<uint64_t> shares{kShare};
  std::atomic<uint64_t> last_used{0};
  Entry* next = nullptr;  // in its bucket, guarded by the shard's mutex; then among those taken out
  // Guarded by the shard's mutex.
  OpRecord* op = nullptr;
  Entry* op_previous = nullptr;
  Entry* op_next = nullptr;
  size_t place = 0;  // in the LruHeap
};

// The entries with the least recently used on top. A hit does not move its entry: the heap learns of it when
// the entry comes up, so hits need no lock. Guarded by the shard's mutex.
class LruHeap {
 public:
  using Entry = KernelCache::Entry;

  size_t size() const { return slots_.size(); }
  Entry* operator[](size_t i) const { return slots_[i].entry; }
  // Room for one more, so that Add cannot fail. Throws std::bad_alloc.
  void Reserve() {
    if (slots_.size() == slots_.capacity()) slots_.reserve(std::max<size_t>(64, 2 * slots_.size()));
  }
  void Add(Entry* e);
  void Remove(Entry* e);
  // REQUIRES: not empty.
  Entry* LeastRecentlyUsed();

 private:
  struct Slot {
    uint64_t filed_under;  // its last use when it was last looked at
    Entry* entry;
  };
  void Put(size_t place, Slot slot) {
    slots_[place] = slot;
    slot.entry->place = place;
  }
  void SiftUp(size_t place);
  void SiftDown(size_t place);
  std::vector<Slot> slots_;
};

}  // namespace tare
