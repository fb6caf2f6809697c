#include "memory/region.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tare {
namespace {

TEST(Region, ReleasesAllItTookAtOnce) {
  auto account = MakeRef<Account>("m");
  {
    Region region(account, Kind::kGraphs);
    EXPECT_EQ(account->total(), 0) << "an empty region takes nothing";
    for (int i = 0; i < 20'000; ++i) region.Allocate(100);
    EXPECT_GE(region.bytes(), 2'000'000u);
    EXPECT_EQ(account->bytes(Kind::kGraphs), static_cast<int64_t>(region.bytes()));
  }
  EXPECT_EQ(account->total(), 0);
}

TEST(Region, EveryBlockIsAlignedAndApartFromTheOthers) {
  Region region(MakeRef<Account>("m"), Kind::kGraphs);
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t align : {1, 2, 8, 64, 4096, 16'384, 1, 64}) {
    for (size_t bytes : {1, 63, 4096, 20'000, 100'000}) {
      auto* p = static_cast<char*>(region.Allocate(bytes, align));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0u);
      std::memset(p, static_cast<int>(blocks.size()), bytes);
      blocks.emplace_back(p, bytes);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    auto [p, bytes] = blocks[i];
    EXPECT_EQ(p[0], static_cast<char>(i));
    EXPECT_EQ(p[bytes - 1], static_cast<char>(i));
  }
}

TEST(Region, CopiesOutliveWhatTheyWereCopiedFrom) {
  Region region(MakeRef<Account>("m"), Kind::kGraphs);
  std::string_view s;
  std::span<const int64_t> a;
  {
    std::string text(1000, 'x');
    std::vector<int64_t> numbers = {1, 2, 3};
    s = region.CopyString(text);
    a = region.CopyArray(std::span<const int64_t>(numbers));
  }
  EXPECT_EQ(s, std::string(1000, 'x'));
  EXPECT_EQ(a[2], 3);
  EXPECT_TRUE(region.CopyString("").empty());
  EXPECT_TRUE(region.AllocateArray<int>(0).empty());
}

TEST(Region, ArraysStartZeroed) {
  Region region(MakeRef<Account>("m"), Kind::kGraphs);
  for (int v : region.AllocateArray<int>(1000)) EXPECT_EQ(v, 0);
}

TEST(Region, SizesThatOverflowThrowAndChargeNothing) {
  auto account = MakeRef<Account>("m");
  Region region(account, Kind::kGraphs);
  EXPECT_THROW(region.Allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(region.Allocate(size_t{1} << 60), std::bad_alloc);
  EXPECT_THROW(region.AllocateArray<int64_t>(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_EQ(account->total(), 0);
  EXPECT_NE(region.Allocate(10), nullptr) << "and it can still be used";
}

TEST(Region, ServesStandardContainers) {
  auto account = MakeRef<Account>("m");
  Region region(account, Kind::kPlans);
  std::pmr::vector<std::pmr::string> names(&region);
  for (int i = 0; i < 100; ++i) names.emplace_back("a name that is too long for the small string");
  EXPECT_EQ(names[99].size(), 44u);
  EXPECT_GT(account->bytes(Kind::kPlans), 0);
}

}  // namespace
}  // namespace tare
