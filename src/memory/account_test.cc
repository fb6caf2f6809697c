#include "memory/account.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace tare {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(Account, CountsByKindAndRemembersItsPeak) {
  auto a = MakeRef<Account>("m");
  a->Charge(Kind::kWeights, 100);
  a->Charge(Kind::kTables, 50);
  a->Discharge(Kind::kWeights, 30);
  EXPECT_EQ(a->bytes(Kind::kWeights), 70);
  EXPECT_EQ(a->charged(Kind::kWeights), 100);
  EXPECT_EQ(a->total(), 120);
  EXPECT_EQ(a->peak(), 150);
  a->Move(Kind::kWeights, Kind::kCaller, 70);
  EXPECT_EQ(a->bytes(Kind::kWeights), 0);
  EXPECT_EQ(a->bytes(Kind::kCaller), 70);
  EXPECT_EQ(a->total(), 120);
  EXPECT_EQ(a->peak(), 150);
}

TEST(Account, BlocksAreAlignedWritableAndCarryTheirCapacity) {
  auto a = MakeRef<Account>("m");
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{65}, size_t{65'535}, size_t{65'536}, 3 * kMiB + 1}) {
    size_t capacity = 0;
    void* p = *a->Allocate(bytes, &capacity);
    ASSERT_NE(p, nullptr) << bytes;
    EXPECT_GE(capacity, bytes);
    EXPECT_LE(capacity, bytes + bytes / 4 + 4096);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    std::memset(p, 1, capacity);
    a->Free(p, capacity);
  }
}

TEST(Account, LargeBlocksAreReusedAndChargedAsPooledMeanwhile) {
  auto a = MakeRef<Account>("m");
  size_t capacity, again;
  void* p = *a->Allocate(kMiB, &capacity);
  EXPECT_EQ(a->total(), 0);
  a->Free(p, capacity);
  EXPECT_EQ(a->bytes(Kind::kPooled), static_cast<int64_t>(capacity));
  EXPECT_EQ(*a->Allocate(kMiB - 5000, &again), p) << "nearly equal sizes fit one another";
  EXPECT_EQ(again, capacity);
  EXPECT_EQ(a->total(), 0);
  a->Free(p, again);
  a->Trim(false);
  EXPECT_EQ(a->total(), 0);
}

TEST(Account, BlocksJustBelowTheLargeOnesGoBackWhereTheyCameFrom) {
  // 65,473 to 65,535 bytes once came from malloc, were pooled as large and ended in munmap.
  auto a = MakeRef<Account>("m");
  for (size_t bytes = (64 << 10) - 130; bytes <= (64 << 10) + 2; ++bytes) {
    size_t capacity;
    void* p = *a->Allocate(bytes, &capacity);
    std::memset(p, 1, capacity);
    a->Free(p, capacity);
    EXPECT_EQ(a->bytes(Kind::kPooled) > 0, bytes > (64 << 10) - 64) << bytes;
    a->Trim(false);
  }
}

TEST(Account, ThePoolKeepsNoMoreThanItsBound) {
  auto a = MakeRef<Account>("m", 3 * kMiB);
  std::vector<std::pair<void*, size_t>> blocks(8);
  for (auto& [p, capacity] : blocks) p = *a->Allocate(kMiB, &capacity);
  for (auto& [p, capacity] : blocks) a->Free(p, capacity);
  EXPECT_EQ(a->bytes(Kind::kPooled), static_cast<int64_t>(3 * kMiB));
  size_t capacity;
  void* p = *a->Allocate(10 * kMiB, &capacity);
  a->Free(p, capacity);  // larger than the whole pool
  EXPECT_EQ(a->bytes(Kind::kPooled), static_cast<int64_t>(3 * kMiB));
}

TEST(Account, APoolThatWasTrimmedPoolsAgainAndAClosedOneDoesNot) {
  auto a = MakeRef<Account>("m");
  size_t capacity;
  auto round = [&] {
    void* p = *a->Allocate(kMiB, &capacity);
    a->Free(p, capacity);
    return a->bytes(Kind::kPooled);
  };
  EXPECT_GT(round(), 0);
  a->Trim(false);
  EXPECT_EQ(a->bytes(Kind::kPooled), 0);
  EXPECT_GT(round(), 0);
  a->Trim(true);
  EXPECT_EQ(round(), 0);
  a->Trim(true);
  EXPECT_EQ(a->total(), 0);
}

TEST(Account, ManySmallPooledBlocksStayBounded) {
  auto a = MakeRef<Account>("m");
  std::vector<std::pair<void*, size_t>> blocks(600);
  for (auto& [p, capacity] : blocks) p = *a->Allocate(64 << 10, &capacity);
  for (auto& [p, capacity] : blocks) a->Free(p, capacity);
  EXPECT_GT(a->bytes(Kind::kPooled), 0);
  EXPECT_LE(a->bytes(Kind::kPooled), int64_t{300} * (64 << 10));
}

TEST(Account, WhatCannotBeHadIsAnError) {
  auto a = MakeRef<Account>("m");
  size_t capacity;
  for (size_t bytes : {SIZE_MAX, SIZE_MAX / 2, size_t{1} << 60}) {
    EXPECT_EQ(a->Allocate(bytes, &capacity).status().code(), Code::kResourceExhausted) << bytes;
  }
  EXPECT_EQ(a->total(), 0);
}

TEST(Account, AGateRefusesLargeBlocks) {
  struct : MemoryGate {
    Status Allows(size_t bytes) override { return bytes <= left ? OkStatus() : ResourceExhausted("{} too many", bytes); }
    size_t left = kMiB;
  } gate;
  auto a = MakeRef<Account>("m", kMiB, &gate);
  size_t capacity;
  EXPECT_EQ(a->Allocate(2 * kMiB, &capacity).status().message(), "2097152 too many");
  void* p = *a->Allocate(kMiB, &capacity);
  a->Free(p, capacity);
  gate.left = 0;
  EXPECT_EQ(*a->Allocate(kMiB, &capacity), p) << "a pooled block is held already";
  a->Free(p, capacity);
  EXPECT_FALSE(a->Allocate(64 << 10, &capacity).ok());
}

TEST(Account, ThreadsMayShareIt) {
  auto a = MakeRef<Account>("m", 8 * kMiB);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        size_t capacity;
        void* p = *a->Allocate((64 << 10) * static_cast<size_t>(1 + (i + t) % 5), &capacity);
        a->Charge(Kind::kActivations, capacity);
        std::memset(p, t, 64);
        EXPECT_EQ(static_cast<char*>(p)[63], t);
        a->Discharge(Kind::kActivations, capacity);
        a->Free(p, capacity);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(a->bytes(Kind::kActivations), 0);
  a->Trim(true);
  EXPECT_EQ(a->total(), 0);
}

TEST(KindName, EveryKindHasOne) {
  for (size_t k = 0; k < kKindCount; ++k) EXPECT_FALSE(KindName(static_cast<Kind>(k)).empty());
  EXPECT_EQ(KindName(Kind::kCaller), "caller");
}

}  // namespace
}  // namespace tare
