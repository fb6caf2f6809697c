#include "math/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>


namespace tare::math {
namespace {

// The largest distance from the true value, in units in the last place, over [low, high].
double WorstUlps(float (*f)(float), double (*truth)(double), float low, float high) {
  double worst = 0;
  constexpr int kSteps = 200000;
  for (int i = 0; i <= kSteps; ++i) {
    float x = low + (high - low) * (static_cast<float>(i) / kSteps);
    double want = truth(x);
    if (std::fabs(want) < std::numeric_limits<float>::min()) continue;
    float rounded = static_cast<float>(want);
    double ulp = std::fabs(static_cast<double>(std::nextafter(rounded, 2 * rounded)) - rounded);
    worst = std::max(worst, std::fabs(f(x) - want) / ulp);
  }
  return worst;
}

TEST(VectorMath, IsWithinAFewUnitsInTheLastPlace) {
  EXPECT_LT(WorstUlps(Exp, std::exp, -87, 88.7f), 2);
  EXPECT_LT(WorstUlps(Expm1, std::expm1, -30, 88), 2);
  EXPECT_LT(WorstUlps(Expm1, std::expm1, -1e-3f, 1e-3f), 2);
  EXPECT_LT(WorstUlps(Log, std::log, 1e-30f, 4), 2);
  EXPECT_LT(WorstUlps(Log, std::log, 4, 1e30f), 2);
  EXPECT_LT(WorstUlps(Log1p, std::log1p, -.9f, 4), 3);
  EXPECT_LT(WorstUlps(Log1p, std::log1p, -1e-3f, 1e-3f), 3);
  EXPECT_LT(WorstUlps(Tanh, std::tanh, -10, 10), 3);
  EXPECT_LT(WorstUlps(Tanh, std::tanh, -1e-3f, 1e-3f), 2);
  EXPECT_LT(WorstUlps(Erf, std::erf, -5, 5), 3);
  EXPECT_LT(WorstUlps(Erf, std::erf, -1e-3f, 1e-3f), 2);
  // TensorFlow's: 64.
  EXPECT_LT(WorstUlps(Erfc, std::erfc, -5, 9.19f), 4);
  EXPECT_LT(WorstUlps(Erfc, std::erfc, -1e-3f, 1e-3f), 4);
  EXPECT_LT(WorstUlps(Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -87, 30), 3);
  EXPECT_LT(WorstUlps(Softplus, [](double x) { return std::log1p(std::exp(x)); }, -20, 30), 3);
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
