// `tare bench`: what a model costs, from the first load to the steady run: time by phase, latency, throughput
// over batch sizes and threads, memory at each phase, and with --profile the time of every node.
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/passes_option.h"
#include "cli/golden.h"
#include "cli/step_profile.h"
#include "saved_model/model.h"
#include "soak/allocation_counter.h"
#include "soak/probe.h"

namespace tare {
namespace {

using Json = nlohmann::ordered_json;

struct BenchOptions {
  std::string model, signature = "serving_default";
  std::vector<int> batches = {1}, threads = {1};
  int cycles = 5, runs = 0;
  double seconds = 1;
  bool profile = false, json = false;
  PassOptions passes;
};

double NowMs() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Percentile(std::vector<double> v, double p) {
  std::ranges::sort(v);
  return v.empty() ? 0 : v[std::min(v.size() - 1, static_cast<size_t>(p * static_cast<double>(v.size())))];
}

// Inputs any model should take, with `batch` in place of an unknown first dimension.
Result<NamedTensors> BatchInputs(const Ref<Account>& account, const Signature& signature, int batch) {
  Signature sized = signature;
  for (SignaturePort& p : sized.inputs) {
    if (!p.unknown_rank && !p.dims.empty() && p.dims[0] < 0) p.dims[0] = batch;
  }
  return MakeInputs(account, sized);
}

Result<const Signature*> Find(const Model& model, const std::string& name) {
  const Signature* s = model.FindSignature(name);
  if (!s) return NotFound("{} has no signature '{}'", model.path(), name);
  return s;
}

// Load, first run and unload, each in milliseconds, over a few cycles; memory in the last one, in bytes.
Result<Json> ColdCycle(const BenchOptions& o) {
  EagerContext context({.threads = o.threads[0]});
  const Probe probe{ProbeSources{}};
  std::vector<double> load, first, unload;
  Json memory;
  for (int i = 0; i < std::max(o.cycles, 1); ++i) {
    auto measure = [&](const char* phase, const Model* model) {
      const Sample s = probe.Read(i);
      memory[phase] = {{"heap", CountHeap().bytes}, {"private_dirty", s[Meter::kPrivateDirty]},
                       {"account", model ? model->account().total() : 0}};
    };
    measure("before", nullptr);
    const double t0 = NowMs();
    TARE_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::Load(context, o.model, {.passes = o.passes}));
    load.push_back(NowMs() - t0);
    measure("loaded", model.get());
    TARE_ASSIGN_OR_RETURN(const Signature* s, Find(*model, o.signature));
    TARE_ASSIGN_OR_RETURN(NamedTensors inputs, BatchInputs(context.account(), *s, o.batches[0]));
    const double t1 = NowMs();
    TARE_ASSIGN_OR_RETURN(NamedTensors outputs, model->Run(*s, inputs));
    first.push_back(NowMs() - t1);
    measure("run", model.get());
    outputs.clear();
    inputs.clear();
    memory["peak_account"] = model->account().peak();
    const double t2 = NowMs();
    model.reset();
    unload.push_back(NowMs() - t2);
    measure("unloaded", nullptr);
  }
  auto phase = [](const std::vector<double>& v) { return Json{{"cold", v[0]}, {"median", Percentile(v, 0.5)}}; };
  return Json{{"load_ms", phase(load)}, {"first_run_ms", phase(first)}, {"unload_ms", phase(unload)}, {"memory", memory}};
}

Result<Json> Steady(const BenchOptions& o, Model& model, int threads, int batch) {
  TARE_ASSIGN_OR_RETURN(const Signature* s, Find(model, o.signature));
  TARE_ASSIGN_OR_RETURN(NamedTensors inputs, BatchInputs(model.context().account(), *s, batch));
  std::vector<Tensor> ordered;
  for (const SignaturePort& p : s->inputs) ordered.push_back(inputs.contains(p.name) ? inputs[p.name] : Tensor());
  for (int i = 0; i < 3; ++i) TARE_RETURN_IF_ERROR(model.Run(*s, ordered).status());
  std::vector<double> times;
  const double end = NowMs() + o.seconds * 1000;
  while (o.runs > 0 ? static_cast<int>(times.size()) < o.runs : NowMs() < end || times.size() < 5) {
    const double t = NowMs();
    TARE_RETURN_IF_ERROR(model.Run(*s, ordered).status());
    times.push_back(NowMs() - t);
  }
  const double p50 = Percentile(times, 0.5);
  Json row = {{"threads", threads}, {"batch", batch}, {"runs", times.size()}, {"min_ms", Percentile(times, 0)},
              {"p50_ms", p50}, {"p90_ms", Percentile(times, 0.9)}, {"p99_ms", Percentile(times, 0.99)},
              {"items_per_s", batch * 1000 / p50}};
  if (o.profile) {
    StepProfile profile;
    constexpr int kProfiledRuns = 5;
    for (int i = 0; i < kProfiledRuns; ++i) TARE_RETURN_IF_ERROR(model.Run(*s, ordered, &profile).status());
    row["profile"] = profile.ToJson(kProfiledRuns);
  }
  return row;
}

Result<Json> Measure(const BenchOptions& o) {
  Json report;
  report["model"] = o.model;
  TARE_ASSIGN_OR_RETURN(report["cold"], ColdCycle(o));
  report["steady"] = Json::array();
  for (int threads : o.threads) {
    EagerContext context({.threads = threads});
    TARE_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::Load(context, o.model, {.passes = o.passes}));
    for (int batch : o.batches) {
      TARE_ASSIGN_OR_RETURN(Json row, Steady(o, *model, threads, batch));
      report["steady"].push_back(std::move(row));
    }
  }
  return report;
}

