#include "soak/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tare {
namespace {

using Shape = Trend::Shape;

template <class F>
std::vector<Point> Series(int n, F y) {
  std::vector<Point> p;
  for (int i = 0; i < n; ++i) p.push_back({static_cast<double>(i), static_cast<double>(y(i))});
  return p;
}

TEST(FitSlope, ALineHasItsSlopeAndNoDoubt) {
  Slope s = FitSlope(Series(100, [](int i) { return 7 + 3 * i; }));
  EXPECT_EQ(s.slope, 3);
  EXPECT_EQ(s.low, 3);
  EXPECT_EQ(s.high, 3);
}

TEST(FitSlope, OutliersDoNotMoveIt) {
  Slope s = FitSlope(Series(100, [](int i) { return 3 * i + (i % 10 == 9 ? 1'000'000 : 0); }));
  EXPECT_NEAR(s.slope, 3, 1e-9);
}

TEST(FitSlope, TheBoundHoldsTheTrueSlopeAndZeroWhereThereIsNone) {
  std::mt19937 rng(1);
  std::normal_distribution<double> noise(0, 1000);
  int holds = 0, holds_zero = 0;
  constexpr int kRuns = 100;
  for (int run = 0; run < kRuns; ++run) {
    Slope s = FitSlope(Series(60, [&](int i) { return 50 * i + noise(rng); }));
    holds += s.low <= 50 && 50 <= s.high;
    Slope z = FitSlope(Series(60, [&](int) { return noise(rng); }));
    holds_zero += z.low <= 0 && 0 <= z.high;
  }
  EXPECT_GE(holds, 88);
  EXPECT_GE(holds_zero, 88);
}

TEST(FitSlope, ThousandsOfPointsAreThinnedWithoutChangingTheSlope) {
  Slope s = FitSlope(Series(20'000, [](int i) { return 0.25 * i + (i % 2 ? 100 : 0); }));
  EXPECT_NEAR(s.slope, 0.25, 1e-3);
  EXPECT_LE(s.low, 0.2501);
  EXPECT_GE(s.high, 0.2499);
}

TEST(FitSlope, TooFewPointsHaveNoBound) {
  EXPECT_TRUE(std::isinf(FitSlope({}).high));
  EXPECT_TRUE(std::isinf(FitSlope(Series(1, [](int i) { return i; })).high));
  EXPECT_TRUE(std::isinf(FitSlope(Series(3, [](int i) { return i; })).high));
  EXPECT_FALSE(FitSlope(Series(3, [](int i) { return i; })).rising());
}

TEST(WarmUp, IsATenthOrFiveOrUntilThreadsSettleButNeverMoreThanHalf) {
  EXPECT_EQ(WarmUpCycles(100, {}), 10);
  EXPECT_EQ(WarmUpCycles(1000, {}), 100);
  EXPECT_EQ(WarmUpCycles(20, {}), 5);
  EXPECT_EQ(WarmUpCycles(6, {}), 3);
  std::vector<int64_t> late_threads(100, 4);
  for (int i = 0; i < 30; ++i) late_threads[static_cast<size_t>(i)] = 1;
  EXPECT_EQ(WarmUpCycles(100, late_threads), 31);
  std::vector<int64_t> leaking_threads;
  for (int i = 0; i < 100; ++i) leaking_threads.push_back(i);
  EXPECT_EQ(WarmUpCycles(100, leaking_threads), 10);
}

TEST(FitTrend, EqualValuesAreLevel) {
  Trend t = FitTrend(Series(90, [](int) { return 5; }), 0);
  EXPECT_EQ(t.shape, Shape::kLevel);
  EXPECT_EQ(t.rises, 0);
}

TEST(FitTrend, OneByteACycleIsRising) {
  Trend t = FitTrend(Series(90, [](int i) { return 1'000'000 + i; }), 0);
  EXPECT_EQ(t.shape, Shape::kRising);
  EXPECT_EQ(t.reported().slope, 1);
}

TEST(FitTrend, AStaircaseOfRareStepsIsRising) {
  EXPECT_EQ(FitTrend(Series(90, [](int i) { return i / 20 * 4096; }), 0).shape, Shape::kRising);
  EXPECT_EQ(FitTrend(Series(900, [](int i) { return i / 100 * 4096; }), 0).shape, Shape::kRising);
}

TEST(FitTrend, OneStepHasSettled) {
  Trend t = FitTrend(Series(90, [](int i) { return i < 25 ? 0 : 5000; }), 0);
  EXPECT_EQ(t.shape, Shape::kSettled);
  EXPECT_EQ(t.rises, 1);
  EXPECT_EQ(t.settled_at, 25);
}

TEST(FitTrend, AStepNearTheEndIsUndecided) {
  EXPECT_EQ(FitTrend(Series(90, [](int i) { return i < 80 ? 0 : 5000; }), 0).shape, Shape::kUndecided);
}

TEST(FitTrend, GrowthThatStopsHasSettledAndWhenItStopsLateIsUndecided) {
  Trend t = FitTrend(Series(90, [](int i) { return std::min(i, 30) * 100; }), 0);
  EXPECT_EQ(t.shape, Shape::kSettled);
  EXPECT_EQ(t.settled_at, 30);
  EXPECT_EQ(FitTrend(Series(90, [](int i) { return std::min(i, 55) * 100; }), 0).shape, Shape::kUndecided);
}

TEST(FitTrend, AVectorThatDoublesHasNotSettled) {
  Trend t = FitTrend(Series(900, [](int i) { return static_cast<double>(std::bit_ceil(static_cast<unsigned>(i + 100))); }), 0);
  EXPECT_NE(t.shape, Shape::kSettled);
  EXPECT_NE(t.shape, Shape::kLevel);
}

TEST(FitTrend, GrowthThatBeginsLateIsRising) {
  EXPECT_EQ(FitTrend(Series(90, [](int i) { return std::max(0, i - 60) * 64; }), 0).shape, Shape::kRising);
}

TEST(FitTrend, SwingsWithoutNewHeightsAreSwinging) {
  EXPECT_EQ(FitTrend(Series(90, [](int i) { return i % 3 * 500; }), 0).shape, Shape::kSwinging);
}

TEST(FitTrend, WhatFallsIsNotRising) {
  Shape shape = FitTrend(Series(90, [](int i) { return 10'000 - i; }), 0).shape;
  EXPECT_EQ(shape, Shape::kSwinging);
}

TEST(FitTrend, NoiseWithinTheToleranceIsLevel) {
  std::mt19937 rng(2);
  std::uniform_real_distribution<double> noise(0, 500e3);
  for (int run = 0; run < 30; ++run) {
    EXPECT_EQ(FitTrend(Series(90, [&](int) { return noise(rng); }), 2e6).shape, Shape::kLevel);
  }
}

TEST(FitTrend, AHeapThatFindsItsSizeWithinTheToleranceIsLevel) {
  Trend t = FitTrend(Series(90, [](int i) { return 4096.0 * std::floor(100 * std::log1p(i)); }), 2 << 20);
  EXPECT_EQ(t.shape, Shape::kLevel);
}

TEST(FitTrend, APageACycleIsRisingEvenWithinTheTolerance) {
  EXPECT_EQ(FitTrend(Series(90, [](int i) { return 4096 * i; }), 2 << 20).shape, Shape::kRising);
}

TEST(FitTrend, GrowthBeyondTheToleranceIsRising) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> noise(0, 300e3);
  EXPECT_EQ(FitTrend(Series(90, [&](int i) { return 64e3 * i + noise(rng); }), 2 << 20).shape, Shape::kRising);
  EXPECT_EQ(FitTrend(Series(90, [&](int i) { return 3e6 * i + noise(rng); }), 2 << 20).shape, Shape::kRising);
}

TEST(FitTrend, FewPointsDecideNothing) {
  EXPECT_EQ(FitTrend(Series(4, [](int) { return 5; }), 0).shape, Shape::kUndecided);
  EXPECT_EQ(FitTrend({}, 0).shape, Shape::kUndecided);
}

TEST(FitSweep, TellsNothingConstantAndGrowingApart) {
  std::vector<SweepPoint> none, constant, growing;
  for (int i = 1; i <= 6; ++i) {
    none.push_back({i * 1e6, 0});
    constant.push_back({i * 1e6, 3044});
    growing.push_back({i * 1e6, 200 + 0.5 * i * 1e6});
  }
  EXPECT_EQ(FitSweep(none).kind, SweepResult::Kind::kNothing);
  SweepResult c = FitSweep(constant);
  EXPECT_EQ(c.kind, SweepResult::Kind::kConstant);
  EXPECT_EQ(c.constant, 3044);
  SweepResult g = FitSweep(growing);
  EXPECT_EQ(g.kind, SweepResult::Kind::kGrowsWithSize);
  EXPECT_NEAR(g.per_model_byte.slope, 0.5, 1e-9);
  EXPECT_NEAR(g.constant, 200, 1e-3);
  EXPECT_EQ(FitSweep({growing.begin(), growing.begin() + 3}).kind, SweepResult::Kind::kUndecided);
}

}  // namespace
}  // namespace tare
