#include "threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <numeric>

namespace tare {
namespace {

constexpr int64_t kCostly = 1'000'000;

// Runs ParallelFor and tells how often each item was visited, and in how many pieces.
struct Visits {
  explicit Visits(int64_t n) : counts(static_cast<size_t>(n)) {}
  void Run(ThreadPool& pool, int64_t cost) {
    pool.ParallelFor(static_cast<int64_t>(counts.size()), cost, [&](int64_t begin, int64_t end) {
      ++pieces;
      for (int64_t i = begin; i < end; ++i) counts[static_cast<size_t>(i)].fetch_add(1);
    });
  }
  bool EachOnce() const {
    for (const auto& c : counts) {
      if (c.load() != 1) return false;
    }
    return true;
  }
  std::vector<std::atomic<int>> counts;
  std::atomic<int> pieces{0};
};

TEST(ThreadPool, VisitsEveryItemOnce) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t n : {1, 2, 3, 15, 16, 17, 1000, 100'003}) {
      Visits visits(n);
      visits.Run(pool, kCostly);
      EXPECT_TRUE(visits.EachOnce()) << n << " items, " << threads << " threads";
    }
  }
}

TEST(ThreadPool, NothingToDoCallsNothing) {
  ThreadPool pool(2);
  pool.ParallelFor(0, kCostly, [](int64_t, int64_t) { FAIL(); });
  pool.ParallelFor(-5, kCostly, [](int64_t, int64_t) { FAIL(); });
}

TEST(ThreadPool, SmallWorkStaysOnTheCallerInOnePiece) {
  ThreadPool pool(4);
  for (int64_t cost : {int64_t{0}, int64_t{-1}, int64_t{10}}) {
    Visits visits(100);
    visits.Run(pool, cost);
    EXPECT_EQ(visits.pieces, 1);
    EXPECT_TRUE(visits.EachOnce());
  }
}

TEST(ThreadPool, HugeCostsAndCountsDoNotOverflow) {
  ThreadPool pool(3);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 2;
  std::atomic<int64_t> covered{0};
  pool.ParallelFor(kMax, kMax, [&](int64_t begin, int64_t end) { covered += end - begin; });
  EXPECT_EQ(covered, kMax);
}

TEST(ThreadPool, NestedLoopsRunToTheirEnd) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum{0};
  pool.ParallelFor(50, kCostly, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      pool.ParallelFor(20, kCostly, [&](int64_t b, int64_t e) { sum += e - b; });
    }
  });
  EXPECT_EQ(sum, 1000);
}

TEST(ThreadPool, SeveralCallersMayUseItAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> good{0};
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        Visits visits(200);
        visits.Run(pool, kCostly);
        good += visits.EachOnce();
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(good, 300);
}

TEST(ThreadPool, PoolsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(3);
    if (i % 2) Visits(10).Run(pool, kCostly);
  }
  EXPECT_GE(ThreadPool(0).threads(), 1);
}

TEST(ThreadPool, WorkersFlushDenormalsAndTheCallerAsItWishes) {
  volatile float tiny = std::numeric_limits<float>::denorm_min() * 8;
  EXPECT_GT(tiny * 0.5f, 0);
  {
    FlushDenormals flush;
    EXPECT_EQ(tiny * 0.5f, 0);
  }
  EXPECT_GT(tiny * 0.5f, 0);
  ThreadPool pool(2);
  std::atomic<int> flushed{0}, on_workers{0};
  auto caller = std::this_thread::get_id();
  for (int round = 0; round < 200 && on_workers == 0; ++round) {
    pool.ParallelFor(64, kCostly, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() == caller) return std::this_thread::yield();
      ++on_workers;
      flushed += tiny * 0.5f == 0;
    });
  }
  EXPECT_EQ(flushed, on_workers);
}

}  // namespace
}  // namespace tare
