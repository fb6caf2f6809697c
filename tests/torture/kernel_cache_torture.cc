// Lets the nth allocation of a scenario fail, for every n: whatever the cache was doing, nothing may leak and
// nothing may break.
#include "cache/kernel_cache.h"
#include "failing_new.h"

namespace {

using tare::KernelCache;

class SmallKernel final : public tare::Kernel {
 public:
  tare::Status Run(tare::KernelCall&) const override { return {}; }
  size_t bytes() const override { return sizeof(*this); }
};

void CheckSums(const KernelCache& cache, const tare::Account& account) {
  // What the cache says must be what it charged: the pins that are gone left nothing.
  CHECK(cache.stats().bytes == static_cast<size_t>(account.bytes(tare::Kind::kKernels)));
}

// Fills, hits, evicts, refuses, removes: what a program does.
void Scenario(KernelCache& cache) {
  KernelCache::Pin held;
  for (int i = 0; i < 12; ++i) {
    const tare::Attr attrs[] = {{"T", tare::AttrValue::Type(tare::DType::kFloat)}, {"N", tare::AttrValue::Int(i % 9)}};
    const tare::Fingerprint key = tare::FingerprintOf("Concat", "CPU:0", attrs);
    const KernelCache::Origin origin{.op = i % 2 ? "Concat" : "function", .attrs = attrs, .is_function = i % 2 == 0};
    KernelCache::Pin pin = cache.Get(key, origin.op);
    if (!pin) pin = cache.AddKernelToCache(key, tare::KernelPtr(new SmallKernel, {}), origin);
    CHECK(pin);
    if (i == 3) held = std::move(pin);
  }
  cache.Uncached(tare::KernelPtr(new SmallKernel, {}), {.op = "VarHandleOp"});
  CHECK(cache.stats().entries == 5);
  cache.RemoveFunction("function");
  CHECK(!cache.report().empty());
  cache.SetPolicy({2, SIZE_MAX, false});
  CHECK(cache.stats().entries <= 2);
}

bool Run() {
  auto account = tare::MakeRef<tare::Account>("torture");
  KernelCache cache(account, {5, SIZE_MAX, true});
  bool completed = true;
  try {
    Scenario(cache);
  } catch (const std::bad_alloc&) {
    completed = false;
  }
  CheckSums(cache, *account);
  cache.Clear();
  CHECK(account->total() == 0);
  return completed;
}

}  // namespace

int main() {
  const int failed = FailEachAllocation(Run);
  std::printf("kernel cache: %d allocations failed in turn, nothing left behind\n", failed);
}
