// The report of a soak: JSON to keep and compare, one HTML page to look at.
//
// JSON (version 1; numbers are bytes or counts, null = not read):
//   {"tare_soak": 1,
//    "targets": ["toy", ...], "context": [["kernel cache", "lru"], ...],
//    "allocation_meter": "own counter", "cycles": 100, "seconds": 1.2,
//    "verdict": {"judgement": "growing", "exit_status": 1, "summary": "growing: live bytes ...",
//                "warm_up": 10,
//                "meters": {"live_bytes": {"judgement": "growing", "base": 1, "change": 2,
//                                          "per_cycle": 3044, "low": 3044, "high": 3044,
//                                          "note": "rises and has not stopped"}, ...}},
//    "target_shares": [{"name": "toy", "per_cycle": 3044}, ...],
//    "cache_ops": [{"name": "VarHandleOp", "per_cycle": 12}, ...],
//    "series": {"live_bytes": [123, 124, ...], ...}}
// Every series has one figure a cycle. Keys are those of MeterTable(). "low" and "high" are null where there
// are too few readings for a bound. Reading a file judges its series anew, so a file of an older build
// and a run of today are held to the same rules.
#pragma once
#include <string>

#include "soak/soak.h"

namespace tare {

std::string ToJson(const SoakResult& result);
// InvalidArgument for text that is no such report. Keys it does not know are passed over.
Result<SoakResult> FromJson(std::string_view json);

// A run with the name it has in the page's legend.
struct LabelledResult {
  std::string label;
  const SoakResult* result = nullptr;
};
// One self-contained page: the curve of each heap, the verdicts, the context. With `compare`, a second run
// is laid under the first: {"after", &now}, {"before", &then}. No scripts, nothing loaded from elsewhere.
std::string ToHtml(const LabelledResult& run, const LabelledResult& compare = {});

}  // namespace tare
