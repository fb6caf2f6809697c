#include "soak/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "soak/chart.h"

namespace tare {
namespace {

// A run as it might have been metered: `entry` kernels stay in the cache each cycle.
SoakResult MadeUpRun(int entries_per_cycle, int cycles = 100) {
  SoakResult r;
  r.targets = {"toy <two layers>", "textcls"};
  r.context = {{"kernel cache", entries_per_cycle ? "unbounded" : "lru"}, {"threads", "2"}};
  r.allocation_meter = "own counter";
  r.seconds = 1.25;
  for (int c = 0; c < cycles; ++c) {
    Sample s;
    s.cycle = c;
    int64_t entries = 40 + int64_t{entries_per_cycle} * c;
    double wobble = 150e3 * std::sin(c * 1.7) * std::sin(c * 0.31);
    int64_t warm = c < 4 ? c * 100'000 - 400'000 : 0;
    s[Meter::kLiveBytes] = 8'400'000 + warm + entries * 3044;
    s[Meter::kLiveBlocks] = 51'000 + warm / 100 + entries * 9;
    s[Meter::kAnonymous] = 30'000'000 + warm * 10 + entries * 5200 + (static_cast<int64_t>(wobble) & ~4095);
    s[Meter::kPrivateDirty] = s[Meter::kAnonymous] + (1 << 20);
    s[Meter::kModelFiles] = 0;
    s[Meter::kCacheEntries] = entries;
    s[Meter::kCacheBytes] = entries * 900;
    s[Meter::kLedger] = entries * 900;
    for (size_t k = 0; k < kKindCount; ++k) s[LedgerMeter(static_cast<Kind>(k))] = 0;
    s[LedgerMeter(Kind::kKernels)] = entries * 900;
    s[Meter::kThreads] = c < 2 ? 1 : 2;
    s[Meter::kOpenFiles] = 4;
    r.samples.push_back(s);
  }
  if (entries_per_cycle) r.cache_ops = {{"VarHandleOp", double(entries_per_cycle)}};
  r.target_shares = {{"toy <two layers>", 2000.0 * entries_per_cycle}, {"textcls", 1044.0 * entries_per_cycle}};
  r.verdict = Judge(r.samples, r.cache_ops, r.target_shares);
  return r;
}

TEST(Report, JsonComesBackAsItWent) {
  SoakResult r = MadeUpRun(12);
  auto back = FromJson(ToJson(r));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(ToJson(*back), ToJson(r));
  EXPECT_EQ(back->verdict.summary, r.verdict.summary);
  EXPECT_EQ(back->context, r.context);
}

TEST(Report, JsonHasTheKeysItsHeaderPromises) {
  auto j = nlohmann::json::parse(ToJson(MadeUpRun(12)));
  EXPECT_EQ(j["tare_soak"], 1);
  EXPECT_EQ(j["cycles"], 100);
  EXPECT_EQ(j["verdict"]["judgement"], "growing");
  EXPECT_EQ(j["verdict"]["exit_status"], 1);
  EXPECT_EQ(j["verdict"]["meters"]["live_bytes"]["per_cycle"], 12 * 3044);
  EXPECT_EQ(j["series"]["live_bytes"].size(), 100u);
  EXPECT_EQ(j["cache_ops"][0]["name"], "VarHandleOp");
}

TEST(Report, WhatIsNoReportIsRefused) {
  std::string good = ToJson(MadeUpRun(0));
  auto refused = [](const std::string& text) { return FromJson(text).status().code() == Code::kInvalidArgument; };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("[]"));
  EXPECT_TRUE(refused("{\"tare_soak\": 2}"));
  EXPECT_TRUE(refused("{\"tare_soak\": 1, \"cycles\": 99999999999}"));
  EXPECT_TRUE(refused("{\"tare_soak\": 1, \"cycles\": 2, \"series\": {\"live_bytes\": [1]}}"));
  EXPECT_TRUE(refused("{\"tare_soak\": 1, \"cycles\": 1, \"target_shares\": [3]}"));
  EXPECT_TRUE(refused(good.substr(0, good.size() / 2)));
  for (size_t at = 0; at < good.size(); at += 97) {
    std::string damaged = good;
    damaged[at] = '7';
    (void)FromJson(damaged);  // may be a report or not; must not crash
  }
}

TEST(Report, ThePageStandsAlone) {
  SoakResult now = MadeUpRun(0), then = MadeUpRun(12);
  std::string html = ToHtml({"after", &now}, {"before", &then});
  for (const char* foreign : {"<script", "http:", "https:", "url(", "@import", "src="}) {
    EXPECT_EQ(html.find(foreign), std::string::npos) << foreign;
  }
  EXPECT_NE(html.find("toy &lt;two layers&gt;"), std::string::npos);
  EXPECT_EQ(html.find("<two layers>"), std::string::npos);
  EXPECT_NE(html.find("VarHandleOp"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("inf,"), std::string::npos);
  // To look at: TARE_REPORT_DIR=/tmp tare_soak_tests --gtest_filter='Report.*'
  if (const char* dir = std::getenv("TARE_REPORT_DIR")) {
    std::ofstream(std::string(dir) + "/compare.html") << html;
    std::ofstream(std::string(dir) + "/flat.html") << ToHtml({"run", &now});
    std::ofstream(std::string(dir) + "/growing.html") << ToHtml({"run", &then});
  }
}

TEST(Report, EmptyAndShortRunsHaveAPageToo) {
  for (int cycles : {0, 1, 2, 5}) {
    SoakResult r = MadeUpRun(1, cycles);
    std::string html = ToHtml({"run", &r});
    EXPECT_EQ(html.find("nan"), std::string::npos) << cycles;
    EXPECT_TRUE(FromJson(ToJson(r)).ok()) << cycles;
    EXPECT_EQ(r.verdict.exit_status(), 2) << cycles;
  }
}

TEST(Report, ModelsOfOneFolderAreNamedWithoutIt) {
  SoakResult r = MadeUpRun(0);
  auto page_has = [&](std::vector<std::string> targets, const std::string& text) {
    r.targets = std::move(targets);
    return ToHtml({"run", &r}).find("<dd>" + text + "</dd>") != std::string::npos;
  };
  EXPECT_TRUE(page_has({"/a/b/toy", "/a/b/text"}, "toy, text"));
  EXPECT_TRUE(page_has({"/a/b/toy", "/a/c/text"}, "b/toy, c/text"));
  EXPECT_TRUE(page_has({"/a/toy", "b/text"}, "/a/toy, b/text"));
  EXPECT_TRUE(page_has({"/a/toy"}, "toy"));
  EXPECT_TRUE(page_has({"toy", "text"}, "toy, text"));
}

TEST(Chart, EveryPointLiesWithinTheFrameOrIsClipped) {
  Chart chart{.series = {{.css_class = "run", .points = {{0, -5e9}, {1, 0}, {2, 10}, {3, 20}}}},
              .unit = "B", .warm_up = 1, .title = "a & b"};
  std::string svg = DrawChart(chart);
  EXPECT_NE(svg.find("aria-label=\"a &amp; b\""), std::string::npos);
  EXPECT_NE(svg.find("polyline"), std::string::npos);
}

}  // namespace
}  // namespace tare
