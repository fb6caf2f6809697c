#include "cache/kernel_cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>

#include "cache/cache_shard.h"

namespace tare {
namespace {

constexpr size_t kShards = 32;
// Small caches are one shard, which evicts in the exact order of last use; the others, each of their shards.
constexpr size_t kMinShardEntries = 128;
constexpr size_t kMinShardBytes = size_t{1} << 20;

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

size_t ShardsOf(const KernelCachePolicy& p) {
  return p.max_entries / kShards < kMinShardEntries || p.max_bytes / kShards < kMinShardBytes ? 1 : kShards;
}

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
  Impl(Ref<Account> a, KernelCachePolicy p) : account(std::move(a)), policy(p) { SetBounds(); }

  // The shard a key belongs to, locked.
  template <class Lock>
  CacheShard& LockShardOf(const Fingerprint& key, Lock& lock) {
    for (;;) {
      const size_t n = used.load(std::memory_order_acquire);
      CacheShard& s = shards[key.low & (n - 1)];
      lock = Lock(s.mutex);
      if (n == used.load(std::memory_order_relaxed)) return s;
      lock.unlock();
    }
  }
  // Calls f(shard) for all, one after another, each locked.
  template <class F>
  void ForEachLocked(F f) {
    for (CacheShard& s : shards) {
      std::lock_guard lock(s.mutex);
      f(s);
    }
  }
  // REQUIRES for both: all shards locked.
  void SetBounds();
  void Refile(Settlement& settlement);

