#include "cache/cache_shard.h"

#include <algorithm>

namespace tare {
namespace {

// Functions come with ever new names: beyond this many in a shard, records of what has no entry are dropped.
constexpr size_t kMinRecordsToDrop = 256;

}  // namespace

Settlement::~Settlement() {
  size_t freed = 0;
  while (first_) {
    KernelCache::Entry* e = std::exchange(first_, first_->next);
    freed += e->Drop();
  }
  if (made_ > freed) account_->Charge(Kind::kKernels, made_ - freed);
  if (freed > made_) account_->Discharge(Kind::kKernels, freed - made_);
}

CacheShard::Entry* CacheShard::Find(const Fingerprint& key) const {
  if (buckets_.empty()) return nullptr;
  Entry* e = buckets_[key.high & (buckets_.size() - 1)];
  while (e && e->key != key) e = e->next;
  return e;
}

OpRecord& CacheShard::Record(std::string_view op, bool is_function) {
  auto it = records.find(op);
  if (it == records.end()) {
    if (records.size() >= std::max(drop_records_at_, kMinRecordsToDrop)) {
      std::erase_if(records, [](const auto& r) { return r.second.entries == 0; });
      drop_records_at_ = 2 * records.size();
    }
    it = records.try_emplace(std::string(op)).first;
  }
  it->second.is_function |= is_function;
  return it->second;
}

// Room for one more, so that File cannot fail.
void CacheShard::Reserve() {
  lru.Reserve();
  if (stats.entries < buckets_.size()) return;
  std::vector<Entry*> old(std::max<size_t>(16, 2 * buckets_.size()));
  old.swap(buckets_);
  for (Entry* e : old) {
    while (e) {
      Entry* next = e->next;
      Link(e);
      e = next;
    }
  }
}

void CacheShard::Link(Entry* e) {
  Entry*& head = bucket(e->key);
  e->next = head;
  head = e;
}

void CacheShard::File(Entry* e, OpRecord& record) {
  Link(e);
  lru.Add(e);
  e->op = &record;
  e->op_previous = nullptr;
  e->op_next = record.first;
  if (record.first) record.first->op_previous = e;
  record.first = e;
  ++record.entries, ++stats.entries;
  record.bytes += e->bytes;
  stats.bytes += e->bytes;
}

void CacheShard::Unfile(Entry* e) {
  Entry** at = &bucket(e->key);
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  lru.Remove(e);
  OpRecord& r = *e->op;
  (e->op_previous ? e->op_previous->op_next : r.first) = e->op_next;
  if (e->op_next) e->op_next->op_previous = e->op_previous;
  --r.entries, --stats.entries;
  r.bytes -= e->bytes;
  stats.bytes -= e->bytes;
}

void CacheShard::Insert(Entry* e, OpRecord& record) {
  Reserve();
  e->shares.fetch_add(Entry::kShare, std::memory_order_relaxed);
  File(e, record);
}

void CacheShard::TakeOut(Entry* e, Settlement& settlement) {
  e->op->hits += e->hits();
  stats.hits += e->hits();
  Unfile(e);
  settlement.TakenOut(e);
}

void CacheShard::Move(Entry* e, CacheShard& to, OpRecord& record_there) {
  to.Reserve();
  Unfile(e);
  to.File(e, record_there);
}

void CacheShard::EvictToBounds(Settlement& settlement) {
  while (stats.entries > max_entries || (stats.bytes > max_bytes && stats.entries > 0)) {
    Entry* e = lru.LeastRecentlyUsed();
    OpRecord& record = *e->op;
    record.evicted_never_hit += e->hits() == 0;
    ++stats.evictions, ++record.evictions;
    TakeOut(e, settlement);
  }
}

void CacheShard::ForgetFunctions() {
  std::erase_if(records, [](const auto& r) { return r.second.is_function && r.second.entries == 0; });
}

void CacheShard::Shrink() {
  lru = {};
  std::vector<Entry*>().swap(buckets_);
}

}  // namespace tare