void PrintProfile(const Json& profile) {
  fmt::print("  by op:\n");
  for (const Json& x : profile["ops"]) {
    fmt::print("  {:10.1f} us {:5.1f} % {:5} x {}\n", x["us"].get<double>(), x["percent"].get<double>(),
               x["count"].get<int>(), x["op"].get<std::string>());
  }
  fmt::print("  by node:\n");
  for (const Json& x : profile["nodes"]) {
    fmt::print("  {:10.1f} us {:>7} {} {} {}\n", x["us"].get<double>(),
               x.contains("gflops") ? fmt::format("{:.1f}", x["gflops"].get<double>()) : "", x["op"].get<std::string>(),
               x["node"].get<std::string>(), x["shapes"].get<std::string>());
  }
}

void Print(const Json& r) {
  const Json& cold = r["cold"];
  fmt::print("{:<12}{:>12}{:>12}\n", "phase", "cold ms", "median ms");
  for (const char* phase : {"load", "first_run", "unload"}) {
    const Json& x = cold[fmt::format("{}_ms", phase)];
    fmt::print("{:<12}{:>12.3f}{:>12.3f}\n", phase, x["cold"].get<double>(), x["median"].get<double>());
  }
  fmt::print("\n{:<12}{:>14}{:>14}{:>14}\n", "memory KiB", "heap", "dirty", "account");
  for (const char* phase : {"before", "loaded", "run", "unloaded"}) {
    const Json& x = cold["memory"][phase];
    fmt::print("{:<12}{:>14}{:>14}{:>14}\n", phase, x["heap"].get<int64_t>() >> 10,
               x["private_dirty"].get<int64_t>() >> 10, x["account"].get<int64_t>() >> 10);
  }
  fmt::print("peak of the account: {} KiB\n", cold["memory"]["peak_account"].get<int64_t>() >> 10);
  fmt::print("\n{:>8}{:>7}{:>11}{:>11}{:>11}{:>11}{:>12}\n", "threads", "batch", "min ms", "p50 ms", "p90 ms", "p99 ms",
             "items/s");
  for (const Json& x : r["steady"]) {
    fmt::print("{:>8}{:>7}{:>11.4f}{:>11.4f}{:>11.4f}{:>11.4f}{:>12.1f}\n", x["threads"].get<int>(), x["batch"].get<int>(),
               x["min_ms"].get<double>(), x["p50_ms"].get<double>(), x["p90_ms"].get<double>(), x["p99_ms"].get<double>(),
               x["items_per_s"].get<double>());
    if (x.contains("profile")) PrintProfile(x["profile"]);
  }
}

int Bench(const BenchOptions& o) {
  auto report = Measure(o);
  if (!report.ok()) {
    fmt::print(stderr, "tare bench: {}\n", report.status().ToString());
    return kExitError;
  }
  if (o.json) fmt::print("{}\n", report->dump(2));
  else Print(*report);
  return 0;
}

}  // namespace

void AddBench(CLI::App& app, Run* run) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App* c = app.add_subcommand("bench", "Measure a model: cold cycle, latency, throughput, memory, time by node");
  c->add_option("model", o->model, "Directory of a SavedModel, or the .pb file of a frozen graph")->required();
  c->add_option("--signature", o->signature, "Signature to run")->capture_default_str();
  c->add_option("--batch", o->batches, "Batch sizes, for inputs whose first dimension is free")->delimiter(',');
  c->add_option("--threads", o->threads, "Numbers of threads")->delimiter(',');
  c->add_option("--cycles", o->cycles, "Cold cycles: load, first run, unload")->capture_default_str();
  c->add_option("--seconds", o->seconds, "How long to run steadily, a combination")->capture_default_str();
  c->add_option("--runs", o->runs, "This many steady runs instead");
  c->add_flag("--profile", o->profile, "Time and GFLOP/s of every node");
  AddPassesOption(*c, &o->passes);
  c->add_flag("--json", o->json, "Print JSON");
  c->footer("Example:\n  tare bench my_model --batch 1,8 --threads 1,2 --profile");
  c->callback([o, run] { *run = [o] { return Bench(*o); }; });
}

}  // namespace tare
