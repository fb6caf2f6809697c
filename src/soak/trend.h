// Trends: how fast a meter rises, how sure that is, and whether it has stopped.
//
// Means and least squares are pulled about by single outliers, and a meter of memory is all steps and
// outliers. So: the slope is Theil and Sen's (the median of the slopes between all pairs of points), and
// its bound comes from Kendall's rank statistic: the true slope lies within with 95 % confidence.
// Pure functions of their arguments.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tare {

struct Point {
  double x = 0;  // the cycle; in a sweep, the model's size
  double y = 0;
};

struct Slope {
  double slope = 0;         // y per x
  double low = 0, high = 0;  // 95 % bound; both infinite when there are too few points to tell
  bool rising() const { return low > 0; }
};

// At most `kMaxFitPoints` points are compared, in pairs; more are thinned to medians of equal stretches.
constexpr size_t kMaxFitPoints = 500;
Slope FitSlope(std::span<const Point> points);

// Warm-up: the first tenth, but at least five cycles, and on until the number of threads has settled; never
// more than half of the cycles. `threads` has a figure a cycle and may be empty.
int WarmUpCycles(int cycles, std::span<const int64_t> threads);

// How a series of points after warm-up behaved, up to a tolerance within which it counts as level.
struct Trend {
  enum class Shape {
    kLevel,      // never left the tolerance
    kSettled,    // rose or fell for a while, or in a step; level for longer since
    kSwinging,   // up and down, with no new heights in the second half
    kRising,     // the slope is above zero with confidence, and has not stopped
    kUndecided,  // rose, but too late, too rarely or too unevenly to tell
  };
  Shape shape = Shape::kUndecided;
  Slope whole;  // of all points
  Slope late;   // of their second half
  double first = 0, last = 0, lowest = 0, highest = 0;
  int rises = 0;          // times the series rose to a new height by more than the tolerance
  double settled_at = 0;  // the x from which on it is level
  // The slope to report: of the second half where that rises, else of all.
  const Slope& reported() const { return late.rising() ? late : whole; }
};

// With a tolerance above zero, a rise within it still counts as kRising when it is as regular as a clock:
// a small leak of pages, unlike a heap that finds its size, does not slow down.
Trend FitTrend(std::span<const Point> points, double tolerance);

// A sweep: the same soak over models of growing size.
struct SweepPoint {
  double model_bytes = 0;
  double left_per_cycle = 0;  // bytes
};
struct SweepResult {
  enum class Kind {
    kNothing,       // nothing is left, whatever the size
    kConstant,      // the same is left, whatever the size
    kGrowsWithSize,
    kUndecided,
  };
  Kind kind = Kind::kUndecided;
  Slope per_model_byte;  // bytes left per cycle for each byte of the model
  double constant = 0;   // bytes left per cycle by a model of no size
  std::string ToString() const;
};
// REQUIRES points of at least four different sizes for a decision. Up to `negligible` bytes per cycle count
// as nothing.
SweepResult FitSweep(std::span<const SweepPoint> points, double negligible = 0);

}  // namespace tare
