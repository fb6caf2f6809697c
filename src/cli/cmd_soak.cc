// `tare soak`: load, run, unload, again and again, and tell whether anything stays.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "cli/command.h"
#include "cli/golden.h"
#include "saved_model/model.h"
#include "soak/dense_model.h"
#include "soak/report.h"
#include "soak/soak.h"

namespace tare {
namespace {

struct SoakCommand {
  std::vector<std::string> models;
  int cycles = 100, threads = 0;
  std::string json, html, compare, policy = "lru";
  std::vector<std::string> goldens;
  bool quiet = false, allow_errors = false, sweep = false;
};

// Runs that ended in an error, by signature. A signature need not take made-up inputs, and its error must leave
// nothing behind either; but what was never run to its end is not proved, so it is told.
struct Refusal {
  int runs = 0;
  std::string first;
};
using Refusals = std::map<std::string, Refusal>;

// One load-run-unload of a model: with its goldens, which must be answered as recorded, or else with each
// signature fed made-up inputs once.
Status Cycle(EagerContext& context, const std::string& path, const std::vector<Golden>& goldens, bool allow_errors,
             Refusals& refusals) {
  auto loaded = Model::Load(context, path);
  if (!loaded.ok()) return allow_errors ? OkStatus() : std::move(loaded).status();
  std::unique_ptr<Model> model = *std::move(loaded);
  for (const Golden& golden : goldens) TARE_RETURN_IF_ERROR(ReplayGolden(*model, golden, {}));
  if (goldens.empty()) {
    for (const Signature& s : model->signatures()) {
      TARE_ASSIGN_OR_RETURN(NamedTensors inputs, MakeInputs(context.account(), s));
      auto outputs = model->Run(s, inputs);
      if (outputs.ok()) continue;
      Refusal& refusal = refusals[fmt::format("{}, signature '{}'", path, s.name)];
      if (++refusal.runs == 1) refusal.first = outputs.status().ToString();
    }
  }
  Receipt receipt = model->Unload();
  if (receipt.total_held() != 0) return Internal("{}: {} bytes are still held:\n{}", path, receipt.total_held(), receipt.ToString());
  return OkStatus();
}

// The recorded calls in the first DIR/NAME of the model that is there, if any.
Result<std::vector<Golden>> ReadGoldens(EagerContext& context, const std::vector<std::string>& dirs,
                                        const std::string& model) {
  std::vector<Golden> goldens;
  for (const std::string& dir : dirs) {
    const auto of_model = std::filesystem::path(dir) / std::filesystem::path(model).filename();
    std::error_code error;
    if (!std::filesystem::is_directory(of_model, error)) continue;
    TARE_ASSIGN_OR_RETURN(std::vector<std::string> files, GoldenFiles({of_model.string()}));
    for (const std::string& file : files) {
      TARE_ASSIGN_OR_RETURN(Golden golden, ReadGolden(context.account(), file));
      goldens.push_back(std::move(golden));
    }
    break;
  }
  return goldens;
}

// The models themselves, or those in a folder of models.
Result<std::vector<std::string>> FindModels(const std::vector<std::string>& paths) {
  std::vector<std::string> models;
  for (const std::string& p : paths) {
    std::error_code error;
    if (std::filesystem::exists(p + "/saved_model.pb", error)) {
      models.push_back(p);
      continue;
    }
    const size_t before = models.size();
    for (const auto& entry : std::filesystem::directory_iterator(p, error)) {
      if (std::filesystem::exists(entry.path() / "saved_model.pb")) models.push_back(entry.path().string());
    }
    std::sort(models.begin() + static_cast<std::ptrdiff_t>(before), models.end());
    if (models.size() == before) return NotFound("{}: no SavedModel there, nor in its folders", p);
  }
  return models;
}

Result<std::string> ReadText(const std::string& path) {
  std::ifstream in(path);
  if (!in) return NotFound("{}: cannot be read", path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  return out ? OkStatus() : FailedPrecondition("{}: cannot be written", path);
}

void Print(const SoakResult& result) {
  fmt::print("{:<24}{:<14}{:>16}{:>16}   {}\n", "meter", "judgement", "base", "change", "per cycle");
  for (const MeterVerdict& m : result.verdict.meters) {
    const bool kind = m.meter >= Meter::kLedgerKind;
    if (kind && m.judgement == Judgement::kFlat) continue;
    const MeterInfo& info = InfoOf(m.meter);
    fmt::print("{:<24}{:<14}{:>16}{:>16}   {}{}{}\n", info.title, JudgementName(m.judgement),
               FormatAmount(m.base, info.unit, false), FormatAmount(m.change, info.unit, true), m.rate(),
               m.note.empty() ? "" : "; ", m.note);
  }
  fmt::print("{}\n", result.verdict.summary);
}

void PrintRefusals(const Refusals& refusals) {
  for (const auto& [what, refusal] : refusals) {
    fmt::print("{} refused {} runs with made-up inputs: {}\n", what, refusal.runs, refusal.first);
  }
}

// The same soak over generated models of growing size: is what is left constant, or does it grow with the model?
Result<int> Sweep(const SoakCommand& o) {
  TARE_ASSIGN_OR_RETURN(KernelCachePolicy policy, KernelCachePolicy::Parse(o.policy));
  const std::string dir = (std::filesystem::temp_directory_path() / fmt::format("tare_sweep_{}", getpid())).string();
  std::vector<SweepPoint> points;
  bool growing = false;
  for (int width : {32, 64, 128, 256, 512, 1024}) {
    const DenseModelSize size{4, width};
    TARE_RETURN_IF_ERROR(WriteDenseModel(dir, size));
    EagerContext context({.threads = o.threads, .kernel_cache = policy});
    SoakOptions options;
    options.cycles = o.cycles;
    Refusals refusals;
    auto result = RunSoak(options, {{dir, [&](int) { return Cycle(context, dir, {}, false, refusals); }}});
    std::error_code ignored;
    std::filesystem::remove_all(dir, ignored);
    if (!result.ok()) return std::move(result).status();
    const MeterVerdict* live = result->verdict.Find(Meter::kLiveBytes);
    const double bytes = 4.0 * size.layers * width * width;
    points.push_back({bytes, live ? live->trend.reported().slope : 0});
    growing = growing || result->verdict.judgement == Judgement::kGrowing;
    fmt::print("{:>14}   {}\n", FormatAmount(bytes, "B", false), result->verdict.summary);
  }
  fmt::print("{}\n", FitSweep(points).ToString());
  return growing ? 1 : 0;
}

Result<int> Soak(const SoakCommand& o) {
  if (o.sweep) return Sweep(o);
  if (o.models.empty()) return InvalidArgument("give a model, a folder of models, or --sweep");
  TARE_ASSIGN_OR_RETURN(KernelCachePolicy policy, KernelCachePolicy::Parse(o.policy));
  TARE_ASSIGN_OR_RETURN(std::vector<std::string> models, FindModels(o.models));
  EagerContext context({.threads = o.threads, .kernel_cache = policy});
  SoakOptions options;
  options.cycles = o.cycles;
  options.sources.model_roots = models;
  options.sources.ledger = [&](std::span<int64_t, kKindCount> sum) {
    for (size_t k = 0; k < kKindCount; ++k) sum[k] += context.account()->bytes(static_cast<Kind>(k));
  };
  options.sources.kernel_cache = [&] {
    KernelCacheStats s = context.kernel_cache().stats();
    return CacheFigures{static_cast<int64_t>(s.entries), static_cast<int64_t>(s.bytes)};
  };
  options.cache_ops = [&] {
    std::vector<Share> shares;
    for (const auto& r : context.kernel_cache().report()) {
      shares.push_back({r.varying_attribute.empty() ? r.op : fmt::format("{} ({} varies)", r.op, r.varying_attribute),
                        static_cast<double>(r.entries)});
    }
    return shares;
  };
  options.context = {{"kernel cache", policy.ToString()}, {"threads", std::to_string(context.threads().threads())}};
  if (!o.quiet) {
    options.progress = [&](const Sample& s) {
      if ((s.cycle + 1) % std::max(1, o.cycles / 20) != 0 && s.cycle + 1 != o.cycles) return;
      fmt::print(stderr, "\r  cycle {} of {}: {} live bytes", s.cycle + 1, o.cycles, s[Meter::kLiveBytes]);
      if (s.cycle + 1 == o.cycles) fmt::print(stderr, "\n");
    };
  }
  std::vector<SoakTarget> targets;
  Refusals refusals;
  for (const std::string& m : models) {
    TARE_ASSIGN_OR_RETURN(std::vector<Golden> goldens, ReadGoldens(context, o.goldens, m));
    targets.push_back({m, [&, m, goldens = std::move(goldens)](int) {
                         return Cycle(context, m, goldens, o.allow_errors, refusals);
                       }});
  }
  TARE_ASSIGN_OR_RETURN(SoakResult result, RunSoak(options, targets));
  for (const auto& [what, refusal] : refusals) {
    result.context.emplace_back(fmt::format("{} of {} runs refused", refusal.runs, o.cycles), fmt::format("{}: {}", what, refusal.first));
  }
  for (const auto& r : context.kernel_cache().report()) {
    if (!r.warning.empty()) fmt::print(stderr, "kernel cache: {}\n", r.warning);
  }
  PrintRefusals(refusals);
  Print(result);
  if (!o.json.empty()) TARE_RETURN_IF_ERROR(WriteText(o.json, ToJson(result)));
  if (!o.html.empty()) {
    LabelledResult before;
    SoakResult other;
    if (!o.compare.empty()) {
      TARE_ASSIGN_OR_RETURN(std::string text, ReadText(o.compare));
      auto read = FromJson(text);
      if (!read.ok()) return std::move(read).status().At(o.compare);
      other = *std::move(read);
      before = {"before", &other};
    }
    TARE_RETURN_IF_ERROR(WriteText(o.html, ToHtml({o.compare.empty() ? "this run" : "after", &result}, before)));
    fmt::print("report: {}\n", o.html);
  }
  return result.verdict.exit_status();
}

}  // namespace

void AddSoak(CLI::App& app, Run* run) {
  auto o = std::make_shared<SoakCommand>();
  CLI::App* c = app.add_subcommand("soak", "Load, run and unload models in a loop and prove that nothing stays");
  c->add_option("models", o->models, "SavedModels, or folders of them");
  c->add_flag("--sweep", o->sweep, "Soak generated models of growing size: is what is left constant?");
  c->add_option("--cycles", o->cycles, "Rounds of all models in turn")->capture_default_str()->check(CLI::Range(1, 10'000'000));
  c->add_option("--json", o->json, "Write the samples and the verdict to FILE");
  c->add_option("--html", o->html, "Write the report, one page with the curve of each heap, to FILE");
  c->add_option("--compare", o->compare, "Overlay the run that --json wrote to this file (before, after)");
  c->add_option("--kernel-cache", o->policy, "unbounded, lru:ENTRIES[,BYTES], or lru (handle makers never cached)")
      ->capture_default_str();
  c->add_option("--threads", o->threads, "Threads that work at once; 0: one per core");
  c->add_option("--golden", o->goldens, "Feed the inputs recorded in DIR/NAME of a model and check its answers; "
                "without them inputs are made up")
      ->allow_extra_args(false);
  c->add_flag("--allow-errors", o->allow_errors, "A load that fails is a cycle too: it must leave nothing behind");
  c->add_flag("--quiet", o->quiet, "No progress");
  c->footer("Example:\n  tare soak examples/demo/models/en --cycles 1000 --html report.html\n"
            "  tare soak MODEL --kernel-cache unbounded --json before.json\n"
            "  tare soak MODEL --compare before.json --html report.html\n\n"
            "Exit status: 0 flat, 1 growing, 2 inconclusive, 3 error.");
  c->callback([o, run] {
    *run = [o] {
      auto status = Soak(*o);
      if (status.ok()) return *status;
      fmt::print(stderr, "tare soak: {}\n", status.status().ToString());
      return kExitError;
    };
  });
}

}  // namespace tare
