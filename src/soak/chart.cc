#include "soak/chart.h"

#include <algorithm>
#include <cmath>

#include "status/status.h"

namespace tare {
namespace {

constexpr double kWidth = 560, kHeight = 220;
constexpr double kLeft = 78, kRight = 12, kTop = 12, kBottom = 30;
constexpr size_t kMaxDrawn = 1200;

struct Range {
  double low = 0, high = 0;
  double span() const { return high - low; }
};

struct Frame {
  Range x, y;
  double X(double v) const { return kLeft + (v - x.low) / x.span() * (kWidth - kLeft - kRight); }
  double Y(double v) const { return kHeight - kBottom - (v - y.low) / y.span() * (kHeight - kTop - kBottom); }
};

// 1, 2 or 5 times a power of ten; for bytes, powers of two beyond 1024.
double NiceStep(double rough, bool bytes) {
  if (bytes && rough > 512) return std::exp2(std::ceil(std::log2(rough)));
  double power = std::pow(10, std::floor(std::log10(rough)));
  for (double f : {1.0, 2.0, 5.0}) {
    if (f * power >= rough) return std::max(1.0, f * power);
  }
  return std::max(1.0, 10 * power);
}

std::string TickLabel(double v, bool bytes) {
  std::string_view sign = v > 0 ? "+" : v < 0 ? "−" : "";
  double a = std::abs(v);
  if (v == 0) return "base";
  if (!bytes) return fmt::format("{}{:.6g}", sign, a);
  for (auto [size, unit] : {std::pair{0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}}) {
    if (a >= size) return fmt::format("{}{:.6g} {}", sign, std::round(a / size * 100) / 100, unit);
  }
  return fmt::format("{}{:.0f} B", sign, a);
}

// What came after warm-up fills the chart; warm-up is cut where it would dwarf the rest.
Range YRange(const Chart& chart) {
  Range r;
  for (const ChartSeries& s : chart.series) {
    for (const Point& p : s.points) {
      if (p.x < chart.warm_up) continue;
      r.low = std::min(r.low, p.y);
      r.high = std::max(r.high, p.y);
    }
  }
  double least = std::max(chart.unit == "B" ? 4096.0 : 4.0, 1.3 * chart.band);
  double room = std::max(r.span() * 0.3, least / 2);
  Range with_warm_up = r;
  for (const ChartSeries& s : chart.series) {
    for (const Point& p : s.points) {
      with_warm_up.low = std::min(with_warm_up.low, p.y);
      with_warm_up.high = std::max(with_warm_up.high, p.y);
    }
  }
  r.low = std::max(with_warm_up.low, r.low - room);
  r.high = std::min(with_warm_up.high, r.high + room);
  r.high = std::max(r.high, least * 0.75);
  r.low = std::min(r.low, -0.06 * r.span());
  if (chart.band > 0) r.low = std::min(r.low, -1.1 * chart.band);
  r.high += 0.05 * r.span();
  return r;
}

Range XRange(const Chart& chart) {
  Range r{0, 1};
  for (const ChartSeries& s : chart.series) {
    for (const Point& p : s.points) r.high = std::max(r.high, p.x);
  }
  return r;
}

std::string Polyline(const ChartSeries& s, const Frame& f) {
  std::string points;
  size_t stride = s.points.size() / kMaxDrawn + 1;
  for (size_t i = 0; i < s.points.size(); ++i) {
    if (i % stride && i + 1 != s.points.size()) continue;
    points += fmt::format("{:.1f},{:.1f} ", f.X(s.points[i].x), f.Y(s.points[i].y));
  }
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>", s.css_class, points);
}

std::string Grid(const Chart& chart, const Frame& f) {
  bool bytes = chart.unit == "B";
  std::string svg;
  double step = NiceStep(f.y.span() / 4.5, bytes);
  for (double v = std::ceil(f.y.low / step) * step; v <= f.y.high; v += step) {
    double y = f.Y(v);
    svg += fmt::format(
        "<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        v == 0 ? "base" : "grid", kLeft, kWidth - kRight, y, y, kLeft - 7, y + 3.6, TickLabel(v, bytes));
  }
  double xstep = NiceStep(f.x.span() / 6, false);
  for (double v = 0; v <= f.x.high; v += xstep) {
    bool first = v == 0;
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}{:.0f}</text>",
                       f.X(v), kHeight - kBottom + 17, first ? "cycle " : "", v);
  }
  return svg;
}

std::string Shade(std::string_view css_class, double x1, double y1, double x2, double y2) {
  return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                     css_class, x1, y1, std::max(0.0, x2 - x1), std::max(0.0, y2 - y1));
}

}  // namespace

std::string DrawChart(const Chart& chart) {
  Frame f{XRange(chart), YRange(chart)};
  // The nested <svg> clips the curves to the frame without needing an id.
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWidth, kHeight, EscapeHtml(chart.title));
  double top = kTop, bottom = kHeight - kBottom;
  if (chart.band > 0) {
    svg += Shade("band", kLeft, std::max(top, f.Y(chart.band)), kWidth - kRight,
                 std::min(bottom, f.Y(-chart.band)));
  }
  if (chart.warm_up > 0) svg += Shade("warm", kLeft, top, f.X(chart.warm_up), bottom);
  svg += Grid(chart, f);
  svg += fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">",
                     kLeft, kTop - 2, kWidth - kLeft - kRight, bottom - top + 4);
  for (const ChartSeries& s : chart.series) {
    if (s.points.empty()) continue;
    svg += Polyline(s, f);
    if (s.slope == 0) continue;
    const Point& end = s.points.back();
    svg += fmt::format("<line class=\"trend {}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       s.css_class, f.X(s.slope_from), f.Y(end.y - s.slope * (end.x - s.slope_from)),
                       f.X(end.x), f.Y(end.y));
  }
  return svg + "</svg></svg>";
}

std::string EscapeHtml(std::string_view text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

}  // namespace tare
