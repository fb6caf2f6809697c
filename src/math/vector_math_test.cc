#include "math/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "math/isa.h"

namespace tare::math {
namespace {

using Unary = float (*)(float);

// A loop over one function as the kernels have it, for each instruction set: fused multiply-adds round differently.
template <Unary f>
void Loop(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = f(x[i]);
}
template <Unary f>
[[gnu::target("avx2,fma"), gnu::flatten]] void LoopAvx2(const float* x, float* y, int n) {
  Loop<f>(x, y, n);
}
template <Unary f>
[[gnu::target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512"), gnu::flatten]] void LoopAvx512(
    const float* x, float* y, int n) {
  Loop<f>(x, y, n);
}

// The largest distance from the true value, in units in the last place, over [low, high] and all instruction sets.
template <Unary f>
double WorstUlps(double (*truth)(double), float low, float high) {
  constexpr int kSteps = 100000;
  std::vector<float> x(kSteps + 1), y(kSteps + 1);
  for (int i = 0; i <= kSteps; ++i) x[i] = low + (high - low) * (static_cast<float>(i) / kSteps);
  double worst = 0;
  void (*const loops[])(const float*, float*, int) = {Loop<f>, LoopAvx2<f>, LoopAvx512<f>};
  for (int isa = 0; isa <= static_cast<int>(DetectIsa()); ++isa) {
    loops[isa](x.data(), y.data(), kSteps + 1);
    for (int i = 0; i <= kSteps; ++i) {
      const double want = truth(x[i]);
      if (std::fabs(want) < std::numeric_limits<float>::min()) continue;
      const float rounded = static_cast<float>(want);
      const double ulp = std::fabs(static_cast<double>(std::nextafter(rounded, 2 * rounded)) - rounded);
      worst = std::max(worst, std::fabs(y[i] - want) / ulp);
    }
  }
  return worst;
}

TEST(VectorMath, IsWithinAFewUnitsInTheLastPlace) {
  EXPECT_LT(WorstUlps<Exp>(std::exp, -87, 88.7f), 2);
  EXPECT_LT(WorstUlps<Expm1>(std::expm1, -30, 88), 2);
  EXPECT_LT(WorstUlps<Expm1>(std::expm1, -1e-3f, 1e-3f), 2);
  EXPECT_LT(WorstUlps<Log>(std::log, 1e-30f, 4), 2);
  EXPECT_LT(WorstUlps<Log>(std::log, 4, 1e30f), 2);
  EXPECT_LT(WorstUlps<Log1p>(std::log1p, -.9f, 4), 3);
  EXPECT_LT(WorstUlps<Log1p>(std::log1p, -1e-3f, 1e-3f), 3);
  EXPECT_LT(WorstUlps<Tanh>(std::tanh, -10, 10), 3);
  EXPECT_LT(WorstUlps<Tanh>(std::tanh, -1e-3f, 1e-3f), 2);
  EXPECT_LT(WorstUlps<Erf>(std::erf, -5, 5), 3);
  EXPECT_LT(WorstUlps<Erf>(std::erf, -1e-3f, 1e-3f), 2);
  // TensorFlow's: 64.
  EXPECT_LT(WorstUlps<Erfc>(std::erfc, -5, 9.19f), 4);
  EXPECT_LT(WorstUlps<Erfc>(std::erfc, -1e-3f, 1e-3f), 2);
  EXPECT_LT(WorstUlps<Sigmoid>([](double x) { return 1 / (1 + std::exp(-x)); }, -87, 30), 3);
  EXPECT_LT(WorstUlps<Softplus>([](double x) { return std::log1p(std::exp(x)); }, -20, 30), 3);
}

TEST(VectorMath, KnowsTheEdges) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Exp(inf), inf);
  EXPECT_EQ(Exp(-inf), 0);
  EXPECT_EQ(Exp(89.f), inf);
  EXPECT_EQ(Exp(-90.f), 0);
  EXPECT_EQ(Exp(0.f), 1);
  EXPECT_EQ(Expm1(-inf), -1);
  EXPECT_EQ(Expm1(inf), inf);
  EXPECT_EQ(Log(0.f), -inf);
  EXPECT_EQ(Log(1.f), 0);
  EXPECT_EQ(Log(inf), inf);
  EXPECT_TRUE(std::isnan(Log(-1.f)));
  EXPECT_EQ(Log1p(-1.f), -inf);
  EXPECT_EQ(Tanh(inf), 1);
  EXPECT_EQ(Tanh(-inf), -1);
  EXPECT_TRUE(std::signbit(Tanh(-0.f)));
  EXPECT_EQ(Sigmoid(-inf), 0);
  EXPECT_EQ(Erf(inf), 1);
  EXPECT_EQ(Erfc(inf), 0);
  EXPECT_EQ(Erfc(-inf), 2);
  EXPECT_EQ(Erfc(-0.f), 1);
  EXPECT_EQ(Erfc(9.3f), 0);
  EXPECT_EQ(Softplus(inf), inf);
  EXPECT_EQ(Softplus(-inf), 0);
  for (auto f : {static_cast<float (*)(float)>(Exp), static_cast<float (*)(float)>(Expm1),
                 static_cast<float (*)(float)>(Log), static_cast<float (*)(float)>(Log1p),
                 static_cast<float (*)(float)>(Tanh), static_cast<float (*)(float)>(Sigmoid),
                 static_cast<float (*)(float)>(Erf), static_cast<float (*)(float)>(Erfc), static_cast<float (*)(float)>(Softplus)}) {
    EXPECT_TRUE(std::isnan(f(nan)));
  }
}

}  // namespace
}  // namespace tare::math
