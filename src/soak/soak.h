// A soak: load, run and unload again and again in one process, metering every cycle.
//
//   RunSoak(options, targets) -> SoakResult -> ToJson / ToHtml (report.h)
//
// A target is one model, or one load that must fail: its `cycle` loads, runs, unloads and checks. With
// several, a cycle is one round of all, in turn. The soak keeps nothing of theirs and allocates nothing
// between its readings. One thread.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "soak/probe.h"
#include "soak/verdict.h"
#include "status/status.h"

namespace tare {

struct SoakTarget {
  std::string name;
  // One load-run-unload. An error ends the soak: a target that expects one returns OK when it came.
  std::function<Status(int cycle)> cycle;
};

struct SoakOptions {
  int cycles = 100;
  ProbeSources sources;
  // Entries of the kernel cache by op, so that the verdict can name the op that grows. Called twice.
  std::function<std::vector<Share>()> cache_ops;
  // Called after each cycle; what it allocates and keeps is metered.
  std::function<void(const Sample&)> progress;
  // What the report says of the run: {"kernel cache", "lru"}, {"threads", "2"}.
  std::vector<std::pair<std::string, std::string>> context;
};

struct SoakResult {
  std::vector<std::string> targets;
  std::vector<std::pair<std::string, std::string>> context;
  std::string allocation_meter;      // who counted the live bytes
  double seconds = 0;
  std::vector<Sample> samples;       // one a cycle
  std::vector<Share> target_shares;  // live bytes each target left per cycle, after warm-up
  std::vector<Share> cache_ops;      // entries each op added per cycle, after warm-up
  Verdict verdict;
};

// InvalidArgument without targets or cycles; the error of a target, named with its cycle.
Result<SoakResult> RunSoak(const SoakOptions& options, const std::vector<SoakTarget>& targets);

}  // namespace tare
