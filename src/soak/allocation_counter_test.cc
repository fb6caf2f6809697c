#include "soak/allocation_counter.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace tare {
namespace {

// Asks the compiler to believe that the pointer is used.
template <class T>
T* Used(T* p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}

class AllocationCounter : public testing::Test {
 protected:
  void SetUp() override {
    if (allocation_meter() != AllocationMeter::kOwn) GTEST_SKIP() << "a sanitizer counts";
  }
  // What `make` left alive, until `release` has run; afterwards all must be as before.
  HeapCount Alive(const std::function<void*()>& make, const std::function<void(void*)>& release) {
    HeapCount before = CountHeap();
    void* p = Used(make());
    EXPECT_NE(p, nullptr);
    HeapCount during = CountHeap();
    release(p);
    HeapCount after = CountHeap();
    EXPECT_EQ(after.bytes, before.bytes);
    EXPECT_EQ(after.blocks, before.blocks);
    return {during.bytes - before.bytes, during.blocks - before.blocks,
            during.allocations - before.allocations};
  }
};

TEST_F(AllocationCounter, CountsEveryFormOfMallocByTheBytesAskedFor) {
  auto with_free = [&](const std::function<void*()>& make) { return Alive(make, [](void* p) { free(p); }); };
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{40}, size_t{4097}, size_t{3} << 20}) {
    auto n = static_cast<int64_t>(bytes);
    std::vector<HeapCount> counts = {
        with_free([&] { return malloc(bytes); }),
        with_free([&] { return calloc(bytes, 1); }),
        with_free([&] { return realloc(nullptr, bytes); }),
        with_free([&] { return aligned_alloc(64, bytes); }),
        with_free([&] { return memalign(4096, bytes); }),
        with_free([&] { return valloc(bytes); }),
        with_free([&] {
          void* p = nullptr;
          EXPECT_EQ(posix_memalign(&p, 256, bytes), 0);
          return p;
        })};
    for (const HeapCount& c : counts) {
      EXPECT_EQ(c.bytes, n);
      EXPECT_EQ(c.blocks, 1);
      EXPECT_EQ(c.allocations, 1);
    }
  }
  EXPECT_EQ(with_free([] { return strdup("seven.."); }).bytes, 8);
}

TEST_F(AllocationCounter, CountsEveryFormOfOperatorNewOnce) {
  struct alignas(128) Wide {
    char c[128];
  };
  auto counts = {
      Alive([] { return ::operator new(100); }, [](void* p) { ::operator delete(p); }),
      Alive([] { return ::operator new(100); }, [](void* p) { ::operator delete(p, size_t{100}); }),
      Alive([] { return ::operator new[](100); }, [](void* p) { ::operator delete[](p); }),
      Alive([] { return ::operator new(100, std::nothrow); }, [](void* p) { ::operator delete(p, std::nothrow); }),
      Alive([] { return ::operator new[](100, std::nothrow); }, [](void* p) { ::operator delete[](p); })};
  for (const HeapCount& c : counts) {
    EXPECT_EQ(c.bytes, 100);
    EXPECT_EQ(c.blocks, 1);
  }
  HeapCount wide = Alive([]() -> void* { return new Wide; }, [](void* p) { delete static_cast<Wide*>(p); });
  EXPECT_EQ(wide.bytes, 128);
  EXPECT_EQ(wide.blocks, 1);
}

TEST_F(AllocationCounter, ReallocKeepsTheBytesAndCountsTheDifference) {
  for (size_t align : {size_t{16}, size_t{64}, size_t{4096}}) {
    HeapCount before = CountHeap();
    auto* p = static_cast<char*>(memalign(align, 100));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0u);
    std::memset(p, 7, 100);
    for (size_t bytes : {1000, 200'000, 50, 10'000'000, 100}) {
      p = static_cast<char*>(realloc(Used(p), bytes));
      ASSERT_NE(p, nullptr);
      EXPECT_EQ(p[49], 7);
      EXPECT_EQ(malloc_usable_size(p), bytes);
      EXPECT_EQ(CountHeap().bytes - before.bytes, static_cast<int64_t>(bytes));
      EXPECT_EQ(CountHeap().blocks - before.blocks, 1);
    }
    EXPECT_EQ(realloc(Used(p), 0), nullptr);
    EXPECT_EQ(CountHeap().bytes, before.bytes);
    EXPECT_EQ(CountHeap().blocks, before.blocks);
  }
}

TEST_F(AllocationCounter, CallocZeroesAndRefusesOverflow) {
  auto* p = static_cast<unsigned char*>(malloc(1000));
  std::memset(Used(p), 255, 1000);
  free(p);
  p = static_cast<unsigned char*>(calloc(10, 100));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(p[i], 0);
  free(p);
  HeapCount before = CountHeap();
  size_t volatile huge = SIZE_MAX / 2 + 2;
  EXPECT_EQ(calloc(huge, 2), nullptr);
  EXPECT_EQ(malloc(huge), nullptr);
  EXPECT_EQ(malloc(SIZE_MAX - huge), nullptr);
  EXPECT_EQ(aligned_alloc(64, SIZE_MAX - huge + huge), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  void* q = malloc(10);
  EXPECT_EQ(realloc(q, huge), nullptr);
  free(q);
  EXPECT_EQ(posix_memalign(&q, 3, 8), EINVAL);
  EXPECT_EQ(posix_memalign(&q, 64, huge), ENOMEM);
  EXPECT_EQ(CountHeap().bytes, before.bytes);
}

TEST_F(AllocationCounter, ThreadsThatFreeWhatOthersMadeLeaveNothing) {
  std::vector<std::thread> threads;
  threads.reserve(40);
  std::vector<std::vector<void*>> blocks(40);
  for (auto& b : blocks) b.resize(500);
  HeapCount before = CountHeap();
  auto on_all = [&](const std::function<void(size_t)>& work) {
    threads.clear();
    for (size_t t = 0; t < blocks.size(); ++t) threads.emplace_back([&work, t] { work(t); });
    for (std::thread& t : threads) t.join();
    threads.clear();
  };
  on_all([&](size_t t) {
    for (void*& p : blocks[t]) p = malloc(33);
  });
  EXPECT_GE(CountHeap().bytes - before.bytes, 40 * 500 * 33);
  on_all([&](size_t t) {
    for (void* p : blocks[(t + 7) % blocks.size()]) free(p);
  });
  EXPECT_LT(CountHeap().bytes - before.bytes, 64 << 10);  // what glibc keeps for its thread stacks
  EXPECT_LT(CountHeap().blocks - before.blocks, 100);
}

TEST_F(AllocationCounter, CountingAllocatesNothing) {
  int64_t made = CountHeap().allocations;
  for (int i = 0; i < 100; ++i) CountHeap();
  EXPECT_EQ(CountHeap().allocations, made);
}

}  // namespace
}  // namespace tare
