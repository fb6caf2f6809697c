// Every backend against plain loops, over sizes that leave ragged edges and weights at odd addresses.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "math/backend.h"
#include "math/conv.h"
#include "math/generic_gemm.h"

namespace tare::math {
namespace {

std::vector<Isa> Isas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= DetectIsa()) isas.push_back(isa);
  }
  return isas;
}

// Floats that begin `offset` bytes after a 64-byte boundary: weights in a file lie anywhere. Filled with
// small values and followed by NaN, which shows any read that counts beyond the end.
class Floats {
 public:
  Floats(int64_t n, unsigned seed, int64_t offset = 4) : bytes_(static_cast<size_t>(n) * 4 + 256) {
    auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    data_ = reinterpret_cast<float*>(((address + 63) & ~uintptr_t{63}) + offset);
    std::mt19937 random(seed);
    for (int64_t i = 0; i < n; ++i) data_[i] = static_cast<float>(random() % 2001) / 1000 - 1;
    for (int64_t i = n; i < n + 16; ++i) data_[i] = NAN;
  }
  float* data() { return data_; }
  float& operator[](int64_t i) { return data_[i]; }

 private:
  std::vector<char> bytes_;
  float* data_;
};

struct Case {
  int64_t m, n, k;
  bool a_transposed = false, b_transposed = false, bias = false, add = false, clamp = false;
  bool scale = false;
};

void CheckGemm(const Case& c, Isa isa, ThreadPool& pool) {
  SCOPED_TRACE(testing::Message() << IsaName(isa) << " m " << c.m << " n " << c.n << " k " << c.k << " ta "
                                  << c.a_transposed << " tb " << c.b_transposed << " epilogue " << c.bias);
  Floats a(c.m * c.k, 1), b(c.k * c.n, 2, 12), out(c.m * c.n, 3), bias(c.n, 4), add(c.m * c.n, 5), scale(c.n, 6);
  GemmProblem p{c.m, c.n, c.k};
  p.a = {a.data(), c.a_transposed ? c.m : c.k, c.a_transposed};
  p.b = {b.data(), c.b_transposed ? c.k : c.n, c.b_transposed};
  p.c = out.data();
  p.c_stride = c.n;
  if (c.scale) p.epilogue.scale = scale.data();
  if (c.bias) p.epilogue.bias = bias.data();
  if (c.add) p.epilogue.add = add.data(), p.epilogue.add_stride = c.n;
  if (c.clamp) p.epilogue.lowest = 0, p.epilogue.highest = 6;
  Gemm gemm(p, pool.threads(), isa);
  std::vector<float> scratch(static_cast<size_t>(gemm.scratch()), NAN);
  gemm.Run(pool, scratch.data());
  int wrong = 0;
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t x = 0; x < c.k; ++x) {
        sum += static_cast<double>(c.a_transposed ? a[x * c.m + i] : a[i * c.k + x]) *
               (c.b_transposed ? b[j * c.k + x] : b[x * c.n + j]);
      }
      if (c.scale) sum *= scale[j];
      if (c.bias) sum += bias[j];
      if (c.add) sum += add[i * c.n + j];
      if (c.clamp) sum = std::min(6.0, std::max(0.0, sum));
      const double error = std::abs(out[i * c.n + j] - sum);
      wrong += !(error <= 1e-5 * std::sqrt(static_cast<double>(c.k) + 1) + 1e-6);
    }
  }
  EXPECT_EQ(wrong, 0);
  for (int64_t i = 0; i < 16; ++i) EXPECT_TRUE(std::isnan(out[c.m * c.n + i])) << "written beyond the end";
}

