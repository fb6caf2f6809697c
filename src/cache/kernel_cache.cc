#include "cache/kernel_cache.h"

namespace tare {

// A first form: nothing is kept.
struct KernelCache::Entry {
  KernelPtr kernel;
};
struct KernelCache::Impl {
  KernelCachePolicy policy;
};

KernelCache::Pin::~Pin() { delete entry_; }
const Kernel& KernelCache::Pin::operator*() const { return *entry_->kernel; }
KernelCache::KernelCache(Ref<Account>, KernelCachePolicy policy) : impl_(new Impl{policy}) {}
KernelCache::~KernelCache() = default;
KernelCache::Pin KernelCache::Get(const Fingerprint&, std::string_view) { return {}; }
KernelCache::Pin KernelCache::AddKernelToCache(const Fingerprint&, KernelPtr k, const Origin&) {
  return Pin(new Entry{std::move(k)});
}
KernelCache::Pin KernelCache::Uncached(KernelPtr k, std::string_view) { return Pin(new Entry{std::move(k)}); }
void KernelCache::Clear() {}
KernelCachePolicy KernelCache::policy() const { return impl_->policy; }

}  // namespace tare
namespace tare {
KernelCacheStats KernelCache::stats() const { return {}; }
Result<KernelCachePolicy> KernelCachePolicy::Parse(std::string_view) { return KernelCachePolicy{}; }
std::string KernelCachePolicy::ToString() const { return "lru"; }
std::vector<KernelCacheOpReport> KernelCache::report() const { return {}; }
}
