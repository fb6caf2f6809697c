#include "soak/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "status/status.h"

namespace tare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNormal95 = 1.959964;
// Fewer points decide nothing.
constexpr size_t kMinPoints = 6;

double Median(std::vector<double>& v) {
  auto middle = v.begin() + static_cast<ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  double upper = *middle;
  if (v.size() % 2) return upper;
  return (upper + *std::max_element(v.begin(), middle)) / 2;
}

std::vector<Point> Thin(std::span<const Point> points) {
  if (points.size() <= kMaxFitPoints) return {points.begin(), points.end()};
  std::vector<Point> thin;
  std::vector<double> ys;
  for (size_t i = 0; i < kMaxFitPoints; ++i) {
    size_t begin = i * points.size() / kMaxFitPoints, end = (i + 1) * points.size() / kMaxFitPoints;
    ys.clear();
    for (size_t j = begin; j < end; ++j) ys.push_back(points[j].y);
    thin.push_back({(points[begin].x + points[end - 1].x) / 2, Median(ys)});
  }
  return thin;
}

// Variance of Kendall's S for n points with ties among the ys.
double KendallVariance(std::vector<double> ys) {
  auto term = [](double t) { return t * (t - 1) * (2 * t + 5); };
  std::sort(ys.begin(), ys.end());
  double v = term(static_cast<double>(ys.size()));
  for (size_t i = 0; i < ys.size();) {
    size_t j = i;
    while (j < ys.size() && ys[j] == ys[i]) ++j;
    v -= term(static_cast<double>(j - i));
    i = j;
  }
  return v / 18;
}

// The element a sorted `v` would have at `rank`, which is clamped to its ends.
double AtRank(std::vector<double>& v, double rank) {
  auto i = static_cast<ptrdiff_t>(std::clamp(rank, 0.0, static_cast<double>(v.size() - 1)));
  std::nth_element(v.begin(), v.begin() + i, v.end());
  return v[static_cast<size_t>(i)];
}

// The first point from which on all lie within `tolerance` of one another.
size_t LevelFrom(std::span<const Point> p, double tolerance) {
  double low = p.back().y, high = low;
  size_t i = p.size() - 1;
  for (; i > 0; --i) {
    low = std::min(low, p[i - 1].y);
    high = std::max(high, p[i - 1].y);
    if (high - low > tolerance) break;
  }
  return i;
}

struct Rises {
  int count = 0;
  size_t longest_wait = 0;  // points from one rise (or the start) to the next
};

Rises CountRises(std::span<const Point> p, double tolerance) {
  Rises r;
  double height = p[0].y;
  size_t last = 0;
  for (size_t i = 1; i < p.size(); ++i) {
    if (p[i].y <= height + tolerance) continue;
    height = p[i].y;
    r.longest_wait = std::max(r.longest_wait, i - last);
    last = i;
    ++r.count;
  }
  return r;
}

double Highest(std::span<const Point> p) {
  return std::ranges::max_element(p, {}, &Point::y)->y;
}

// A bound this narrow about the slope means a rise at every turn.
bool Regular(const Slope& s) { return s.rising() && s.high - s.low <= 0.25 * s.slope; }

bool Rising(const Trend& t, std::span<const Point> p, size_t level_from, double tolerance) {
  bool both = t.whole.rising() && t.late.rising();
  if (both && tolerance == 0 && t.late.slope >= 0.5 * t.whole.slope) return true;
  // Within a tolerance only what keeps its pace: a heap that finds its size slows down.
  if (both && Regular(t.whole) && Regular(t.late) && t.late.slope >= 0.8 * t.whole.slope) return true;
  double span = p.back().x - p.front().x;
  if (t.late.rising() && t.late.slope * span / 2 > tolerance) return true;
  // A staircase: the second half alone has too few steps for a bound.
  bool still_moving = p.size() - level_from < p.size() / 3;
  return t.whole.rising() && still_moving && t.whole.slope * span > tolerance;
}

// Level for long enough that another rise would have come by now.
bool Settled(const Rises& rises, size_t points, size_t level_from) {
  size_t level = points - level_from;
  if (level < kMinPoints || 2 * level < points) return false;
  return rises.count <= 1 || level >= 2 * rises.longest_wait;
}

}  // namespace

