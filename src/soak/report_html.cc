#include <algorithm>

#include "soak/chart.h"
#include "soak/report.h"

namespace tare {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --ink: #1b2330; --soft: #5d6878; --line: #dfe3ea; --grid: #e9ecf1;
  --run: #1666c5; --compare: #d2601a; --warm: #8793a51c; --band: #2e9e5b17;
  --flat: #1d7f49; --flat-bg: #dff3e7; --growing: #b3261e; --growing-bg: #fbe3e1;
  --inconclusive: #8a5a00; --inconclusive-bg: #fdf0d2; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12161c; --card: #1a2028; --ink: #e5e9f0; --soft: #99a4b5; --line: #2d3643; --grid: #262e39;
  --run: #6cb1ff; --compare: #ff9d5c; --warm: #8793a51f; --band: #4bd38a14;
  --flat: #7fdca6; --flat-bg: #16382a; --growing: #ff9e96; --growing-bg: #4a1d1a;
  --inconclusive: #f3cf7a; --inconclusive-bg: #3f3110; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 32px 20px 48px; }
h1 { font-size: 25px; line-height: 1.3; margin: 6px 0 14px; font-weight: 650; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 34px 0 12px; font-weight: 650; }
h3 { font-size: 15px; margin: 0; font-weight: 650; }
.eyebrow { color: var(--soft); margin: 0; font-size: 13px; letter-spacing: .04em; }
.soft { color: var(--soft); }
.badge { display: inline-block; padding: 1px 10px; border-radius: 999px; font-size: 12.5px; font-weight: 650;
  white-space: nowrap; }
.flat { color: var(--flat); background: var(--flat-bg); }
.growing { color: var(--growing); background: var(--growing-bg); }
.inconclusive { color: var(--inconclusive); background: var(--inconclusive-bg); }
.unread { color: var(--soft); background: var(--grid); }
dl.context { display: flex; flex-wrap: wrap; gap: 8px 26px; margin: 0; }
dl.context div { min-width: 0; }
dl.context dt { color: var(--soft); font-size: 12.5px; }
dl.context dd { margin: 0; overflow-wrap: anywhere; }
.runs { display: grid; gap: 8px; margin: 0 0 16px; padding: 0; list-style: none; }
.runs li { display: grid; grid-template-columns: auto auto 1fr; gap: 4px 12px; align-items: baseline; }
.key { display: inline-flex; align-items: center; gap: 8px; font-weight: 600; }
.key::before { content: ""; width: 22px; height: 3px; border-radius: 2px; background: currentColor; }
.key.run { color: var(--run); } .key.compare { color: var(--compare); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 500px), 1fr)); gap: 16px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px 10px;
  min-width: 0; }
.card p { margin: 2px 0 6px; font-size: 13px; color: var(--soft); }
.card ul { list-style: none; margin: 0 0 4px; padding: 0; font-size: 13px; font-variant-numeric: tabular-nums; }
.card li { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline; }
.card li .badge { font-size: 11.5px; padding: 0 8px; }
.quiet { color: var(--soft); font-size: 14px; }
.card svg { width: 100%; height: auto; display: block; }
.grid { stroke: var(--grid); stroke-width: 1; } .base { stroke: var(--soft); stroke-width: 1; opacity: .7; }
.tick { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
.warm { fill: var(--warm); } .band { fill: var(--band); }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.line.run, .trend.run { stroke: var(--run); } .line.compare, .trend.compare { stroke: var(--compare); }
.trend { stroke-width: 1.3; stroke-dasharray: 3 4; opacity: .75; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 8px 14px; border-bottom: 1px solid var(--line); vertical-align: baseline; }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; font-size: 12.5px; }
td:first-child { white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
.read { max-width: 78ch; } .read li { margin: 4px 0; }
@media print { .card { break-inside: avoid; } }
)css";

std::string Badge(Judgement j) {
  return fmt::format("<span class=\"badge {0}\">{0}</span>", JudgementName(j));
}

struct Run {
  LabelledResult labelled;
  std::string_view css_class;
  const SoakResult& result() const { return *labelled.result; }
};

// The runs in the order they are told: this one, then the one compared with.
std::vector<Run> RunsOf(const LabelledResult& run, const LabelledResult& compare) {
  std::vector<Run> runs{{run, "run"}};
  if (compare.result) runs.push_back({compare, "compare"});
  return runs;
}

std::string Key(const Run& run) {
  return fmt::format("<span class=\"key {}\">{}</span>", run.css_class, EscapeHtml(run.labelled.label));
}

// The models' names, without the folder that all of them lie in.
std::string Names(const std::vector<std::string>& targets) {
  size_t common = targets.empty() ? 0 : targets[0].rfind('/') + 1;
  for (const std::string& t : targets) {
    while (common > 0 && t.compare(0, common, targets[0], 0, common) != 0) {
      common = common == 1 ? 0 : targets[0].rfind('/', common - 2) + 1;
    }
  }
  std::string s;
  for (const std::string& t : targets) s += (s.empty() ? "" : ", ") + t.substr(common);
  return s;
}

