#include "cache/kernel_cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "cache/entry.h"

namespace tare {
namespace {

constexpr size_t kShards = 16;
// Functions come with ever new names: beyond this many, records of what has no entry are dropped.
constexpr size_t kMinRecordsToDrop = 4096;

// Recency, with no memory that every hit on every core would write.
uint64_t Now() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

Result<size_t> ParseSize(std::string_view text, std::string_view policy) {
  size_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return InvalidArgument("kernel cache policy '{}': '{}' is not a number", policy, text);
  }
  return n;
}

// Entries by key, in buckets. Readers hold the mutex shared.
struct alignas(64) Shard {
  using Entry = KernelCache::Entry;
  mutable std::shared_mutex mutex;
  std::vector<Entry*> buckets;
  size_t size = 0;

  Entry*& bucket(const Fingerprint& key) { return buckets[key.high & (buckets.size() - 1)]; }
  // REQUIRES for all below: the mutex held.
  Entry* Find(const Fingerprint& key) {
    if (buckets.empty()) return nullptr;
    Entry* e = bucket(key);
    while (e && e->key != key) e = e->next;
    return e;
  }
  // Room for one more, so that Add cannot fail. Throws std::bad_alloc.
  void Reserve() {
    if (size < buckets.size()) return;
    std::vector<Entry*> old(std::max<size_t>(16, 2 * buckets.size()));
    old.swap(buckets);
    for (Entry* e : old) {
      while (e) {
        Entry* next = e->next;
        Link(e);
        e = next;
      }
    }
  }
  void Add(Entry* e) {
    Link(e);
    ++size;
  }
  void Remove(Entry* e) {
    Entry** at = &bucket(e->key);
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    --size;
  }

 private:
  void Link(Entry* e) {
    Entry*& head = bucket(e->key);
    e->next = head;
    head = e;
  }
};

}  // namespace

Result<KernelCachePolicy> KernelCachePolicy::Parse(std::string_view text) {
  KernelCachePolicy p;
  if (text == "lru") return p;
  p.cache_handle_makers = true;
  if (text == "unbounded") {
    p.max_entries = p.max_bytes = SIZE_MAX;
    return p;
  }
  if (!text.starts_with("lru:")) {
    return InvalidArgument("kernel cache policy '{}' is none of unbounded, lru, lru:N, lru:N,BYTES", text);
  }
  std::string_view numbers = text.substr(4);
  const size_t comma = numbers.find(',');
  TARE_ASSIGN_OR_RETURN(p.max_entries, ParseSize(numbers.substr(0, comma), text));
  if (comma != numbers.npos) {
    TARE_ASSIGN_OR_RETURN(p.max_bytes, ParseSize(numbers.substr(comma + 1), text));
  }
  return p;
}

std::string KernelCachePolicy::ToString() const {
  if (max_entries == SIZE_MAX && max_bytes == SIZE_MAX && cache_handle_makers) return "unbounded";
  const KernelCachePolicy standard;
  if (max_entries == standard.max_entries && max_bytes == standard.max_bytes && !cache_handle_makers) return "lru";
  return fmt::format("lru:{},{}{}", max_entries, max_bytes, cache_handle_makers ? "" : " without handle makers");
}

struct KernelCache::Impl {
  // Entries taken out, to be dropped when no lock is held any more: declare before the lock.
  class Dropped {
   public:
    ~Dropped() {
      while (first_) std::exchange(first_, first_->next)->Drop();
    }
    void Add(Entry* e) { e->next = std::exchange(first_, e); }

   private:
    Entry* first_ = nullptr;
  };

  Impl(Ref<Account> a, KernelCachePolicy p) : account(std::move(a)), policy(p) {}

  Shard& shard(const Fingerprint& key) { return shards[key.low % kShards]; }
  // Throws std::bad_alloc. REQUIRES for all below: mutex held.
  OpRecord& Record(std::string_view op, bool is_function = false);
  void Insert(Entry* e, OpRecord& record);
  void TakeOut(Entry* e, Dropped& dropped);
  void EvictToBounds(Dropped& dropped);
  template <class F>
  void TakeOutIf(F condition, Dropped& dropped);
  void ForgetFunctions();

