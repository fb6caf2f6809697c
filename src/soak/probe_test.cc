#include "soak/probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <latch>
#include <set>
#include <thread>

#include "memory/mapped_file.h"
#include "soak/allocation_counter.h"

namespace tare {
namespace {

TEST(Probe, EveryMeterHasANameOfItsOwn) {
  std::set<std::string_view> keys;
  for (const MeterInfo& m : MeterTable()) keys.insert(m.key);
  EXPECT_EQ(keys.size(), kMeterCount);
  for (size_t k = 0; k < kKindCount; ++k) {
    auto kind = static_cast<Kind>(k);
    EXPECT_EQ(InfoOf(LedgerMeter(kind)).key, "ledger." + std::string(KindName(kind)));
  }
}

TEST(Probe, ReadingAllocatesNothing) {
  if (allocation_meter() != AllocationMeter::kOwn) GTEST_SKIP();
  Probe probe({.model_roots = {"/usr/share"},
               .ledger = [](std::span<int64_t, kKindCount> kinds) { kinds[0] += 5; },
               .kernel_cache = [] { return CacheFigures{3, 4}; }});
  int64_t made = CountHeap().allocations;
  Sample s = probe.Read(9);
  EXPECT_EQ(CountHeap().allocations, made);
  EXPECT_EQ(s.cycle, 9);
  EXPECT_EQ(s[Meter::kLedger], 5);
  EXPECT_EQ(s[Meter::kCacheEntries], 3);
  EXPECT_EQ(s[Meter::kCacheBytes], 4);
  EXPECT_EQ(s[Meter::kModelFiles], 0);
  EXPECT_GT(s[Meter::kLiveBytes], 0);
  EXPECT_GT(s[Meter::kAnonymous], 0);
}

TEST(Probe, MetersWithoutASourceAreNotRead) {
  Sample s = Probe({}).Read(0, /*pages=*/false);
  EXPECT_FALSE(s.has(Meter::kLedger));
  EXPECT_FALSE(s.has(LedgerMeter(Kind::kTables)));
  EXPECT_FALSE(s.has(Meter::kCacheEntries));
  EXPECT_FALSE(s.has(Meter::kModelFiles));
  EXPECT_FALSE(s.has(Meter::kPrivateDirty));
  EXPECT_TRUE(s.has(Meter::kThreads));
}

TEST(Probe, SeesAnonymousMemoryFromMmap) {
  if (!Probe::PagesMeaningful()) GTEST_SKIP();
  Probe probe({});
  constexpr size_t kBytes = size_t{8} << 20;
  Sample before = probe.Read(0);
  void* p = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(p, 1, kBytes);
  Sample during = probe.Read(1);
  munmap(p, kBytes);
  Sample after = probe.Read(2);
  for (Meter m : {Meter::kAnonymous, Meter::kPrivateDirty}) {
    EXPECT_GE(during[m] - before[m], static_cast<int64_t>(kBytes)) << InfoOf(m).key;
    EXPECT_LT(after[m] - before[m], 1 << 20) << InfoOf(m).key;
  }
  EXPECT_EQ(during[Meter::kLiveBytes], before[Meter::kLiveBytes]);
}

TEST(Probe, CountsThreadsAndOpenFiles) {
  Probe probe({});
  Sample before = probe.Read(0);
  std::latch stop(1);
  std::thread thread([&] { stop.wait(); });
  int fd = open("/dev/null", O_RDONLY);
  Sample during = probe.Read(1);
  stop.count_down();
  thread.join();
  close(fd);
  Sample after = probe.Read(2);
  EXPECT_EQ(during[Meter::kThreads], before[Meter::kThreads] + 1);
  EXPECT_EQ(during[Meter::kOpenFiles], before[Meter::kOpenFiles] + 1);
  EXPECT_EQ(after[Meter::kThreads], before[Meter::kThreads]);
  EXPECT_EQ(after[Meter::kOpenFiles], before[Meter::kOpenFiles]);
}

TEST(Probe, CountsMappingsUnderTheModelsDirectoryOnlyEvenDeletedOnes) {
  auto root = std::filesystem::temp_directory_path() / fmt::format("tare_probe_test_{}", getpid());
  std::filesystem::create_directories(root / "model");
  std::filesystem::create_directories(root / "model2");
  for (const char* name : {"model/a", "model2/b"}) std::ofstream(root / name) << "weights";
  auto account = MakeRef<Account>("test");
  Probe probe({.model_roots = {(root / "model2" / ".." / "model").string()}});
  EXPECT_EQ(probe.Read(0, false)[Meter::kModelFiles], 0);
  {
    auto a = MappedFile::Open(root / "model/a", MappedFile::Mode::kMap, account);
    auto b = MappedFile::Open(root / "model2/b", MappedFile::Mode::kMap, account);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(probe.Read(0, false)[Meter::kModelFiles], 1);
    std::filesystem::remove_all(root);
    EXPECT_EQ(probe.Read(0, false)[Meter::kModelFiles], 1);
  }
  EXPECT_EQ(probe.Read(0, false)[Meter::kModelFiles], 0);
}

}  // namespace
}  // namespace tare