void AppendContext(const std::vector<Run>& runs, std::string& html) {
  // What is equal in both runs is told once.
  std::vector<std::pair<std::string, std::vector<std::string>>> facts;
  auto add = [&](size_t run, const std::string& name, const std::string& value) {
    auto it = std::ranges::find(facts, name, &decltype(facts)::value_type::first);
    if (it == facts.end()) it = facts.insert(facts.end(), {name, std::vector<std::string>(runs.size())});
    it->second[run] = value;
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    const SoakResult& r = runs[i].result();
    add(i, r.targets.size() == 1 ? "model" : "models", Names(r.targets));
    add(i, "cycles", fmt::format("{}, the first {} warm-up", r.samples.size(), r.verdict.warm_up));
    for (const auto& [name, value] : r.context) add(i, name, value);
    add(i, "time", fmt::format("{:.1f} s", r.seconds));
    add(i, "live bytes counted by", r.allocation_meter);
  }
  html += "<dl class=\"context\">";
  for (const auto& [name, values] : facts) {
    html += fmt::format("<div><dt>{}</dt>", EscapeHtml(name));
    bool equal = std::ranges::all_of(values, [&](const std::string& v) { return v == values[0]; });
    for (size_t i = 0; i < (equal ? 1 : values.size()); ++i) {
      std::string key = equal ? "" : Key(runs[i]) + " ";
      html += fmt::format("<dd>{}{}</dd>", key, EscapeHtml(values[i]));
    }
    html += "</div>";
  }
  html += "</dl>";
}

void AppendHead(const std::vector<Run>& runs, std::string& html) {
  const Verdict& v = runs[0].result().verdict;
  html += "<p class=\"eyebrow\">tare soak: load, run, unload, again and again</p>";
  if (runs.size() == 1) {
    html += fmt::format("<h1>{}</h1><p>{}</p>", EscapeHtml(v.summary), Badge(v.judgement));
  } else {
    html += fmt::format("<h1>{} is {}, {} is {}</h1><ul class=\"runs\">", EscapeHtml(runs[0].labelled.label),
                        JudgementName(v.judgement), EscapeHtml(runs[1].labelled.label),
                        JudgementName(runs[1].result().verdict.judgement));
    for (const Run& r : runs) {
      const Verdict& one = r.result().verdict;
      html += fmt::format("<li>{}{}<span>{}</span></li>", Key(r), Badge(one.judgement), EscapeHtml(one.summary));
    }
    html += "</ul>";
  }
  AppendContext(runs, html);
}

ChartSeries SeriesOf(const Run& run, Meter meter) {
  ChartSeries series{.css_class = run.css_class};
  const SoakResult& r = run.result();
  const MeterVerdict* v = r.verdict.Find(meter);
  for (const Sample& s : r.samples) {
    if (v && s.has(meter)) series.points.push_back({double(s.cycle), static_cast<double>(s[meter]) - v->base});
  }
  if (v && v->judgement == Judgement::kGrowing) {
    series.slope = v->trend.reported().slope;
    bool late = v->trend.late.rising();
    series.slope_from = late ? (r.verdict.warm_up + static_cast<double>(r.samples.size())) / 2 : r.verdict.warm_up;
  }
  return series;
}

void AppendCard(const std::vector<Run>& runs, Meter meter, std::string& html) {
  const MeterInfo& info = InfoOf(meter);
  Chart chart{.unit = info.unit, .band = static_cast<double>(info.tolerance), .title = std::string(info.title)};
  std::string rows;
  for (const Run& run : runs) {
    const MeterVerdict* v = run.result().verdict.Find(meter);
    if (!v) continue;
    chart.warm_up = std::max<double>(chart.warm_up, run.result().verdict.warm_up);
    rows += fmt::format("<li>{}{}<span>{}</span><span class=\"soft\">{}</span></li>",
                        runs.size() > 1 ? Key(run) : "", Badge(v->judgement), EscapeHtml(v->rate()),
                        EscapeHtml(v->note));
    // The run compared with lies beneath.
    chart.series.insert(chart.series.begin(), SeriesOf(run, meter));
  }
  html += fmt::format("<section class=\"card\"><h3>{}</h3><p>{}</p><ul>{}</ul>{}</section>", info.title,
                      info.about, rows, DrawChart(chart));
}

// A straight line says nothing, but for the heaps a reader looks for first.
bool WorthACurve(const std::vector<Run>& runs, Meter meter) {
  bool always = meter <= Meter::kPrivateDirty || meter == Meter::kCacheEntries || meter == Meter::kLedger;
  return std::ranges::any_of(runs, [&](const Run& run) {
    const MeterVerdict* v = run.result().verdict.Find(meter);
    return v && (always || v->trend.highest != v->trend.lowest);
  });
}

