#include "memory/ref.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tare {
namespace {

struct Counted : RefCounted {
  explicit Counted(int* alive) : alive(alive) { ++*alive; }
  ~Counted() override { --*alive; }
  int* alive;
};
struct Derived final : Counted {
  using Counted::Counted;
};

TEST(Ref, TheLastOneDestroysTheObject) {
  int alive = 0;
  Ref<Counted> a = MakeRef<Counted>(&alive);
  EXPECT_TRUE(a->unique());
  {
    Ref<Counted> b = a;
    EXPECT_FALSE(a->unique());
    Ref<Counted> c = std::move(b);
    EXPECT_FALSE(b);  // NOLINT: moved-from is null
    EXPECT_EQ(c.get(), a.get());
  }
  EXPECT_TRUE(a->unique());
  a = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(Ref, AssigningToItselfKeepsTheObject) {
  int alive = 0;
  Ref<Counted> a = MakeRef<Counted>(&alive);
  Ref<Counted>& same = a;
  a = same;
  EXPECT_EQ(alive, 1);
  EXPECT_TRUE(a->unique());
  a = std::move(same);
  EXPECT_EQ(alive, 1);
}

TEST(Ref, ADerivedOneConverts) {
  int alive = 0;
  Ref<RefCounted> base = MakeRef<Derived>(&alive);
  Ref<Counted> counted = MakeRef<Derived>(&alive);
  EXPECT_EQ(alive, 2);
  base = counted;
  EXPECT_EQ(alive, 1);
}

TEST(Ref, ReleaseAndAdoptMoveTheCountWithoutChangingIt) {
  int alive = 0;
  Ref<Counted> a = MakeRef<Counted>(&alive);
  Counted* raw = a.Release();
  EXPECT_FALSE(a);
  Ref<Counted> shared = Ref<Counted>::Share(raw);
  Ref<Counted> adopted = Ref<Counted>::Adopt(raw);
  EXPECT_FALSE(adopted->unique());
  shared = nullptr;
  EXPECT_TRUE(adopted->unique());
  adopted = nullptr;
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(Ref<Counted>::Share(nullptr));
}

TEST(Ref, ThreadsMayCopyOneObject) {
  int alive = 0;
  {
    Ref<Counted> a = MakeRef<Counted>(&alive);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([mine = a] {
        for (int i = 0; i < 5000; ++i) Ref<Counted> copy = mine;
      });
    }
    for (std::thread& t : threads) t.join();
    threads.clear();
    EXPECT_TRUE(a->unique());
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace tare
