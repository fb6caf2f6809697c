// `tare verify`: replays recorded outputs, a line a model.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/passes_option.h"
#include "cli/golden.h"

namespace tare {
namespace {

struct VerifyOptions {
  std::vector<std::string> paths;
  std::vector<std::string> tags;
  bool all = false, json = false;
  Tolerance tolerance;
  std::string loader = "auto";
  int threads = 0;
  PassOptions passes;
};

struct Outcome {
  std::string model, status, detail;
};

LoadOptions ToLoadOptions(const VerifyOptions& o) {
  LoadOptions load;
  load.tags = o.tags;
  load.passes = o.passes;
  if (o.loader == "graph") load.loader = LoadOptions::Loader::kGraph;
  if (o.loader == "objects") load.loader = LoadOptions::Loader::kObjects;
  return load;
}

// One fresh load; the goldens in turn, since some models keep state.
Status VerifyModel(EagerContext& context, const VerifyOptions& o, const std::string& dir,
                   const std::vector<std::string>& goldens) {
  TARE_ASSIGN_OR_RETURN(std::vector<std::string> files, GoldenFiles(goldens));
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::Load(context, dir, ToLoadOptions(o)));
  for (const std::string& file : files) {
    TARE_ASSIGN_OR_RETURN(Golden golden, ReadGolden(context.account(), file));
    TARE_RETURN_IF_ERROR(ReplayGolden(*model, golden, o.tolerance));
  }
  Receipt receipt = model->Unload();
  if (receipt.total_held() != 0) return Internal("unloading left {} bytes behind", receipt.total_held());
  return OkStatus();
}

Outcome Judge(EagerContext& context, const VerifyOptions& o, const std::string& name, const std::string& dir,
              const std::vector<std::string>& goldens) {
  Status s = VerifyModel(context, o, dir, goldens);
  if (s.ok()) return {name, "pass", ""};
  const bool unsupported = s.code() == Code::kUnimplemented;
  const bool differs = s.message().find("expected ") != s.message().npos || s.message().find("differ") != s.message().npos;
  return {name, unsupported ? "unsupported" : differs ? "fail" : "error", s.ToString()};
}

int Verify(const VerifyOptions& o) {
  EagerContext context({.threads = o.threads});
  std::vector<Outcome> outcomes;
  auto report = [&](Outcome outcome) {
    if (!o.json) fmt::print("{:<12}{}{}{}\n", outcome.status, outcome.model, outcome.detail.empty() ? "" : "  ", outcome.detail);
    std::fflush(stdout);
    outcomes.push_back(std::move(outcome));
  };
  if (o.all) {
    if (o.paths.size() != 2) {
      fmt::print(stderr, "tare verify: --all takes MODELS_DIR and GOLDEN_DIR\n");
      return kExitError;
    }
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(o.paths[0], error)) {
      std::string name = entry.path().filename().string();
      if (std::filesystem::is_directory(o.paths[1] + "/" + name)) names.push_back(name);
    }
    std::ranges::sort(names);
    if (names.empty()) {
      fmt::print(stderr, "tare verify: no model in {} has goldens in {}\n", o.paths[0], o.paths[1]);
      return kExitError;
    }
    for (const std::string& name : names) {
      report(Judge(context, o, name, o.paths[0] + "/" + name, {o.paths[1] + "/" + name}));
    }
  } else {
    if (o.paths.size() < 2) {
      fmt::print(stderr, "tare verify: give a model and its golden files\n");
      return kExitError;
    }
    report(Judge(context, o, o.paths[0], o.paths[0], {o.paths.begin() + 1, o.paths.end()}));
  }
  const auto passed = std::ranges::count(outcomes, "pass", &Outcome::status);
  const auto failed = static_cast<std::ptrdiff_t>(outcomes.size()) - passed;
  if (o.json) {
    nlohmann::json models = nlohmann::json::array();
    for (const Outcome& x : outcomes) models.push_back({{"model", x.model}, {"status", x.status}, {"detail", x.detail}});
    nlohmann::json out = {{"models", models}, {"passed", passed}, {"failed", failed}};
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{} passed, {} failed\n", passed, failed);
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

void AddVerify(CLI::App& app, Run* run) {
  auto o = std::make_shared<VerifyOptions>();
  CLI::App* c = app.add_subcommand("verify", "Replay outputs recorded from TensorFlow and compare");
  c->add_option("paths", o->paths, "MODEL GOLDEN.npz...; with --all: MODELS_DIR GOLDEN_DIR")->required();
  c->add_flag("--all", o->all, "Every model of a folder that has goldens of its name in the other");
  c->add_option("--tag", o->tags, "Tag of the meta graph (repeat for a set)")->allow_extra_args(false);
  c->add_option("--rtol", o->tolerance.relative, "Relative tolerance of float outputs")->capture_default_str();
  c->add_option("--atol", o->tolerance.absolute, "Absolute tolerance of float outputs")->capture_default_str();
  c->add_option("--loader", o->loader, "auto, objects or graph")->check(CLI::IsMember({"auto", "objects", "graph"}));
  c->add_option("--threads", o->threads, "Threads that work at once; 0: one per core");
  AddPassesOption(*c, &o->passes);
  c->add_flag("--json", o->json, "Print JSON");
  c->footer("Example:\n  tools/record_golden.py my_model --out golden   # with TensorFlow\n"
            "  tare verify my_model golden/*.npz\n\n"
            "Integers, strings and bools must be equal; bfloat16 and half are given 2e-2 and 2e-3,\n"
            "and floats that were computed in bfloat16 8e-3.\n"
            "Exit status: 0 all pass, 1 some do not, 3 error.");
  c->callback([o, run] { *run = [o] { return Verify(*o); }; });
}

}  // namespace tare