TEST(Gemm, AgreesWithPlainLoops) {
  ThreadPool pool(2);
  const Case cases[] = {
      {1, 1, 1},         {1, 1, 0},         {3, 5, 0, false, false, true},
      {1, 7, 3},         {1, 300, 70, false, false, true, false, true},
      {2, 33, 9},        {5, 1, 31},        {200, 1, 77, false, false, true},
      {14, 32, 64},      {15, 31, 65, false, false, true, true, true},
      {49, 100, 130},    {49, 1024, 600},   {128, 64, 128, false, true},
      {29, 47, 530, false, false, true, true, true},
      {97, 1024, 40},    {230, 65, 17},     {13, 130, 515, true, false},
      {40, 70, 33, true, true, true},       {3, 50, 400, false, true, true, true, true},
      {1, 1000, 1280, false, false, true},  {1, 130, 1000, false, true},
      {460, 96, 40, true, false},           {500, 20, 1100},
      {700, 120, 150, false, false, true},  {700, 90, 120, true, false, true},  // more parts than threads
      {40, 1500, 100, false, false, true},  {40, 1500, 80, true, true},
      {15, 31, 65, false, false, true, true, true, true},  // scaled
      {29, 47, 1100, false, false, true, true, true, true},
      {1, 300, 70, false, false, true, true, true, true},
      {3, 50, 400, false, true, true, true, true, true},
  };
  for (Isa isa : Isas()) {
    for (const Case& c : cases) CheckGemm(c, isa, pool);
  }
}

TEST(Gemm, AddsToItsOwnOutput) {
  ThreadPool pool(1);
  for (Isa isa : Isas()) {
    const int64_t m = 20, n = 40, k = 1200;
    Floats a(m * k, 1), b(k * n, 2), c(m * n, 3), before(m * n, 3);
    GemmProblem p{m, n, k};
    p.a = {a.data(), k};
    p.b = {b.data(), n};
    p.c = c.data();
    p.c_stride = n;
    p.epilogue.add = c.data();
    p.epilogue.add_stride = n;
    Gemm(p, 1, isa).Run(pool, nullptr);
    for (int64_t i = 0; i < m * n; ++i) {
      double sum = before[i];
      for (int64_t x = 0; x < k; ++x) sum += static_cast<double>(a[i / n * k + x]) * b[x * n + i % n];
      ASSERT_NEAR(c[i], sum, 1e-3);
    }
  }
}

double Activated(Activation f, double x) {
  const double pi = std::acos(-1.0);
  switch (f) {
    case Activation::kNone: return x;
    case Activation::kSigmoid: return 1 / (1 + std::exp(-x));
    case Activation::kTanh: return std::tanh(x);
    case Activation::kSwish: return x / (1 + std::exp(-x));
    case Activation::kHardSwish: return x * std::clamp(x + 3, 0.0, 6.0) / 6;
    case Activation::kGelu: return x * std::erfc(-x / std::sqrt(2.0)) / 2;
    case Activation::kGeluTanh: return x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x))) / 2;
  }
  return x;
}

TEST(Gemm, ActivatesWhatItStores) {
  ThreadPool pool(1);
  // One row (a vector) and several (tiles); A is 1, so that C is B and x is known exactly.
  for (Isa isa : Isas()) {
    for (int64_t m : {1, 17}) {
      for (int f = 1; f <= static_cast<int>(Activation::kGeluTanh); ++f) {
        const auto activation = static_cast<Activation>(f);
        const int64_t n = 401;
        Floats a(m, 1), b(n, 2), c(m * n, 3);
        for (int64_t i = 0; i < m; ++i) a[i] = 1;
        for (int64_t j = 0; j < n; ++j) b[j] = static_cast<float>(j - 200) / 20;
        b[0] = -200, b[1] = 200, b[2] = 0;
        GemmProblem p{m, n, 1};
        p.a = {a.data(), 1};
        p.b = {b.data(), n};
        p.c = c.data();
        p.c_stride = n;
        p.epilogue.activation = activation;
        Gemm(p, 1, isa).Run(pool, nullptr);
        for (int64_t i = 0; i < m * n; ++i) {
          const double want = Activated(activation, b[i % n]);
          ASSERT_NEAR(c[i], want, 1e-6 + 1e-6 * std::abs(want)) << IsaName(isa) << " " << f << " at " << b[i % n];
        }
      }
    }
  }
}

