// One model loaded, run once and unloaded, N times: medians in milliseconds and what a cycle left, as JSON.
//   tare_cycle MODEL N [THREADS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cli/golden.h"
#include "saved_model/model.h"
#include "soak/allocation_counter.h"
#include "soak/probe.h"

namespace tare {
namespace {

double Now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double Median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

int Main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "tare_cycle MODEL N [THREADS]\n"), 2;
  const int n = std::max(2, std::atoi(argv[2]));
  EagerContext context({.threads = argc > 3 ? std::atoi(argv[3]) : 1});
  const Probe probe{ProbeSources{}};
  std::vector<double> load, first, unload, steady;
  for (auto* v : {&load, &first, &unload, &steady}) v->reserve(static_cast<size_t>(n) + 50);
  int64_t live = 0, pages = 0;
  for (int i = 0; i < n; ++i) {
    if (i == n / 2) live = CountHeap().bytes, pages = probe.Read(i)[Meter::kPrivateDirty];
    double t0 = Now();
    auto model = Model::Load(context, argv[1]);
    double t1 = Now();
    if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().ToString().c_str()), 3;
    const Signature& s = *(*model)->FindSignature("serving_default");
    auto inputs = MakeInputs(context.account(), s);
    double t2 = Now();
    auto out = (*model)->Run(s, *inputs);
    double t3 = Now();
    if (!out.ok()) return std::fprintf(stderr, "%s\n", out.status().ToString().c_str()), 3;
    if (i == n - 1) {
      for (int k = 0; k < 50; ++k) {
        double a = Now();
        out = (*model)->Run(s, *inputs);
        steady.push_back(Now() - a);
      }
    }
    *out = {};
    inputs = NamedTensors{};
    double t4 = Now();
    model = NotFound("gone");
    unload.push_back(Now() - t4);
    load.push_back(t1 - t0);
    first.push_back(t3 - t2);
  }
  const double half = n - n / 2;
  std::printf("{\"load\": %.3f, \"first\": %.3f, \"unload\": %.3f, \"steady\": %.4f, \"live_per_cycle\": %.1f, "
              "\"pages_per_cycle\": %.1f}\n",
              Median(load), Median(first), Median(unload), Median(steady),
              static_cast<double>(CountHeap().bytes - live) / half,
              static_cast<double>(probe.Read(n)[Meter::kPrivateDirty] - pages) / half);
  return 0;
}

}  // namespace
}  // namespace tare

int main(int argc, char** argv) { return tare::Main(argc, argv); }
