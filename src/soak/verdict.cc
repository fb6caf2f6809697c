#include "soak/verdict.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

// 1234567 -> "1,234,567".
std::string Grouped(double v) {
  std::string digits = fmt::format("{:.0f}", v);
  for (auto at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(digits.begin() + at, ',');
  }
  return digits;
}

// The readings after warm-up, led by the last one of warm-up: the base.
std::vector<Point> PointsFromBase(std::span<const Sample> samples, int warm_up, Meter meter) {
  std::vector<Point> points;
  for (const Sample& s : samples) {
    if (!s.has(meter)) continue;
    if (s.cycle < warm_up) points.clear();
    points.push_back({static_cast<double>(s.cycle), static_cast<double>(s[meter])});
  }
  return points;
}

std::string NoteOn(const MeterVerdict& m) {
  const MeterInfo& info = InfoOf(m.meter);
  const Trend& t = m.trend;
  std::string change = FormatAmount(t.last - m.base, info.unit, true);
  switch (t.shape) {
    case Trend::Shape::kLevel:
      if (t.last == m.base && t.lowest == t.highest) return "equal in every cycle";
      return fmt::format("ends {} from the base", change);
    case Trend::Shape::kSettled:
      if (t.last <= m.base) return fmt::format("level since cycle {:.0f}", t.settled_at);
      if (t.rises <= 1) return fmt::format("one step of {} at cycle {:.0f}, level since", change, t.settled_at);
      return fmt::format("rose by {} until cycle {:.0f}, level since", change, t.settled_at);
    case Trend::Shape::kSwinging:
      return fmt::format("swings between {} and {}, no new heights",
                         FormatAmount(t.lowest, info.unit, false), FormatAmount(t.highest, info.unit, false));
    case Trend::Shape::kRising: return "rises and has not stopped";
    case Trend::Shape::kUndecided:
      return fmt::format("ends {} from the base, too late or too unevenly to tell: run more cycles", change);
  }
  return "";
}

Judgement JudgementOf(Trend::Shape shape) {
  switch (shape) {
    case Trend::Shape::kLevel:
    case Trend::Shape::kSettled:
    case Trend::Shape::kSwinging: return Judgement::kFlat;
    case Trend::Shape::kRising: return Judgement::kGrowing;
    case Trend::Shape::kUndecided: return Judgement::kInconclusive;
  }
  return Judgement::kInconclusive;
}

const Share* Largest(std::span<const Share> shares) {
  auto it = std::ranges::max_element(shares, {}, &Share::per_cycle);
  return it != shares.end() && it->per_cycle > 0 ? &*it : nullptr;
}

std::string RatePerCycle(const MeterVerdict& m) {
  return FormatAmount(m.trend.reported().slope, InfoOf(m.meter).unit, true) + "/cycle";
}

// "kernel cache: +12 entries/cycle, op VarHandleOp", without the rate where the summary begins with it.
std::string CacheCause(const MeterVerdict& cache, bool with_rate, std::span<const Share> ops) {
  std::string cause;
  if (with_rate) cause = fmt::format("{}: {}", InfoOf(cache.meter).title, RatePerCycle(cache));
  if (const Share* op = Largest(ops)) cause += fmt::format("{}op {}", with_rate ? ", " : "", op->name);
  return cause;
}

// What stands beside the heap that is blamed: the narrower meters that grow with it.
std::vector<std::string> Causes(const Verdict& v, const MeterVerdict& blamed, std::span<const Share> cache_ops,
                                std::span<const Share> targets) {
  std::vector<std::string> causes;
  auto growing = [&](Meter m) {
    const MeterVerdict* other = v.Find(m);
    return other && other->judgement == Judgement::kGrowing ? other : nullptr;
  };
  if (const MeterVerdict* cache = growing(Meter::kCacheEntries)) {
    causes.push_back(CacheCause(*cache, cache != &blamed, cache_ops));
  }
  const MeterVerdict* kind = nullptr;
  for (size_t k = 0; k < kKindCount; ++k) {
    const MeterVerdict* m = growing(LedgerMeter(static_cast<Kind>(k)));
    if (m && (!kind || m->trend.reported().slope > kind->trend.reported().slope)) kind = m;
  }
  for (const MeterVerdict* m : {kind, growing(Meter::kModelFiles), growing(Meter::kThreads),
                                growing(Meter::kOpenFiles)}) {
    if (m && m != &blamed) causes.push_back(fmt::format("{}: {}", InfoOf(m->meter).title, RatePerCycle(*m)));
  }
  const MeterVerdict* live = v.Find(Meter::kLiveBytes);
  bool pages = blamed.meter == Meter::kAnonymous || blamed.meter == Meter::kPrivateDirty;
  if (pages && live && live->judgement == Judgement::kFlat) {
    causes.push_back("live bytes are flat: memory from mmap, or holes in the heap");
  }
  if (const Share* target = Largest(targets); target && targets.size() > 1) {
    causes.push_back("most by " + target->name);
  }
  std::erase(causes, "");
  return causes;
}

