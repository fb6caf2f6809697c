#include "soak/soak.h"

#include <algorithm>
#include <chrono>

#include "soak/allocation_counter.h"

namespace tare {
namespace {

// Page tables are walked about this often in a soak, so that metering stays cheap beside the cycles.
constexpr int kPageReadings = 400;

std::vector<Share> GrowthPerCycle(const std::vector<Share>& before, const std::vector<Share>& after,
                                  int cycles) {
  std::vector<Share> growth;
  for (const Share& a : after) {
    auto b = std::ranges::find(before, a.name, &Share::name);
    double rise = a.per_cycle - (b == before.end() ? 0 : b->per_cycle);
    if (rise != 0) growth.push_back({a.name, rise / cycles});
  }
  std::ranges::sort(growth, std::greater{}, &Share::per_cycle);
  return growth;
}

}  // namespace

Result<SoakResult> RunSoak(const SoakOptions& options, const std::vector<SoakTarget>& targets) {
  if (targets.empty()) return InvalidArgument("a soak needs a target");
  if (options.cycles < 1) return InvalidArgument("a soak needs a cycle, not {}", options.cycles);
  SoakResult result;
  for (const SoakTarget& t : targets) result.targets.push_back(t.name);
  result.context = options.context;
  result.allocation_meter = AllocationMeterName(allocation_meter());
  // Everything the soak itself needs is there before the first reading.
  result.samples.resize(static_cast<size_t>(options.cycles));
  std::vector<int64_t> left(targets.size(), 0);
  std::vector<Share> ops_before;
  const int warm_up = WarmUpCycles(options.cycles, {});
  const int pages_every = std::max(1, options.cycles / kPageReadings);
  Probe probe(options.sources);
  auto started = std::chrono::steady_clock::now();
  for (int cycle = 0; cycle < options.cycles; ++cycle) {
    for (size_t i = 0; i < targets.size(); ++i) {
      int64_t before = CountHeap().bytes;
      if (Status s = targets[i].cycle(cycle); !s.ok()) {
        return std::move(s).At(fmt::format("{}, cycle {}", targets[i].name, cycle));
      }
      if (cycle >= warm_up) left[i] += CountHeap().bytes - before;
    }
    // Before the last reading of warm-up, so that what it keeps is part of the base.
    if (cycle == warm_up - 1 && options.cache_ops) ops_before = options.cache_ops();
    bool pages = cycle % pages_every == 0 || cycle == options.cycles - 1;
    Sample& sample = result.samples[static_cast<size_t>(cycle)];
    sample = probe.Read(cycle, pages);
    if (options.progress) options.progress(sample);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const int measured = std::max(1, options.cycles - warm_up);
  for (size_t i = 0; i < targets.size(); ++i) {
    result.target_shares.push_back({targets[i].name, static_cast<double>(left[i]) / measured});
  }
  if (options.cache_ops) result.cache_ops = GrowthPerCycle(ops_before, options.cache_ops(), measured);
  result.verdict = Judge(result.samples, result.cache_ops, result.target_shares);
  return result;
}

}  // namespace tare