  const Ref<Account> account;
  std::array<Shard, kShards> shards;
  mutable std::mutex mutex;  // taken before a shard's
  KernelCachePolicy policy;
  KernelCacheStats stats;  // hits: of entries that are gone
  LruHeap lru;
  std::map<std::string, OpRecord, std::less<>> records;
  size_t drop_records_at = kMinRecordsToDrop;
};

OpRecord& KernelCache::Impl::Record(std::string_view op, bool is_function) {
  auto it = records.find(op);
  if (it == records.end()) {
    if (records.size() >= drop_records_at) {
      std::erase_if(records, [](const auto& r) { return r.second.entries == 0; });
      drop_records_at = std::max(kMinRecordsToDrop, 2 * records.size());
    }
    it = records.try_emplace(std::string(op)).first;
    it->second.name = op;
  }
  it->second.is_function |= is_function;
  return it->second;
}

void KernelCache::Impl::Insert(Entry* e, OpRecord& record) {
  lru.Reserve();
  Shard& s = shard(e->key);
  {
    std::lock_guard lock(s.mutex);
    s.Reserve();
    s.Add(e);
  }
  e->shares.fetch_add(Entry::kShare, std::memory_order_relaxed);
  lru.Add(e);
  e->op = &record;
  e->op_next = record.first;
  if (record.first) record.first->op_previous = e;
  record.first = e;
  ++record.entries, ++record.inserts;
  record.bytes += e->bytes;
  ++stats.entries, ++stats.inserts;
  stats.bytes += e->bytes;
}

void KernelCache::Impl::TakeOut(Entry* e, Dropped& dropped) {
  Shard& s = shard(e->key);
  {
    std::lock_guard lock(s.mutex);
    s.Remove(e);
  }
  lru.Remove(e);
  OpRecord& r = *e->op;
  (e->op_previous ? e->op_previous->op_next : r.first) = e->op_next;
  if (e->op_next) e->op_next->op_previous = e->op_previous;
  --r.entries, --stats.entries;
  r.bytes -= e->bytes;
  stats.bytes -= e->bytes;
  r.hits += e->hits();
  stats.hits += e->hits();
  dropped.Add(e);
}

void KernelCache::Impl::EvictToBounds(Dropped& dropped) {
  while (stats.entries > policy.max_entries || (stats.bytes > policy.max_bytes && stats.entries > 0)) {
    Entry* e = lru.LeastRecentlyUsed();
    TakeOut(e, dropped);
    ++stats.evictions, ++e->op->evictions;
    e->op->evicted_never_hit += e->hits() == 0;
  }
}

template <class F>
void KernelCache::Impl::TakeOutIf(F condition, Dropped& dropped) {
  for (auto& [name, record] : records) {
    for (Entry *e = record.first, *next; e; e = next) {
      next = e->op_next;
      if (condition(*e)) TakeOut(e, dropped);
    }
  }
}

// Drops the records of functions without entries: their names never come again.
void KernelCache::Impl::ForgetFunctions() {
  std::erase_if(records, [](const auto& r) { return r.second.is_function && r.second.entries == 0; });
}

KernelCache::Pin::~Pin() {
  if (entry_) entry_->Drop();
}
const Kernel& KernelCache::Pin::operator*() const { return *entry_->kernel; }

KernelCache::KernelCache(Ref<Account> account, KernelCachePolicy policy)
    : impl_(std::make_unique<Impl>(std::move(account), policy)) {}
KernelCache::~KernelCache() { Clear(); }

KernelCache::Pin KernelCache::Get(const Fingerprint& key, std::string_view op) {
  Shard& s = impl_->shard(key);
  {
    std::shared_lock lock(s.mutex);
    if (Entry* e = s.Find(key)) {
      e->shares.fetch_add(Entry::kShare + Entry::kHit, std::memory_order_relaxed);
      e->last_used.store(Now(), std::memory_order_relaxed);
      return Pin(e);
    }
  }
  std::lock_guard lock(impl_->mutex);
  ++impl_->stats.misses;
  ++impl_->Record(op).misses;
  return {};
}

