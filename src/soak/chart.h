// A line chart as inline SVG, drawn by us: nothing to load, colours from the page's style.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "soak/trend.h"

namespace tare {

struct ChartSeries {
  std::string_view css_class;  // "run", "compare"
  std::vector<Point> points;   // x in cycles, y from the base
  double slope = 0;            // drawn as a dashed line from `slope_from` on, unless 0
  double slope_from = 0;
};

struct Chart {
  std::vector<ChartSeries> series;  // drawn in order: the last on top
  std::string_view unit;            // "B" gets KiB and MiB on its axis
  double band = 0;                  // the tolerance, shaded around 0
  double warm_up = 0;               // cycles shaded at the left
  std::string title;                // for readers of the screen
};

std::string DrawChart(const Chart& chart);

// Text made safe for HTML and SVG.
std::string EscapeHtml(std::string_view text);

}  // namespace tare
