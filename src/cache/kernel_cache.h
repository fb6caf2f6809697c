// The kernel cache: kernels of eager ops, found by the 128-bit fingerprint of op, attributes and device.
//
// TensorFlow's is bounded by nothing; this one is. Kernels are pinned while they run, evicted least recently
// used first beyond a number of entries or bytes, removable by key, function and owner, and counted per op,
// with the attribute that varies, so that a bound does not hide a bug. A hit takes no allocation and no
// exclusive lock. Thread-safe. Destroying the cache with a pin alive is a bug.
//
// From 4,096 entries and 32 MiB on, a cache is 32 shards by key, with a lock and an equal part of both bounds each:
// threads that make kernels seldom meet, and the order of eviction is that of last use within a shard. A kernel
// larger than a shard's part is refused.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "op/fingerprint.h"

namespace tare {

// What is kept. kLru without caching handle makers is the default; kUnbounded with `cache_handle_makers`
// is what TensorFlow does, to be measured beside it.
struct KernelCachePolicy {
  size_t max_entries = 10'000;        // SIZE_MAX: no bound
  size_t max_bytes = size_t{64} << 20;  // SIZE_MAX: no bound
  bool cache_handle_makers = false;   // also keep rows flagged kNeverCached

  // "unbounded", "lru:N[,BYTES]" (both keep handle makers) or "lru" (the default). InvalidArgument else.
  static Result<KernelCachePolicy> Parse(std::string_view text);
  std::string ToString() const;
};

struct KernelCacheStats {
  size_t entries = 0, bytes = 0;
  uint64_t hits = 0, misses = 0, inserts = 0, evictions = 0, refused = 0;
};

// One op's share, for the report.
struct KernelCacheOpReport {
  std::string op;
  size_t entries = 0, bytes = 0;
  uint64_t hits = 0, misses = 0, evictions = 0, refused = 0;
  size_t never_hit = 0;            // entries in the cache that were never hit
  uint64_t evicted_never_hit = 0;
  std::string varying_attribute;   // the one that had most values in the kernels made; empty if none varied
  std::string warning;             // set when the op fills the cache with entries that are never hit
};

class KernelCache {
 public:
  struct Entry;

  // A kernel in use: it stays alive, evicted or not, until the pin goes.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& o) noexcept : entry_(std::exchange(o.entry_, nullptr)) {}
    Pin& operator=(Pin&& o) noexcept {
      std::swap(entry_, o.entry_);
      return *this;
    }
    ~Pin();
    explicit operator bool() const { return entry_ != nullptr; }
    const Kernel& operator*() const;
    const Kernel* operator->() const { return &**this; }

   private:
    friend class KernelCache;
    explicit Pin(Entry* e) : entry_(e) {}
    Entry* entry_ = nullptr;
  };

  // What an entry is filed under besides its key.
  struct Origin {
    std::string_view op;        // or the function's name
    Attrs attrs;                // for the report: the attribute that varies
    bool is_function = false;
    const void* owner = nullptr;  // a model or library whose removal takes its kernels along
  };

  // Entries are charged to `account` as Kind::kKernels.
  KernelCache(Ref<Account> account, KernelCachePolicy policy);
  ~KernelCache();

  // An empty pin on a miss.
  Pin Get(const Fingerprint& key, std::string_view op);
  // Adds the kernel and pins it. When another thread was first, its kernel is pinned and this one dropped.
  // With a policy of no room at all the kernel lives as long as its pin.
  Pin AddKernelToCache(const Fingerprint& key, KernelPtr kernel, const Origin& origin);
  // Pins a kernel that is not to be kept (handle makers): it lives as long as the pin. Counted as refused.
  Pin Uncached(KernelPtr kernel, const Origin& origin);

  void RemoveKernelFromCache(const Fingerprint& key);
  // Removes every kernel of the function, or of the owner.
  void RemoveFunction(std::string_view function);
  void RemoveOwner(const void* owner);
  void Clear();

  void SetPolicy(KernelCachePolicy policy);  // evicts down to the new bounds
  KernelCachePolicy policy() const;
  KernelCacheStats stats() const;
  // Ops by entries and kernels refused, most first.
  std::vector<KernelCacheOpReport> report() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