double ConvElement(const ConvGeometry& g, Floats& in, Floats& w, int64_t image, const int64_t* o, int64_t channel) {
  const int64_t group = channel / g.group_out();
  double sum = 0;
  for (int64_t tap = 0; tap < g.taps(); ++tap) {
    const int64_t k[3] = {tap / g.kernel[2] / g.kernel[1], tap / g.kernel[2] % g.kernel[1], tap % g.kernel[2]};
    int64_t pixel = image;
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      const int64_t i = o[d] * g.stride[d] - g.pad[d] + k[d] * g.dilation[d];
      inside = inside && i >= 0 && i < g.in[d];
      pixel = pixel * g.in[d] + i;
    }
    if (!inside) continue;
    for (int64_t c = 0; c < g.group_in(); ++c) {
      sum += static_cast<double>(in[pixel * g.in_channels + group * g.group_in() + c]) *
             w[(tap * g.group_in() + c) * g.out_channels + channel];
    }
  }
  return sum;
}

TEST(Conv, AgreesWithPlainLoops) {
  ThreadPool pool(2);
  const ConvGeometry cases[] = {
      {2, 3, 5, 1, {1, 7, 9}, {1, 7, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 4, 33, 1, {1, 8, 6}, {1, 4, 3}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}},
      {1, 8, 6, 2, {1, 5, 5}, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 2, 4, 1, {1, 9, 9}, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {1, 2, 3}, {0, 2, 3}},
      {2, 16, 20, 1, {1, 6, 6}, {1, 6, 6}, {1, 1, 1}},
      {2, 3, 7, 1, {4, 5, 6}, {2, 3, 3}, {3, 2, 2}, {2, 2, 2}, {1, 1, 1}, {1, 1, 0}},
      {1, 3, 64, 1, {1, 30, 30}, {1, 15, 15}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}},
      {1, 70, 9, 1, {1, 4, 3}, {1, 4, 3}, {1, 3, 5}, {1, 1, 1}, {1, 1, 1}, {0, 1, 2}},
      {1, 1, 1, 1, {1, 1, 2}, {1, 3, 6}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 1, 2}},
  };
  for (Isa isa : Isas()) {
    for (const ConvGeometry& g : cases) {
      Floats in(g.batch * g.in_pixels() * g.in_channels, 1);
      Floats w(g.taps() * g.group_in() * g.out_channels, 2, 20), out(g.batch * g.out_pixels() * g.out_channels, 3);
      for (int64_t group = 0; group < g.groups; ++group) {
        ConvRows rows(g, in.data(), group);
        Gemm gemm(ConvProblem(g, group, in.data(), w.data(), out.data(), rows), pool.threads(), isa);
        std::vector<float> scratch(static_cast<size_t>(gemm.scratch()), NAN);
        gemm.Run(pool, scratch.data());
      }
      for (int64_t i = 0; i < g.batch * g.out_pixels() * g.out_channels; ++i) {
        int64_t pixel = i / g.out_channels;
        const int64_t o[3] = {pixel / g.out[2] / g.out[1] % g.out[0], pixel / g.out[2] % g.out[1], pixel % g.out[2]};
        ASSERT_NEAR(out[i], ConvElement(g, in, w, pixel / g.out_pixels(), o, i % g.out_channels), 1e-4)
            << IsaName(isa) << " case " << &g - cases << " element " << i;
      }
    }
  }
}