// Kinds of the ledger that never held a byte are passed over.
bool EverHeld(const std::vector<Run>& runs, Meter meter) {
  return meter < Meter::kLedgerKind || std::ranges::any_of(runs, [&](const Run& run) {
    const MeterVerdict* v = run.result().verdict.Find(meter);
    return v && (v->trend.highest != 0 || v->trend.lowest != 0);
  });
}

void AppendCards(const std::vector<Run>& runs, std::string& html) {
  html += "<h2>Heaps</h2><div class=\"cards\">";
  std::string quiet;
  for (size_t i = 0; i < kMeterCount; ++i) {
    auto meter = static_cast<Meter>(i);
    if (WorthACurve(runs, meter)) {
      AppendCard(runs, meter, html);
    } else if (runs[0].result().verdict.Find(meter) && EverHeld(runs, meter)) {
      quiet += fmt::format("{}{}", quiet.empty() ? "" : ", ", InfoOf(meter).title);
    }
  }
  html += "</div>";
  if (!quiet.empty()) html += fmt::format("<p class=\"quiet\">Equal in every cycle after warm-up: {}.</p>", quiet);
}

void AppendTable(const std::vector<Run>& runs, std::string& html) {
  html += "<h2>Verdicts</h2><div class=\"scroll\"><table><tr><th>heap</th>";
  if (runs.size() > 1) html += "<th>run</th>";
  html += "<th>verdict</th><th class=\"number\">base</th><th class=\"number\">change</th>"
          "<th class=\"number\">per cycle (95 % bound)</th><th>note</th></tr>";
  for (size_t i = 0; i < kMeterCount; ++i) {
    auto meter = static_cast<Meter>(i);
    const MeterInfo& info = InfoOf(meter);
    if (!EverHeld(runs, meter)) continue;
    bool named = false;
    for (const Run& run : runs) {
      const MeterVerdict* v = run.result().verdict.Find(meter);
      if (!v) continue;
      html += fmt::format("<tr><td>{}</td>", named ? "" : info.title);
      named = true;
      if (runs.size() > 1) html += fmt::format("<td>{}</td>", Key(run));
      html += fmt::format(
          "<td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
          "<td>{}</td></tr>",
          Badge(v->judgement), FormatAmount(v->base, info.unit, false), FormatAmount(v->change, info.unit, true),
          EscapeHtml(v->rate()), EscapeHtml(v->note));
    }
  }
  html += "</table></div>";
}

void AppendShares(const std::vector<Run>& runs, std::string_view title, std::string_view unit,
                  std::vector<Share> SoakResult::*shares, std::string& html) {
  constexpr size_t kMostShown = 20;
  std::string rows;
  for (const Run& run : runs) {
    std::vector<Share> list = run.result().*shares;
    std::erase_if(list, [](const Share& s) { return s.per_cycle == 0; });
    std::ranges::sort(list, std::greater{}, &Share::per_cycle);
    if (list.size() > kMostShown) list.resize(kMostShown);
    for (const Share& s : list) {
      rows += fmt::format("<tr>{}<td>{}</td><td class=\"number\">{}/cycle</td></tr>",
                          runs.size() > 1 ? "<td>" + Key(run) + "</td>" : "", EscapeHtml(s.name),
                          FormatAmount(s.per_cycle, unit, true));
    }
  }
  if (rows.empty()) return;
  html += fmt::format("<h2>{}</h2><div class=\"scroll\"><table>{}</table></div>", title, rows);
}

constexpr std::string_view kHowToRead = R"(<h2>How to read this page</h2><ul class="read soft">
<li>Each curve shows a heap's distance from the base: what it held when warm-up (the grey part) ended.</li>
<li>Heaps counted by the program itself are flat when they end exactly at the base; pages of the operating
system when they stay within 2&nbsp;MiB of it (the green band).</li>
<li>A dashed line is the slope of a heap that grows: the median of the slopes between all pairs of
readings, with a 95&nbsp;% bound.</li>
<li>A step that came once and stayed is no leak per cycle: flat, but told in the note.</li></ul>)";

}  // namespace

std::string ToHtml(const LabelledResult& run, const LabelledResult& compare) {
  std::vector<Run> runs = RunsOf(run, compare);
  std::string html = fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>tare soak: {}</title><style>{}</style></head><body><main>",
      EscapeHtml(run.result->verdict.summary), kStyle);
  AppendHead(runs, html);
  AppendCards(runs, html);
  AppendTable(runs, html);
  AppendShares(runs, "Live bytes left, by model", "B", &SoakResult::target_shares, html);
  AppendShares(runs, "Kernel cache, by op", "entries", &SoakResult::cache_ops, html);
  html += kHowToRead;
  return html + "</main></body></html>\n";
}

}  // namespace tare