  const Ref<Account> account;
  std::array<CacheShard, kShards> shards;
  // How many of them entries are in: a power of two. Changes while all are locked.
  std::atomic<size_t> used{1};
  mutable std::mutex policy_mutex;  // taken before the shards'
  KernelCachePolicy policy;
};

// The policy's bounds, shared out.
void KernelCache::Impl::SetBounds() {
  const size_t n = ShardsOf(policy);
  auto share = [n](size_t all, size_t i) { return all == SIZE_MAX ? all : all / n + (i < all % n ? 1 : 0); };
  for (size_t i = 0; i < kShards; ++i) {
    shards[i].max_entries = i < n ? share(policy.max_entries, i) : 0;
    shards[i].max_bytes = i < n ? share(policy.max_bytes, i) : 0;
  }
  used.store(n, std::memory_order_release);
}

// Moves every entry to the shard it now belongs to. One for which there is no memory there goes.
void KernelCache::Impl::Refile(Settlement& settlement) {
  for (CacheShard& from : shards) {
    for (auto& [name, record] : from.records) {
      for (Entry *e = record.first, *next; e; e = next) {
        next = e->op_next;
        CacheShard& to = shards[e->key.low & (used.load(std::memory_order_relaxed) - 1)];
        if (&to == &from) continue;
        try {
          from.Move(e, to, to.Record(name, record.is_function));
        } catch (const std::bad_alloc&) {
          from.TakeOut(e, settlement);
        }
      }
    }
  }
}

KernelCache::Pin::~Pin() {
  if (!entry_) return;
  Account* account = entry_->account;
  if (size_t freed = entry_->Drop()) account->Discharge(Kind::kKernels, freed);
}
const Kernel& KernelCache::Pin::operator*() const { return *entry_->kernel; }

KernelCache::KernelCache(Ref<Account> account, KernelCachePolicy policy)
    : impl_(std::make_unique<Impl>(std::move(account), policy)) {}
KernelCache::~KernelCache() { Clear(); }

KernelCache::Pin KernelCache::Get(const Fingerprint& key, std::string_view op) {
  {
    std::shared_lock<std::shared_mutex> lock;
    if (Entry* e = impl_->LockShardOf(key, lock).Find(key)) {
      e->shares.fetch_add(Entry::kShare + Entry::kHit, std::memory_order_relaxed);
      e->last_used.store(Now(), std::memory_order_relaxed);
      return Pin(e);
    }
  }
  std::unique_lock<std::shared_mutex> lock;
  CacheShard& s = impl_->LockShardOf(key, lock);
  ++s.Record(op).misses;
  ++s.stats.misses;
  return {};
}

KernelCache::Pin KernelCache::AddKernelToCache(const Fingerprint& key, KernelPtr kernel, const Origin& origin) {
  Pin mine(new Entry(key, std::move(kernel), impl_->account.get(), origin.owner));
  Entry* e = mine.entry_;
  Settlement settlement(impl_->account.get());
  settlement.Made(e);
  e->last_used.store(Now(), std::memory_order_relaxed);
  std::unique_lock<std::shared_mutex> lock;
  CacheShard& s = impl_->LockShardOf(key, lock);
  if (Entry* first = s.Find(key)) {
    first->shares.fetch_add(Entry::kShare, std::memory_order_relaxed);
    settlement.TakenOut(std::exchange(mine.entry_, first));
    return mine;
  }
  OpRecord& record = s.Record(origin.op, origin.is_function);
  record.NoteAttrs(origin.attrs);
  if (s.max_entries == 0 || e->bytes > s.max_bytes) {
    ++s.stats.refused, ++record.refused;
    return mine;
  }
  s.Insert(e, record);
  ++s.stats.inserts, ++record.inserts;
  s.EvictToBounds(settlement);
  return mine;
}

KernelCache::Pin KernelCache::Uncached(KernelPtr kernel, const Origin& origin) {
  Pin pin(new Entry({}, std::move(kernel), impl_->account.get(), origin.owner));
  Settlement settlement(impl_->account.get());
  settlement.Made(pin.entry_);
  std::unique_lock<std::shared_mutex> lock;
  CacheShard& s = impl_->LockShardOf(FingerprintOf(origin.op), lock);
  OpRecord& record = s.Record(origin.op, origin.is_function);
  record.NoteAttrs(origin.attrs);
  ++s.stats.refused, ++record.refused;
  return pin;
}

void KernelCache::RemoveKernelFromCache(const Fingerprint& key) {
  Settlement settlement(impl_->account.get());
  std::unique_lock<std::shared_mutex> lock;
  CacheShard& s = impl_->LockShardOf(key, lock);
  if (Entry* e = s.Find(key)) s.TakeOut(e, settlement);
}

void KernelCache::RemoveFunction(std::string_view function) {
  Settlement settlement(impl_->account.get());
  impl_->ForEachLocked([&](CacheShard& s) {
    auto it = s.records.find(function);
    if (it == s.records.end() || !it->second.is_function) return;
    while (Entry* e = it->second.first) s.TakeOut(e, settlement);
    s.records.erase(it);
  });
}

void KernelCache::RemoveOwner(const void* owner) {
  Settlement settlement(impl_->account.get());
  impl_->ForEachLocked([&](CacheShard& s) {
    s.TakeOutIf([owner](const Entry& e) { return e.owner == owner; }, settlement);
    s.ForgetFunctions();
  });
}

void KernelCache::Clear() {
  Settlement settlement(impl_->account.get());
  impl_->ForEachLocked([&](CacheShard& s) {
    s.TakeOutIf([](const Entry&) { return true; }, settlement);
    s.ForgetFunctions();
    s.Shrink();
  });
}

void KernelCache::SetPolicy(KernelCachePolicy policy) {
  Settlement settlement(impl_->account.get());
  std::lock_guard policy_lock(impl_->policy_mutex);
  std::array<std::unique_lock<std::shared_mutex>, kShards> locks;
  for (size_t i = 0; i < kShards; ++i) locks[i] = std::unique_lock(impl_->shards[i].mutex);
  impl_->policy = policy;
  impl_->SetBounds();
  impl_->Refile(settlement);
  for (CacheShard& s : impl_->shards) s.EvictToBounds(settlement);
}

KernelCachePolicy KernelCache::policy() const {
  std::lock_guard lock(impl_->policy_mutex);
  return impl_->policy;
}

KernelCacheStats KernelCache::stats() const {
  KernelCacheStats all;
  impl_->ForEachLocked([&](CacheShard& s) {
    all.entries += s.stats.entries, all.bytes += s.stats.bytes;
    all.hits += s.stats.hits, all.misses += s.stats.misses;
    all.inserts += s.stats.inserts, all.evictions += s.stats.evictions;
    all.refused += s.stats.refused;
    for (size_t i = 0; i < s.lru.size(); ++i) all.hits += s.lru[i]->hits();
  });
  return all;
}

std::vector<KernelCacheOpReport> KernelCache::report() const {
  std::map<std::string, OpSummary, std::less<>> summaries;
  impl_->ForEachLocked([&](CacheShard& s) {
    for (const auto& [name, record] : s.records) summaries[name].AddRecord(record);
  });
  std::vector<KernelCacheOpReport> all;
  for (const auto& [name, summary] : summaries) all.push_back(summary.Report(name));
  std::ranges::stable_sort(all, std::greater<>(), [](const auto& r) { return r.entries + r.refused; });
  return all;
}

}  // namespace tare
