// GFLOP/s of the heavy kernels on layers of ResNet50, MobileNetV2 and BERT, per instruction set:
//   gemm_bench [threads] [part of a layer's name]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "math/backend.h"
#include "math/conv.h"
#include "math/peak.h"

namespace tare::math {
namespace {

// The best of several runs, in seconds.
template <class F>
double Time(F&& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9, total = 0;
  for (int i = 0; i < 4 || (total < 0.05 && i < 200); ++i) {
    const auto start = Clock::now();
    f();
    const double t = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, t);
    total += t;
  }
  return best;
}

// Aligned as tensors are; weights are then read one float further on, as they lie in files.
class Floats {
 public:
  explicit Floats(int64_t n)
      : data_(static_cast<float*>(std::aligned_alloc(64, (static_cast<size_t>(n) * sizeof(float) / 64 + 1) * 64))) {
    for (int64_t i = 0; i < n; ++i) data_[i] = static_cast<float>(i % 17) / 16 - 0.5f;
  }
  ~Floats() { std::free(data_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* data() const { return data_; }

 private:
  float* data_;
};

// GFLOP/s and the share of the peak, which is measured again here: the clock moves with what neighbours do.
void Print(std::string_view name, double flops, const double* seconds, int threads) {
  std::printf("%-34s", std::string(name).c_str());
  for (int i = 0; i <= static_cast<int>(DetectIsa()); ++i) {
    const double rate = flops / seconds[i];
    std::printf(" %7.1f %3.0f%%", rate / 1e9, 100 * rate / PeakFlops(static_cast<Isa>(i)) / threads);
  }
  std::printf("  %8.3f ms\n", seconds[static_cast<int>(DetectIsa())] * 1e3);
}

void BenchGemm(std::string_view name, int64_t m, int64_t n, int64_t k, bool turned, ThreadPool& pool) {
  const Floats a(m * k), b(k * n + 1), c(m * n);
  double seconds[3] = {};
  for (Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > DetectIsa()) continue;
    GemmProblem p{m, n, k};
    p.a = {a.data(), k};
    p.b = {b.data() + 1, turned ? k : n, turned};
    p.c = c.data();
    p.c_stride = n;
    const Gemm gemm(p, pool.threads(), isa);
    const Floats scratch(gemm.scratch());
    seconds[static_cast<int>(isa)] = Time([&] { gemm.Run(pool, scratch.data()); });
  }
  Print(name, 2.0 * static_cast<double>(m * n * k), seconds, pool.threads());
}

void BenchConv(std::string_view name, int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride, ThreadPool& pool) {
  ConvGeometry g;
  g.in_channels = in;
  g.out_channels = out;
  g.in = {1, size, size};
  g.out = {1, size / stride, size / stride};
  g.kernel = {1, kernel, kernel};
  g.stride = {1, stride, stride};
  g.pad = {0, kernel / 2, kernel / 2};
  const Floats x(g.in_pixels() * in), w(g.taps() * in * out + 1), y(g.out_pixels() * out);
  double seconds[3] = {};
  for (Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > DetectIsa()) continue;
    const ConvRows rows(g, x.data());
    const Gemm gemm(ConvProblem(g, 0, x.data(), w.data() + 1, y.data(), rows), pool.threads(), isa);
    const Floats scratch(gemm.scratch());
    seconds[static_cast<int>(isa)] = Time([&] { gemm.Run(pool, scratch.data()); });
  }
  Print(name, 2.0 * static_cast<double>(g.out_pixels() * out * g.taps() * in), seconds, pool.threads());
}

void BenchDepthwise(std::string_view name, int64_t size, int64_t channels, int64_t kernel, int64_t stride, ThreadPool& pool) {
  const int64_t out = size / stride;
  const Floats x(size * size * channels), w(kernel * kernel * channels + 1), y(out * out * channels);
  DepthwiseProblem p{1, size, size, channels, out, out, kernel, kernel, stride, stride, 1, 1, kernel / 2, kernel / 2,
                     x.data(), w.data() + 1, y.data(), {}};
  double seconds[3] = {};
  for (Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > DetectIsa()) continue;
    seconds[static_cast<int>(isa)] = Time([&] {
      pool.ParallelFor(out, out * channels * kernel * kernel / 10 + 1,
                       [&](int64_t begin, int64_t end) { BackendFor(isa).depthwise(p, {begin, end}); });
    });
  }
  Print(name, 2.0 * static_cast<double>(out * out * channels * kernel * kernel), seconds, pool.threads());
}

