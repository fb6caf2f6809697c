// A part of the kernel cache with a lock, bounds, an order of use and counts of its own, so that threads that make
// kernels seldom meet.
#pragma once
#include <map>
#include <shared_mutex>

#include "cache/entry.h"

namespace tare {

// What an operation owes: entries taken out of the cache, to be dropped, and the charge of those it made, all settled
// when no lock is held any more: declare before the lock. A kernel made in the room of another of its size then costs
// the account, which all threads share, nothing.
class Settlement {
 public:
  explicit Settlement(Account* account) : account_(account) {}
  ~Settlement();
  Settlement(const Settlement&) = delete;
  Settlement& operator=(const Settlement&) = delete;
  void Made(const KernelCache::Entry* e) { made_ += e->bytes; }
  void TakenOut(KernelCache::Entry* e) { e->next = std::exchange(first_, e); }

 private:
  Account* const account_;
  size_t made_ = 0;
  KernelCache::Entry* first_ = nullptr;
};

struct alignas(128) CacheShard {
  using Entry = KernelCache::Entry;

  // REQUIRES for all: the mutex held; shared is enough for Find.
  Entry* Find(const Fingerprint& key) const;
  // Throws std::bad_alloc.
  OpRecord& Record(std::string_view op, bool is_function = false);
  // Adds an entry, with a share. Throws std::bad_alloc before it changes anything.
  void Insert(Entry* e, OpRecord& record);
  void TakeOut(Entry* e, Settlement& settlement);
  // An entry of this shard becomes one of `to`, whose mutex is held too. Throws std::bad_alloc before it changes anything.
  void Move(Entry* e, CacheShard& to, OpRecord& record_there);
  void EvictToBounds(Settlement& settlement);
  template <class F>
  void TakeOutIf(F condition, Settlement& settlement) {
    for (auto& [name, record] : records) {
      for (Entry *e = record.first, *next; e; e = next) {
        next = e->op_next;
        if (condition(*e)) TakeOut(e, settlement);
      }
    }
  }
  // Drops the records of functions without entries: their names never come again.
  void ForgetFunctions();
  // Gives back what an empty shard keeps for more. REQUIRES: no entries.
  void Shrink();

  mutable std::shared_mutex mutex;
  size_t max_entries = 0, max_bytes = 0;
  KernelCacheStats stats;  // hits: of entries that are gone
  LruHeap lru;
  std::map<std::string, OpRecord, std::less<>> records;

 private:
  Entry*& bucket(const Fingerprint& key) { return buckets_[key.high & (buckets_.size() - 1)]; }
  void Reserve();
  void Link(Entry* e);
  void File(Entry* e, OpRecord& record);
  void Unfile(Entry* e);

  std::vector<Entry*> buckets_;  // entries by key; a power of two, or none
  size_t drop_records_at_ = 0;
};

}  // namespace tare
