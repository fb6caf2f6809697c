// The verdict: flat, growing or inconclusive, for each meter and for all, and the heap that is to blame.
//
// Rules: heaps we count ourselves (live bytes and blocks, ledger, kernel cache, mappings, threads, files)
// are flat when they end exactly where warm-up left them; pages of the OS within 2 MiB of that. A step that
// happened once and stayed is not a leak per cycle and counts as flat, but is told. Pure functions.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "soak/probe.h"
#include "soak/trend.h"

namespace tare {

enum class Judgement { kFlat, kGrowing, kInconclusive, kUnread };
std::string_view JudgementName(Judgement j);  // "flat", "growing", "inconclusive", "unread"

struct MeterVerdict {
  Meter meter = Meter::kLiveBytes;
  Judgement judgement = Judgement::kUnread;
  Trend trend;           // after warm-up; x in cycles
  double base = 0;       // as warm-up left it
  double change = 0;     // from the base to the last reading
  std::string note;      // "level since cycle 40, after one step of +5,000 B"
  // "+3,044 B/cycle (95 %: +3,040 to +3,050)"
  std::string rate() const;
};

// The part of a heap that grew most: an op of the kernel cache, or a target of the soak.
struct Share {
  std::string name;
  double per_cycle = 0;
};

struct Verdict {
  Judgement judgement = Judgement::kUnread;  // over all meters
  std::string summary;                       // one line, the heap named
  int warm_up = 0;                           // cycles set apart
  std::vector<MeterVerdict> meters;          // those that were read, in the meters' order
  const MeterVerdict* Find(Meter meter) const;
  // 0 flat, 1 growing, 2 inconclusive. (3 is an error of the soak itself.)
  int exit_status() const;
};

// `cache_ops` and `targets` name who grew within the kernel cache and the live bytes; both may be empty.
Verdict Judge(std::span<const Sample> samples, std::span<const Share> cache_ops,
              std::span<const Share> targets);

// "+3,044 B", "+12.5 entries", "-2.0 MiB".
std::string FormatAmount(double amount, std::string_view unit, bool sign);

}  // namespace tare