std::string Join(const std::vector<std::string>& parts, std::string_view between) {
  std::string s;
  for (const std::string& p : parts) {
    if (!s.empty()) s += between;
    s += p;
  }
  return s;
}

std::string Summary(const Verdict& v, size_t cycles, std::span<const Share> cache_ops,
                    std::span<const Share> targets) {
  auto of = [&](Judgement j) {
    auto it = std::ranges::find(v.meters, j, &MeterVerdict::judgement);
    return it == v.meters.end() ? nullptr : &*it;
  };
  if (v.judgement == Judgement::kGrowing) {
    const MeterVerdict& blamed = *of(Judgement::kGrowing);
    std::string causes = Join(Causes(v, blamed, cache_ops, targets), "; ");
    return fmt::format("growing: {} {}{}", InfoOf(blamed.meter).title, RatePerCycle(blamed),
                       causes.empty() ? "" : " (" + causes + ")");
  }
  if (v.judgement == Judgement::kInconclusive) {
    if (v.meters.empty()) return "inconclusive: no cycles";
    const MeterVerdict& m = *of(Judgement::kInconclusive);
    return fmt::format("inconclusive: {} {}", InfoOf(m.meter).title, m.note);
  }
  std::vector<std::string> notes;
  for (const MeterVerdict& m : v.meters) {
    if (m.trend.shape == Trend::Shape::kSettled && m.change > static_cast<double>(InfoOf(m.meter).tolerance)) {
      notes.push_back(fmt::format("{}: {}", InfoOf(m.meter).title, m.note));
    }
  }
  std::string flat = fmt::format("flat: {} meters over {} cycles after {} of warm-up", v.meters.size(),
                                 cycles - static_cast<size_t>(v.warm_up), v.warm_up);
  return notes.empty() ? flat : flat + " (" + Join(notes, "; ") + ")";
}

}  // namespace

std::string_view JudgementName(Judgement j) {
  switch (j) {
    case Judgement::kFlat: return "flat";
    case Judgement::kGrowing: return "growing";
    case Judgement::kInconclusive: return "inconclusive";
    case Judgement::kUnread: return "unread";
  }
  return "unread";
}

std::string FormatAmount(double amount, std::string_view unit, bool sign) {
  std::string_view minus = amount < 0 ? "-" : sign && amount > 0 ? "+" : "";
  double a = std::abs(amount);
  if (unit == "B" && a >= 10 * 1024 * 1024) return fmt::format("{}{:.1f} MiB", minus, a / (1024 * 1024));
  if (a >= 100 || a == std::floor(a)) return fmt::format("{}{} {}", minus, Grouped(a), unit);
  return fmt::format("{}{:.{}f} {}", minus, a, a >= 1 ? 1 : 3, unit);
}

std::string MeterVerdict::rate() const {
  std::string_view unit = InfoOf(meter).unit;
  const Slope& s = trend.reported();
  std::string text = FormatAmount(s.slope, unit, true) + "/cycle";
  if (!std::isfinite(s.low)) return text + " (no bound)";
  if (s.low == s.high) return text + " (exact)";
  return text + fmt::format(" (95 %: {} to {})", FormatAmount(s.low, unit, true),
                            FormatAmount(s.high, unit, true));
}

const MeterVerdict* Verdict::Find(Meter meter) const {
  auto it = std::ranges::find(meters, meter, &MeterVerdict::meter);
  return it == meters.end() ? nullptr : &*it;
}

int Verdict::exit_status() const {
  switch (judgement) {
    case Judgement::kFlat: return 0;
    case Judgement::kGrowing: return 1;
    default: return 2;
  }
}

Verdict Judge(std::span<const Sample> samples, std::span<const Share> cache_ops,
              std::span<const Share> targets) {
  Verdict v;
  std::vector<int64_t> threads;
  for (const Sample& s : samples) threads.push_back(s[Meter::kThreads]);
  v.warm_up = WarmUpCycles(static_cast<int>(samples.size()), threads);
  v.judgement = samples.empty() ? Judgement::kInconclusive : Judgement::kFlat;
  for (size_t i = 0; i < kMeterCount; ++i) {
    auto meter = static_cast<Meter>(i);
    std::vector<Point> points = PointsFromBase(samples, v.warm_up, meter);
    if (points.empty()) continue;
    MeterVerdict m{.meter = meter};
    m.base = points.front().y;
    m.trend = FitTrend(points, static_cast<double>(InfoOf(meter).tolerance));
    m.change = m.trend.last - m.base;
    m.judgement = JudgementOf(m.trend.shape);
    m.note = NoteOn(m);
    if (m.judgement == Judgement::kGrowing) {
      v.judgement = Judgement::kGrowing;
    } else if (m.judgement == Judgement::kInconclusive && v.judgement == Judgement::kFlat) {
      v.judgement = Judgement::kInconclusive;
    }
    v.meters.push_back(std::move(m));
  }
  v.summary = Summary(v, samples.size(), cache_ops, targets);
  return v;
}

}  // namespace tare
