// The probe reads every meter of the process at one moment, into one Sample.
//
// Several heaps, each with its own meter, because any one of them lies: a leak from mmap is invisible to
// malloc's counter, a hole in the heap to the ledger, a kept file mapping to both. Reading allocates
// nothing (fixed buffers, raw system calls), so the probe does not measure itself.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/account.h"
#include "status/status.h"

namespace tare {

enum class Meter : uint8_t {
  kLiveBytes,     // asked of malloc and not given back
  kLiveBlocks,
  kAnonymous,     // resident memory with no file behind it, as the OS counts it
  kPrivateDirty,  // what the OS would gain if the process ended
  kModelFiles,    // mappings of files under the models' directories
  kCacheEntries,  // the kernel cache
  kCacheBytes,
  kLedger,        // bytes charged to accounts, all kinds
  kThreads,
  kOpenFiles,
  kLedgerKind,    // the first of kKindCount meters, one a Kind
};
constexpr size_t kMeterCount = static_cast<size_t>(Meter::kLedgerKind) + kKindCount;
constexpr Meter LedgerMeter(Kind kind) {
  return static_cast<Meter>(static_cast<size_t>(Meter::kLedgerKind) + static_cast<size_t>(kind));
}

struct MeterInfo {
  std::string_view key;    // in JSON: "live_bytes", "ledger.weights"
  std::string_view title;  // "live bytes"
  std::string_view unit;   // "B", or what is counted: "blocks"
  int64_t tolerance;       // how far from the base is still flat; 0: exactly equal
  std::string_view about;  // a sentence for the report
};
const MeterInfo& InfoOf(Meter meter);
// All of them, in the order of the enum.
std::span<const MeterInfo> MeterTable();

// One moment. Meters that were not read, or that this build or machine cannot read, hold kNotRead.
struct Sample {
  static constexpr int64_t kNotRead = INT64_MIN;
  int32_t cycle = 0;
  std::array<int64_t, kMeterCount> values;

  Sample() { values.fill(kNotRead); }
  int64_t operator[](Meter m) const { return values[static_cast<size_t>(m)]; }
  int64_t& operator[](Meter m) { return values[static_cast<size_t>(m)]; }
  bool has(Meter m) const { return (*this)[m] != kNotRead; }
};

struct CacheFigures {
  int64_t entries = 0, bytes = 0;
};

// What only the caller can know. Callbacks run inside a reading: they must not allocate. Empty ones leave
// their meters unread.
struct ProbeSources {
  std::vector<std::string> model_roots;  // directories (or files) whose mappings count as model files
  // Adds each account's bytes to the sum by kind.
  std::function<void(std::span<int64_t, kKindCount>)> ledger;
  std::function<CacheFigures()> kernel_cache;
};

class Probe {
 public:
  explicit Probe(ProbeSources sources);

  // Reads every meter; without `pages`, not the two the OS has to walk page tables for (kAnonymous and
  // kPrivateDirty; some 100 us in a small process, milliseconds in a large one).
  Sample Read(int cycle, bool pages = true) const;

  // Figures of the OS are of no use where a sanitizer holds freed memory back: not read there.
  static bool PagesMeaningful();

 private:
  ProbeSources sources_;  // model_roots resolved to real paths
};

}  // namespace tare
