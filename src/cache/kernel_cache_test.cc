#include "cache/kernel_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace tare {
namespace {

std::atomic<int> g_alive{0};

class TestKernel final : public Kernel {
 public:
  explicit TestKernel(int id = 0, size_t bytes = 100) : id_(id), bytes_(bytes) { ++g_alive; }
  ~TestKernel() override { --g_alive; }
  Status Run(KernelCall&) const override { return OkStatus(); }
  size_t bytes() const override { return bytes_; }
  int id() const { return id_; }

 private:
  const int id_;
  const size_t bytes_;
};

KernelPtr Make(int id = 0, size_t bytes = 100) { return KernelPtr(new TestKernel(id, bytes), KernelDeleter{}); }
Fingerprint Key(int i) { return FingerprintOf(AttrValue::Int(i)); }
int IdOf(const KernelCache::Pin& pin) { return static_cast<const TestKernel&>(*pin).id(); }
KernelCachePolicy Lru(size_t entries, size_t bytes = SIZE_MAX) { return {entries, bytes, true}; }

class KernelCacheTest : public ::testing::Test {
 protected:
  ~KernelCacheTest() override {
    EXPECT_EQ(g_alive, 0);
    EXPECT_EQ(account_->total(), 0);
  }
  static void Add(KernelCache& cache, int i, const KernelCache::Origin& origin = {.op = "Op"}) {
    EXPECT_EQ(IdOf(cache.AddKernelToCache(Key(i), Make(i), origin)), i);
  }
  static bool Has(KernelCache& cache, int i) { return static_cast<bool>(cache.Get(Key(i), "Op")); }
  Ref<Account> account_ = MakeRef<Account>("test");
};

TEST_F(KernelCacheTest, FindsWhatWasAddedAndCountsHitsAndMisses) {
  KernelCache cache(account_, {});
  EXPECT_FALSE(Has(cache, 1));
  Add(cache, 1);
  auto pin = cache.Get(Key(1), "Op");
  ASSERT_TRUE(pin);
  EXPECT_EQ(IdOf(pin), 1);
  EXPECT_FALSE(Has(cache, 2));
  KernelCacheStats s = cache.stats();
  EXPECT_EQ(s.entries, 1u);
  EXPECT_EQ(s.hits, 1u);
  EXPECT_EQ(s.misses, 2u);
  EXPECT_EQ(s.inserts, 1u);
  EXPECT_EQ(account_->bytes(Kind::kKernels), static_cast<int64_t>(s.bytes));
}

TEST_F(KernelCacheTest, KeepsTheFirstOfTwoKernelsForOneKey) {
  KernelCache cache(account_, {});
  Add(cache, 1);
  auto second = cache.AddKernelToCache(Key(1), Make(99), {.op = "Op"});
  EXPECT_EQ(IdOf(second), 1);
  EXPECT_EQ(g_alive, 1);
  EXPECT_EQ(cache.stats().entries, 1u);
}

TEST_F(KernelCacheTest, EvictsTheLeastRecentlyUsedFirst) {
  KernelCache cache(account_, Lru(3));
  for (int i : {1, 2, 3}) Add(cache, i);
  for (int i : {2, 1, 3, 1}) EXPECT_TRUE(Has(cache, i));
  Add(cache, 4);
  EXPECT_FALSE(Has(cache, 2));
  Add(cache, 5);
  EXPECT_FALSE(Has(cache, 3));
  for (int i : {1, 4, 5}) EXPECT_TRUE(Has(cache, i)) << i;
  EXPECT_EQ(cache.stats().evictions, 2u);
}

TEST_F(KernelCacheTest, EvictsInExactlyTheOrderOfLastUse) {
  constexpr int kEntries = 200;
  KernelCache cache(account_, Lru(kEntries));
  std::mt19937 random(7);
  std::vector<int> order;
  for (int i = 0; i < kEntries; ++i) Add(cache, i), order.push_back(i);
  for (int i = 0; i < 3000; ++i) {
    size_t at = random() % order.size();
    int key = order[at];
    EXPECT_TRUE(Has(cache, key));
    order.erase(order.begin() + at);
    order.push_back(key);
    if (i % 5 == 0) {
      Add(cache, kEntries + i);
      order.push_back(kEntries + i);
      EXPECT_FALSE(Has(cache, order.front())) << i;
      order.erase(order.begin());
    }
  }
}

TEST_F(KernelCacheTest, NeverExceedsItsBounds) {
  KernelCache cache(account_, Lru(50, 6000));
  for (int i = 0; i < 1000; ++i) {
    cache.AddKernelToCache(Key(i), Make(i, i % 400), {.op = "Op"});
    KernelCacheStats s = cache.stats();
    ASSERT_LE(s.entries, 50u);
    ASSERT_LE(s.bytes, 6000u);
    ASSERT_EQ(account_->bytes(Kind::kKernels), static_cast<int64_t>(s.bytes));
  }
  EXPECT_GT(cache.stats().entries, 10u);
}

TEST_F(KernelCacheTest, KeepsNothingWhereThereIsNoRoom) {
  for (KernelCachePolicy p : {Lru(0), Lru(10, 50)}) {
    KernelCache cache(account_, p);
    {
      auto pin = cache.AddKernelToCache(Key(1), Make(1), {.op = "Op"});
      EXPECT_EQ(IdOf(pin), 1);
    }
    EXPECT_EQ(g_alive, 0);
    EXPECT_FALSE(Has(cache, 1));
    EXPECT_EQ(cache.stats().refused, 1u);
  }
}

TEST_F(KernelCacheTest, PinnedKernelsSurviveEvictionRemovalAndTheCache) {
  std::vector<KernelCache::Pin> pins;
  {
    KernelCache cache(account_, Lru(1));
    pins.push_back(cache.AddKernelToCache(Key(1), Make(1), {.op = "Op"}));
    pins.push_back(cache.AddKernelToCache(Key(2), Make(2), {.op = "Op"}));
    EXPECT_FALSE(Has(cache, 1));
    cache.RemoveKernelFromCache(Key(2));
    pins.push_back(cache.AddKernelToCache(Key(3), Make(3), {.op = "Op"}));
    cache.Clear();
    EXPECT_EQ(cache.stats().entries, 0u);
    pins.push_back(cache.AddKernelToCache(Key(4), Make(4), {.op = "Op"}));
    pins.push_back(cache.Uncached(Make(5), {.op = "Op"}));
  }
  EXPECT_EQ(g_alive, 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(IdOf(pins[i]), i + 1);
  EXPECT_GT(account_->bytes(Kind::kKernels), 0);
}

TEST_F(KernelCacheTest, RemovesByKeyFunctionAndOwner) {
  KernelCache cache(account_, {});
  int model_a, model_b;
  for (int i = 0; i < 20; ++i) {
    const void* owner = i % 2 ? &model_a : &model_b;
    if (i < 10) Add(cache, i, {.op = i < 5 ? "f" : "g", .is_function = true, .owner = owner});
    else Add(cache, i, {.op = "Op", .owner = owner});
  }
  cache.RemoveKernelFromCache(Key(12));
  cache.RemoveKernelFromCache(Key(999));
  EXPECT_FALSE(Has(cache, 12));
  EXPECT_EQ(cache.stats().entries, 19u);
  cache.RemoveFunction("f");
  cache.RemoveFunction("Op");  // an op, not a function
  cache.RemoveFunction("no such function");
  EXPECT_EQ(cache.stats().entries, 14u);
  EXPECT_FALSE(Has(cache, 3));
  cache.RemoveOwner(&model_a);
  for (int i = 5; i < 20; ++i) EXPECT_EQ(Has(cache, i), i % 2 == 0 && i != 12) << i;
  cache.Clear();
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_EQ(cache.stats().bytes, 0u);
  EXPECT_EQ(g_alive, 0);
}

TEST_F(KernelCacheTest, FollowsAChangeOfPolicy) {
  KernelCache cache(account_, Lru(100));
  for (int i = 0; i < 100; ++i) Add(cache, i);
  cache.SetPolicy(Lru(10));
  EXPECT_EQ(cache.stats().entries, 10u);
  EXPECT_TRUE(Has(cache, 99));
  EXPECT_FALSE(Has(cache, 0));
  cache.SetPolicy(*KernelCachePolicy::Parse("unbounded"));
  for (int i = 100; i < 300; ++i) Add(cache, i);
  EXPECT_EQ(cache.stats().entries, 210u);
  cache.SetPolicy(Lru(0));
  EXPECT_EQ(g_alive, 0);
}

// Between one shard and many: nothing is lost, and the least recently used go.
TEST_F(KernelCacheTest, KeepsItsEntriesWhenItIsShardedAnew) {
  KernelCache cache(account_, Lru(1000));
  for (int i = 0; i < 1000; ++i) Add(cache, i, {.op = i % 2 ? "f" : "g", .is_function = true});
  EXPECT_TRUE(Has(cache, 0));
  for (size_t entries : {10'000, 900, 5'000, 500}) {
    cache.SetPolicy(Lru(entries));
    const size_t kept = std::min<size_t>(entries, entries < 900 ? 500 : entries > 900 && entries < 10'000 ? 900 : 1000);
    EXPECT_EQ(cache.stats().entries, kept);
    EXPECT_EQ(static_cast<size_t>(g_alive), kept);
    EXPECT_EQ(account_->bytes(Kind::kKernels), static_cast<int64_t>(cache.stats().bytes));
    EXPECT_TRUE(Has(cache, 0) && Has(cache, 999)) << entries;
  }
  EXPECT_FALSE(Has(cache, 1));
  const KernelCacheStats s = cache.stats();
  EXPECT_EQ(s.hits, 9u);
  EXPECT_EQ(s.inserts - s.evictions, s.entries);
  cache.RemoveFunction("f");
  cache.RemoveFunction("g");
  EXPECT_EQ(g_alive, 0);
}

TEST_F(KernelCacheTest, ManyShardsKeepToBothBounds) {
  KernelCache cache(account_, Lru(5000, size_t{32} << 20));
  for (int i = 0; i < 20'000; ++i) cache.AddKernelToCache(Key(i), Make(i, 5000), {.op = "Op"});
  KernelCacheStats s = cache.stats();
  EXPECT_LE(s.entries, 5000u);
  EXPECT_GT(s.entries, 4900u);
  EXPECT_LE(s.bytes, size_t{32} << 20);
  for (int i = 0; i < 1000; ++i) cache.AddKernelToCache(Key(-1 - i), Make(i, 500'000), {.op = "Op"});
  s = cache.stats();
  EXPECT_LE(s.bytes, size_t{32} << 20);
  EXPECT_GT(s.bytes, size_t{28} << 20);
  EXPECT_EQ(account_->bytes(Kind::kKernels), static_cast<int64_t>(s.bytes));
  // More than a shard's part.
  EXPECT_EQ(s.refused, 0u);
  cache.AddKernelToCache(Key(-9999), Make(0, 2 << 20), {.op = "Op"});
  EXPECT_EQ(cache.stats().refused, 1u);
}

TEST_F(KernelCacheTest, ReadsAndWritesPolicies) {
  for (const char* text : {"unbounded", "lru", "lru:500,1000000"}) {
    auto p = KernelCachePolicy::Parse(text);
    ASSERT_TRUE(p.ok()) << text;
    EXPECT_EQ(p->ToString(), text);
  }
  EXPECT_EQ(KernelCachePolicy::Parse("lru:7")->max_entries, 7u);
  EXPECT_EQ(KernelCachePolicy::Parse("lru:7")->max_bytes, KernelCachePolicy().max_bytes);
  EXPECT_TRUE(KernelCachePolicy::Parse("lru:7")->cache_handle_makers);
  EXPECT_FALSE(KernelCachePolicy::Parse("lru")->cache_handle_makers);
  for (const char* bad : {"", "LRU", "lru:", "lru:x", "lru:-1", "lru:1,", "lru:1,2,3", "lru:99999999999999999999999"}) {
    EXPECT_EQ(KernelCachePolicy::Parse(bad).status().code(), Code::kInvalidArgument) << bad;
  }
}

// Adds what VarHandleOp asks for: a kernel for each name, used once.
void AddNamed(KernelCache& cache, int i) {
  const std::string name = fmt::format("variable_{}", i);
  const int64_t dims[] = {2, i % 3};
  const Attr attrs[] = {{"dtype", AttrValue::Type(DType::kFloat)},
                        {"shape", AttrValue::OfShape({false, dims})},
                        {"shared_name", AttrValue::String(name)}};
  const Fingerprint key = FingerprintOf("VarHandleOp", "CPU:0", attrs);
  if (!cache.Get(key, "VarHandleOp")) cache.AddKernelToCache(key, Make(i), {.op = "VarHandleOp", .attrs = attrs});
}

TEST_F(KernelCacheTest, TwentyThousandNamesGrowOnlyTheUnboundedCache) {
  constexpr int kNames = 20'000;
  for (auto [policy, entries] : {std::pair{"unbounded", 20'000}, {"lru:1000", 1000}, {"lru", 10'000}}) {
    KernelCache cache(account_, *KernelCachePolicy::Parse(policy));
    for (int i = 0; i < kNames; ++i) AddNamed(cache, i);
    KernelCacheStats s = cache.stats();
    EXPECT_EQ(s.entries, static_cast<size_t>(entries)) << policy;
    EXPECT_EQ(s.inserts - s.evictions, s.entries);
    EXPECT_LT(s.bytes / s.entries, 512u);
    EXPECT_EQ(s.misses, static_cast<uint64_t>(kNames));
  }
}

TEST_F(KernelCacheTest, ReportsTheOpThatFillsItAndTheAttributeThatVaries) {
  KernelCache cache(account_, Lru(500));
  const Attr attrs[] = {{"T", AttrValue::Type(DType::kFloat)}};
  const Fingerprint key = FingerprintOf("AddV2", "CPU:0", attrs);
  cache.AddKernelToCache(key, Make(1), {.op = "AddV2", .attrs = attrs});
  for (int i = 0; i < 3000; ++i) {
    EXPECT_TRUE(cache.Get(key, "AddV2"));
    AddNamed(cache, i);
  }
  auto report = cache.report();
  ASSERT_EQ(report.size(), 2u);
  const KernelCacheOpReport &handles = report[0], &add = report[1];
  EXPECT_EQ(handles.op, "VarHandleOp");
  EXPECT_EQ(handles.entries, 499u);
  EXPECT_EQ(handles.never_hit, 499u);
  EXPECT_EQ(handles.evictions, 2501u);
  EXPECT_EQ(handles.evicted_never_hit, 2501u);
  EXPECT_EQ(handles.misses, 3000u);
  EXPECT_EQ(handles.varying_attribute, "shared_name");
  EXPECT_EQ(handles.warning,
            "3000 of the 3000 kernels made for VarHandleOp were never used again: attribute 'shared_name' differs");
  EXPECT_EQ(add.op, "AddV2");
  EXPECT_EQ(add.hits, 3000u);
  EXPECT_EQ(add.varying_attribute, "");
  EXPECT_EQ(add.warning, "");
  EXPECT_EQ(cache.stats().hits, 3000u);
}

TEST_F(KernelCacheTest, NamesWhatVariesInKernelsItDoesNotKeep) {
  KernelCache cache(account_, {});
  for (int i = 0; i < 300; ++i) {
    const std::string name = fmt::format("v{}", i);
    const Attr attrs[] = {{"dtype", AttrValue::Type(DType::kFloat)}, {"shared_name", AttrValue::String(name)}};
    cache.Uncached(Make(i), {.op = "VarHandleOp", .attrs = attrs});
  }
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_EQ(cache.stats().refused, 300u);
  auto report = cache.report();
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0].refused, 300u);
  EXPECT_EQ(report[0].varying_attribute, "shared_name");
}

TEST_F(KernelCacheTest, ForgetsFunctionsThatCameAndWent) {
  KernelCache cache(account_, {});
  for (int i = 0; i < 30'000; ++i) {
    const std::string name = fmt::format("__inference_f_{}", i);
    EXPECT_FALSE(cache.Get(Key(i), name));
    if (i % 2) Add(cache, i, {.op = name, .is_function = true});
    if (i % 4 == 1) cache.RemoveFunction(name);
  }
  EXPECT_LT(cache.report().size(), 25'000u);
  cache.Clear();
  EXPECT_LT(cache.report().size(), 10'000u);
}

TEST_F(KernelCacheTest, HoldsUnderEightThreads) {
  constexpr int kThreads = 8, kRounds = 4000, kKeys = 120;
  KernelCache cache(account_, Lru(60, 30'000));
  std::atomic<uint64_t> gets{0};
  const char owners[3] = {};
  auto work = [&](int seed) {
    std::mt19937 random(seed);
    KernelCache::Pin held;
    for (int i = 0; i < kRounds; ++i) {
      const int k = static_cast<int>(random() % kKeys);
      const std::string function = fmt::format("f{}", k % 7);
      ++gets;
      KernelCache::Pin pin = cache.Get(Key(k), function);
      if (!pin) {
        pin = cache.AddKernelToCache(Key(k), Make(k), {.op = function, .is_function = true, .owner = &owners[k % 3]});
      }
      ASSERT_EQ(IdOf(pin), k);
      if (i % 3 == 0) held = std::move(pin);
      switch (random() % 200) {
        case 0: cache.Clear(); break;
        case 1: cache.RemoveFunction(function); break;
        case 2: cache.RemoveOwner(&owners[k % 3]); break;
        case 3: cache.RemoveKernelFromCache(Key(k)); break;
        case 4: cache.SetPolicy(random() % 2 ? Lru(5000) : Lru(40 + random() % 40, 30'000)); break;
        case 5: cache.report(); break;
        case 6: ASSERT_LE(cache.stats().entries, 120u); break;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  KernelCacheStats s = cache.stats();
  EXPECT_EQ(s.hits + s.misses, gets);
  EXPECT_EQ(static_cast<size_t>(g_alive), s.entries);
  EXPECT_EQ(account_->bytes(Kind::kKernels), static_cast<int64_t>(s.bytes));
}

}  // namespace
}  // namespace tare