KernelCache::Pin KernelCache::AddKernelToCache(const Fingerprint& key, KernelPtr kernel, const Origin& origin) {
  Impl::Dropped dropped;
  Pin mine(new Entry(key, std::move(kernel), impl_->account, origin.owner));
  Entry* e = mine.entry_;
  e->last_used.store(Now(), std::memory_order_relaxed);
  std::lock_guard lock(impl_->mutex);
  OpRecord& record = impl_->Record(origin.op, origin.is_function);
  if (Entry* first = impl_->shard(key).Find(key)) {
    first->shares.fetch_add(Entry::kShare, std::memory_order_relaxed);
    dropped.Add(std::exchange(mine.entry_, first));
    return mine;
  }
  record.NoteAttrs(origin.attrs);
  if (impl_->policy.max_entries == 0 || e->bytes > impl_->policy.max_bytes) {
    ++impl_->stats.refused, ++record.refused;
    return mine;
  }
  impl_->Insert(e, record);
  impl_->EvictToBounds(dropped);
  return mine;
}

KernelCache::Pin KernelCache::Uncached(KernelPtr kernel, const Origin& origin) {
  Pin pin(new Entry({}, std::move(kernel), impl_->account, origin.owner));
  std::lock_guard lock(impl_->mutex);
  OpRecord& record = impl_->Record(origin.op, origin.is_function);
  record.NoteAttrs(origin.attrs);
  ++impl_->stats.refused, ++record.refused;
  return pin;
}

void KernelCache::RemoveKernelFromCache(const Fingerprint& key) {
  Impl::Dropped dropped;
  std::lock_guard lock(impl_->mutex);
  if (Entry* e = impl_->shard(key).Find(key)) impl_->TakeOut(e, dropped);
}

void KernelCache::RemoveFunction(std::string_view function) {
  Impl::Dropped dropped;
  std::lock_guard lock(impl_->mutex);
  auto it = impl_->records.find(function);
  if (it == impl_->records.end() || !it->second.is_function) return;
  while (Entry* e = it->second.first) impl_->TakeOut(e, dropped);
  impl_->records.erase(it);
}

void KernelCache::RemoveOwner(const void* owner) {
  Impl::Dropped dropped;
  std::lock_guard lock(impl_->mutex);
  impl_->TakeOutIf([owner](const Entry& e) { return e.owner == owner; }, dropped);
  impl_->ForgetFunctions();
}

void KernelCache::Clear() {
  Impl::Dropped dropped;
  std::lock_guard lock(impl_->mutex);
  impl_->TakeOutIf([](const Entry&) { return true; }, dropped);
  impl_->ForgetFunctions();
  impl_->lru = {};
  for (Shard& s : impl_->shards) {
    std::lock_guard shard_lock(s.mutex);
    std::vector<Entry*>().swap(s.buckets);
  }
}

void KernelCache::SetPolicy(KernelCachePolicy policy) {
  Impl::Dropped dropped;
  std::lock_guard lock(impl_->mutex);
  impl_->policy = policy;
  impl_->EvictToBounds(dropped);
}

KernelCachePolicy KernelCache::policy() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->policy;
}

KernelCacheStats KernelCache::stats() const {
  std::lock_guard lock(impl_->mutex);
  KernelCacheStats s = impl_->stats;
  for (size_t i = 0; i < impl_->lru.size(); ++i) s.hits += impl_->lru[i]->hits();
  return s;
}

std::vector<KernelCacheOpReport> KernelCache::report() const {
  std::vector<KernelCacheOpReport> all;
  std::lock_guard lock(impl_->mutex);
  for (const auto& [name, record] : impl_->records) all.push_back(record.Report());
  std::ranges::stable_sort(all, std::greater<>(), [](const auto& r) { return r.entries + r.refused; });
  return all;
}

}  // namespace tare