Slope FitSlope(std::span<const Point> points) {
  std::vector<Point> p = Thin(points);
  std::vector<double> slopes, ys;
  slopes.reserve(p.size() * (p.size() + 1) / 2);
  for (size_t i = 0; i < p.size(); ++i) {
    ys.push_back(p[i].y);
    for (size_t j = i + 1; j < p.size(); ++j) {
      if (p[i].x != p[j].x) slopes.push_back((p[j].y - p[i].y) / (p[j].x - p[i].x));
    }
  }
  if (slopes.empty()) return {0, -kInfinity, kInfinity};
  Slope s{Median(slopes), -kInfinity, kInfinity};
  auto n = static_cast<double>(slopes.size());
  double c = kNormal95 * std::sqrt(KendallVariance(std::move(ys)));
  if (c >= n && c > 0) return s;  // three points or fewer: any slope is possible
  s.low = AtRank(slopes, std::floor((n - c) / 2) - 1);
  s.high = AtRank(slopes, std::ceil((n + c) / 2));
  return s;
}

int WarmUpCycles(int cycles, std::span<const int64_t> threads) {
  int warm = std::max(5, (cycles + 9) / 10);
  int settled = static_cast<int>(threads.size());
  while (settled > 1 && threads[static_cast<size_t>(settled) - 2] == threads.back()) --settled;
  // Threads that never settle are a leak of threads, not warm-up.
  if (settled <= cycles / 2) warm = std::max(warm, settled);
  return std::min(warm, cycles / 2);
}

Trend FitTrend(std::span<const Point> p, double tolerance) {
  Trend t;
  if (p.empty()) return t;
  t.first = p.front().y;
  t.last = p.back().y;
  t.highest = Highest(p);
  t.lowest = std::ranges::min_element(p, {}, &Point::y)->y;
  auto early_half = p.first(p.size() / 2), late_half = p.subspan(p.size() / 2);
  t.whole = FitSlope(p);
  t.late = FitSlope(late_half);
  size_t level_from = LevelFrom(p, tolerance);
  Rises rises = CountRises(p, tolerance);
  t.rises = rises.count;
  t.settled_at = p[level_from].x;
  if (p.size() < kMinPoints) {
    t.shape = Trend::Shape::kUndecided;
  } else if (Rising(t, p, level_from, tolerance)) {
    t.shape = Trend::Shape::kRising;
  } else if (level_from == 0) {
    t.shape = Trend::Shape::kLevel;
  } else if (Settled(rises, p.size(), level_from)) {
    t.shape = Trend::Shape::kSettled;
  } else if (Highest(late_half) <= Highest(early_half) + tolerance) {
    t.shape = Trend::Shape::kSwinging;
  }
  return t;
}

SweepResult FitSweep(std::span<const SweepPoint> points, double negligible) {
  SweepResult r;
  std::vector<Point> p;
  for (const SweepPoint& s : points) p.push_back({s.model_bytes, s.left_per_cycle});
  std::ranges::sort(p, {}, &Point::x);
  size_t sizes = p.empty() ? 0 : 1;
  for (size_t i = 1; i < p.size(); ++i) sizes += p[i].x != p[i - 1].x;
  if (sizes < 4) return r;
  r.per_model_byte = FitSlope(p);
  std::vector<double> rest;
  for (const Point& q : p) rest.push_back(q.y - r.per_model_byte.slope * q.x);
  r.constant = Median(rest);
  bool nothing = std::ranges::all_of(p, [&](const Point& q) { return std::abs(q.y) <= negligible; });
  double rise = r.per_model_byte.slope * (p.back().x - p.front().x);
  if (nothing) {
    r.kind = SweepResult::Kind::kNothing;
  } else if (r.per_model_byte.rising() && rise > negligible) {
    r.kind = SweepResult::Kind::kGrowsWithSize;
  } else if (std::abs(rise) <= std::max(negligible, 0.1 * std::abs(r.constant))) {
    r.kind = SweepResult::Kind::kConstant;
  }
  return r;
}

std::string SweepResult::ToString() const {
  switch (kind) {
    case Kind::kNothing: return "nothing is left, whatever the model's size";
    case Kind::kConstant:
      return fmt::format("constant: {:.0f} B left per cycle, whatever the model's size", constant);
    case Kind::kGrowsWithSize:
      return fmt::format("grows with the model: {:.4g} B left per cycle for each byte of it "
                         "(95 % bound {:.4g} to {:.4g}), beside {:.0f} B constant",
                         per_model_byte.slope, per_model_byte.low, per_model_byte.high, constant);
    case Kind::kUndecided: return "inconclusive: too few sizes, or too uneven";
  }
  return "";
}

}  // namespace tare