void Main(int threads, std::string_view part) {
  ThreadPool pool(threads);
  FlushDenormals flush;
  std::printf("%d threads, GFLOP/s              portable         avx2       avx512\n", threads);
  std::printf("peak of one thread               ");
  for (int i = 0; i <= static_cast<int>(DetectIsa()); ++i) std::printf(" %7.1f     ", PeakFlops(static_cast<Isa>(i)) / 1e9);
  std::printf("\n");
  auto run = [&](auto bench, std::string_view name, auto... sizes) {
    if (name.find(part) != name.npos) bench(name, sizes..., pool);
  };
  run(BenchConv, "resnet stem 7x7/2 3->64 @224", 224, 3, 64, 7, 2);
  run(BenchConv, "resnet 1x1 64->256 @56", 56, 64, 256, 1, 1);
  run(BenchConv, "resnet 3x3 64->64 @56", 56, 64, 64, 3, 1);
  run(BenchConv, "resnet 3x3 128->128 @28", 28, 128, 128, 3, 1);
  run(BenchConv, "resnet 1x1 512->128 @28", 28, 512, 128, 1, 1);
  run(BenchConv, "resnet 3x3 256->256 @14", 14, 256, 256, 3, 1);
  run(BenchConv, "resnet 1x1 1024->256 @14", 14, 1024, 256, 1, 1);
  run(BenchConv, "resnet 3x3 512->512 @7", 7, 512, 512, 3, 1);
  run(BenchConv, "resnet 1x1 512->2048 @7", 7, 512, 2048, 1, 1);
  run(BenchConv, "mobilenet stem 3x3/2 3->32 @224", 224, 3, 32, 3, 2);
  run(BenchConv, "mobilenet 1x1 32->16 @112", 112, 32, 16, 1, 1);
  run(BenchConv, "mobilenet 1x1 16->96 @112", 112, 16, 96, 1, 1);
  run(BenchConv, "mobilenet 1x1 144->24 @56", 56, 144, 24, 1, 1);
  run(BenchConv, "mobilenet 1x1 96->576 @14", 14, 96, 576, 1, 1);
  run(BenchDepthwise, "mobilenet dw 3x3 96 @112/2", 112, 96, 3, 2);
  run(BenchDepthwise, "mobilenet dw 3x3 144 @56", 56, 144, 3, 1);
  run(BenchDepthwise, "mobilenet dw 3x3 576 @14", 14, 576, 3, 1);
  run(BenchDepthwise, "efficientnet dw 5x5 240 @28", 28, 240, 5, 1);
  run(BenchGemm, "bert 128x768x768", 128, 768, 768, false);
  run(BenchGemm, "bert 128x3072x768", 128, 3072, 768, false);
  run(BenchGemm, "bert 128x768x3072", 128, 768, 3072, false);
  run(BenchGemm, "attention 128x128x64 transposed", 128, 128, 64, true);
  run(BenchGemm, "dense 1x1000x2048", 1, 1000, 2048, false);
  run(BenchGemm, "dense 1x1000x2048 transposed", 1, 1000, 2048, true);
}

}  // namespace
}  // namespace tare::math

int main(int argc, char** argv) {
  tare::math::Main(argc > 1 ? std::atoi(argv[1]) : 1, argc > 2 ? argv[2] : "");
}
