#include "soak/soak.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <thread>

#include "soak/allocation_counter.h"

namespace tare {
namespace {

// Leaks of these tests end with the object, so that a leak checker has nothing to say.
struct Leaks {
  std::deque<std::unique_ptr<char[]>> blocks;
  std::deque<int> files;
  ~Leaks() {
    for (int fd : files) close(fd);
  }
  void Malloc(size_t bytes) { blocks.push_back(std::make_unique<char[]>(bytes)); }
};

// What every target does besides: some work that gives all back.
void Work() {
  std::vector<std::string> strings;
  for (int i = 0; i < 50; ++i) strings.push_back(std::string(static_cast<size_t>(100 + i), 'x'));
  std::map<int, std::string> names;
  for (int i = 0; i < 50; ++i) names[i] = strings[static_cast<size_t>(i)];
}

SoakResult Soak(int cycles, std::function<void(int)> leak, SoakOptions options = {}) {
  options.cycles = cycles;
  auto r = RunSoak(options, {{"model", [&](int cycle) {
                               Work();
                               leak(cycle);
                               return OkStatus();
                             }}});
  EXPECT_TRUE(r.ok()) << r.status().ToString();
  return *std::move(r);
}

#define SKIP_UNDER_SANITIZERS() \
  if (allocation_meter() != AllocationMeter::kOwn) GTEST_SKIP() << "a sanitizer counts"

TEST(Soak, ATargetThatGivesEverythingBackIsFlatToTheByte) {
  SoakResult r = Soak(100, [](int) {});
  EXPECT_EQ(r.verdict.judgement, Judgement::kFlat) << r.verdict.summary;
  EXPECT_EQ(r.verdict.exit_status(), 0);
  EXPECT_EQ(r.verdict.warm_up, 10);
  EXPECT_EQ(r.samples.size(), 100u);
  if (allocation_meter() == AllocationMeter::kUnavailable) return;
  EXPECT_EQ(r.verdict.Find(Meter::kLiveBytes)->change, 0);
  EXPECT_EQ(r.target_shares[0].per_cycle, 0);
}

TEST(Soak, OneBlockACycleIsGrowingByExactlyItsBytes) {
  SKIP_UNDER_SANITIZERS();
  std::vector<char*> blocks(100);
  SoakResult r = Soak(100, [&](int cycle) { blocks[static_cast<size_t>(cycle)] = new char[3044]; });
  for (char* b : blocks) delete[] b;
  EXPECT_EQ(r.verdict.judgement, Judgement::kGrowing);
  EXPECT_EQ(r.verdict.exit_status(), 1);
  EXPECT_EQ(r.verdict.summary, "growing: live bytes +3,044 B/cycle");
  EXPECT_EQ(r.verdict.Find(Meter::kLiveBytes)->rate(), "+3,044 B/cycle (exact)");
  EXPECT_EQ(r.verdict.Find(Meter::kLiveBlocks)->trend.reported().slope, 1);
  EXPECT_EQ(r.target_shares[0].per_cycle, 3044);
}

TEST(Soak, ALeakOfMmapOnlyIsGrowingOutsideTheLiveBytes) {
  SKIP_UNDER_SANITIZERS();
  std::vector<void*> maps(100);
  SoakResult r = Soak(100, [&](int cycle) {
    void* p = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(p, 1, 8192);
    maps[static_cast<size_t>(cycle)] = p;
  });
  for (void* p : maps) munmap(p, 8192);
  EXPECT_EQ(r.verdict.judgement, Judgement::kGrowing);
  EXPECT_EQ(r.verdict.Find(Meter::kLiveBytes)->judgement, Judgement::kFlat);
  EXPECT_EQ(r.verdict.summary,
            "growing: anonymous memory +8,192 B/cycle (live bytes are flat: memory from mmap, or holes in the heap)");
}

TEST(Soak, ACacheThatGrowsAWhileAndStopsIsFlatAndTold) {
  Leaks leaks;
  SoakResult r = Soak(100, [&](int cycle) {
    if (cycle < 35) leaks.Malloc(200);
  });
  EXPECT_EQ(r.verdict.judgement, Judgement::kFlat) << r.verdict.summary;
  if (allocation_meter() != AllocationMeter::kOwn) return;
  EXPECT_EQ(r.verdict.Find(Meter::kLiveBytes)->trend.shape, Trend::Shape::kSettled);
  EXPECT_NE(r.verdict.summary.find("until cycle 34, level since"), std::string::npos) << r.verdict.summary;
}

TEST(Soak, OneStepIsToldAsAStepNotAsASlope) {
  SKIP_UNDER_SANITIZERS();
  std::unique_ptr<char[]> step;
  SoakResult r = Soak(100, [&](int cycle) {
    if (cycle == 30) step = std::make_unique<char[]>(5000);
  });
  EXPECT_EQ(r.verdict.judgement, Judgement::kFlat);
  EXPECT_EQ(r.verdict.Find(Meter::kLiveBytes)->note, "one step of +5,000 B at cycle 30, level since");
  EXPECT_EQ(r.verdict.Find(Meter::kLiveBytes)->change, 5000);
}

TEST(Soak, AStepInTheLastCyclesIsInconclusive) {
  SKIP_UNDER_SANITIZERS();
  std::unique_ptr<char[]> step;
  SoakResult r = Soak(100, [&](int cycle) {
    if (cycle == 93) step = std::make_unique<char[]>(5000);
  });
  EXPECT_EQ(r.verdict.exit_status(), 2) << r.verdict.summary;
}

TEST(Soak, TheVerdictNamesTheKernelCacheAndItsOp) {
  SKIP_UNDER_SANITIZERS();
  std::vector<std::unique_ptr<char[]>> kernels(2000);
  int64_t entries = 0;
  SoakOptions options;
  options.sources.kernel_cache = [&] { return CacheFigures{entries, entries * 100}; };
  options.cache_ops = [&]() -> std::vector<Share> {
    return {{"MatMul", 3}, {"VarHandleOp", static_cast<double>(entries)}};
  };
  SoakResult r = Soak(100, [&](int) {
    for (int i = 0; i < 12; ++i) kernels[static_cast<size_t>(entries++)] = std::make_unique<char[]>(250);
  }, options);
  EXPECT_EQ(r.verdict.summary,
            "growing: live bytes +3,000 B/cycle (kernel cache: +12 entries/cycle, op VarHandleOp)");
  ASSERT_EQ(r.cache_ops.size(), 1u);
  EXPECT_EQ(r.cache_ops[0].per_cycle, 12);
}

TEST(Soak, TheVerdictNamesTheKindInTheLedger) {
  int64_t tables = 0;
  SoakOptions options;
  options.sources.ledger = [&](std::span<int64_t, kKindCount> kinds) {
    kinds[static_cast<size_t>(Kind::kTables)] += tables;
  };
  SoakResult r = Soak(60, [&](int) { tables += 1'048'576; }, options);
  EXPECT_EQ(r.verdict.summary, "growing: ledger +1,048,576 B/cycle (ledger tables: +1,048,576 B/cycle)");
}

TEST(Soak, ThreadsOfAPoolBelongToWarmUp) {
  std::vector<std::jthread> pool;
  SoakResult r = Soak(60, [&](int cycle) {
    if (cycle < 8) pool.emplace_back([](std::stop_token stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  EXPECT_EQ(r.verdict.warm_up, 8);
  EXPECT_EQ(r.verdict.judgement, Judgement::kFlat) << r.verdict.summary;
}

TEST(Soak, AnOpenFileACycleIsGrowing) {
  Leaks leaks;
  SoakResult r = Soak(40, [&](int) { leaks.files.push_back(dup(0)); });
  EXPECT_EQ(r.verdict.Find(Meter::kOpenFiles)->judgement, Judgement::kGrowing);
}

TEST(Soak, OfSeveralTargetsTheOneThatLeaksIsNamed) {
  SKIP_UNDER_SANITIZERS();
  std::vector<std::unique_ptr<char[]>> kept(50);
  SoakOptions options;
  options.cycles = 50;
  std::vector<std::string> order;
  auto r = RunSoak(options, {{"clean", [](int) { Work(); return OkStatus(); }},
                             {"leaky", [&](int cycle) {
                                kept[static_cast<size_t>(cycle)] = std::make_unique<char[]>(64);
                                return OkStatus();
                              }}});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->verdict.summary, "growing: live bytes +64 B/cycle (most by leaky)");
  EXPECT_EQ(r->target_shares[0].per_cycle, 0);
}

TEST(Soak, AnErrorOfATargetIsNamedWithItsCycle) {
  SoakOptions options;
  auto r = RunSoak(options, {{"m", [](int cycle) { return cycle == 3 ? NotFound("gone") : OkStatus(); }}});
  EXPECT_EQ(r.status().ToString(), "NOT_FOUND: m, cycle 3: gone");
  EXPECT_EQ(RunSoak(options, {}).status().code(), Code::kInvalidArgument);
  options.cycles = 0;
  EXPECT_EQ(RunSoak(options, {{"m", [](int) { return OkStatus(); }}}).status().code(),
            Code::kInvalidArgument);
}

TEST(Soak, FewCyclesAreInconclusiveUnlessTheyAreEnough) {
  EXPECT_EQ(Soak(3, [](int) {}).verdict.exit_status(), 2);
  EXPECT_EQ(Soak(12, [](int) {}).verdict.exit_status(), 0);
}

TEST(Soak, ProgressSeesEveryCycle) {
  SoakOptions options;
  int calls = 0;
  options.progress = [&](const Sample& s) { EXPECT_EQ(s.cycle, calls++); };
  Soak(20, [](int) {}, options);
  EXPECT_EQ(calls, 20);
}

TEST(FormatAmount, IsReadable) {
  EXPECT_EQ(FormatAmount(3044, "B", true), "+3,044 B");
  EXPECT_EQ(FormatAmount(-3117056, "B", true), "-3,117,056 B");
  EXPECT_EQ(FormatAmount(12.5, "entries", true), "+12.5 entries");
  EXPECT_EQ(FormatAmount(0.004, "B", true), "+0.004 B");
  EXPECT_EQ(FormatAmount(0, "B", true), "0 B");
  EXPECT_EQ(FormatAmount(80 << 20, "B", false), "80.0 MiB");
}

}  // namespace
}  // namespace tare