TEST(Depthwise, AgreesWithPlainLoops) {
  const DepthwiseProblem shapes[] = {
      {2, 7, 9, 19, 7, 9, 3, 3, 1, 1, 1, 1, 1, 1},   {1, 14, 30, 33, 7, 15, 3, 3, 2, 2, 1, 1, 0, 0},
      {1, 9, 20, 5, 9, 20, 5, 5, 1, 1, 1, 1, 2, 2},  {1, 9, 31, 16, 5, 16, 5, 5, 2, 2, 1, 1, 2, 2},
      {1, 8, 8, 3, 8, 8, 3, 3, 1, 1, 2, 2, 2, 2},    {2, 1, 1, 40, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1},
      {1, 6, 7, 9, 3, 5, 4, 2, 1, 1, 1, 1, 0, 0},    {1, 2, 2, 4, 6, 6, 3, 3, 1, 1, 1, 1, 3, 3},
      {1, 5, 4, 8, 2, 1, 2, 7, 2, 3, 1, 1, 0, 2},    {1, 5, 21, 150, 5, 21, 3, 3, 1, 1, 2, 1, 2, 1},
      {1, 40, 29, 131, 20, 15, 5, 5, 2, 2, 1, 1, 2, 2},
  };
  for (Isa isa : Isas()) {
    for (DepthwiseProblem p : shapes) {
      Floats in(p.batch * p.in_h * p.in_w * p.channels, 1), space(p.kernel_h * p.kernel_w * p.channels + 1, 2, 8);
      const float* w = space.data() + 1;
      Floats out(p.batch * p.out_h * p.out_w * p.channels, 3), bias(p.channels, 4);
      p.input = in.data(), p.weights = w, p.output = out.data(), p.epilogue.bias = bias.data();
      BackendFor(isa).depthwise(p, {0, p.batch * p.out_h});
      for (int64_t i = 0; i < p.batch * p.out_h * p.out_w * p.channels; ++i) {
        const int64_t c = i % p.channels, x = i / p.channels % p.out_w, y = i / p.channels / p.out_w % p.out_h;
        const int64_t image = i / p.channels / p.out_w / p.out_h;
        double sum = bias[c];
        for (int64_t tap = 0; tap < p.kernel_h * p.kernel_w; ++tap) {
          const int64_t iy = y * p.stride_h - p.pad_top + tap / p.kernel_w * p.dilation_h;
          const int64_t ix = x * p.stride_w - p.pad_left + tap % p.kernel_w * p.dilation_w;
          if (iy < 0 || iy >= p.in_h || ix < 0 || ix >= p.in_w) continue;
          sum += static_cast<double>(in[((image * p.in_h + iy) * p.in_w + ix) * p.channels + c]) * w[tap * p.channels + c];
        }
        ASSERT_NEAR(out[i], sum, 1e-5) << IsaName(isa) << " case " << image << " element " << i;
      }
    }
  }
}

TEST(Rows, MaximumPassesOverNanAndSumScales) {
  for (Isa isa : Isas()) {
    const Backend& backend = BackendFor(isa);
    for (int64_t n : {1, 3, 4, 15, 16, 17, 70}) {
      Floats a(n, 1), b(n, 2), c(n, 3), to(n, 4);
      b[n / 2] = NAN;
      const float* rows[] = {a.data(), b.data(), c.data()};
      backend.max_rows(to.data(), rows, 3, n, -9);
      for (int64_t i = 0; i < n; ++i) {
        EXPECT_EQ(to[i], std::max({a[i], i == n / 2 ? -9 : b[i], c[i]}));
      }
      backend.sum_rows(to.data(), rows, 3, n, 0.5f);
      if (n > 1) {
        EXPECT_EQ(to[0], (a[0] + b[0] + c[0]) * 0.5f);
      }
    }
  }
}

TEST(GenericGemm, IntegersWrap) {
  const int32_t a[] = {65536, 1 << 30}, b[] = {65536, 2};
  int32_t c[1];
  GenericGemmRows<int32_t>(0, 1, 1, 2, {a, 2, 1}, {b, 1, 1}, c, 1);
  EXPECT_EQ(c[0], INT32_MIN);
}

}  // namespace
}  // namespace tare::math
