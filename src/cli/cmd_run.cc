// `tare run`: one call of a signature.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/passes_option.h"
#include "cli/npz.h"
#include "cli/values.h"
#include "saved_model/model.h"

namespace tare {
namespace {

struct RunOptions {
  std::string model, signature = "serving_default";
  std::vector<std::string> tags, inputs, input_nodes, output_nodes;
  std::string inputs_file, output_file;
  int threads = 0;
  PassOptions passes;
  bool json = false, receipt = false, read_files = false;
};

Result<NamedTensors> ReadInputs(const RunOptions& o, const Ref<Account>& account, const Signature& s) {
  NamedTensors inputs;
  if (!o.inputs_file.empty()) {
    TARE_ASSIGN_OR_RETURN(NpzArrays arrays, ReadNpzFile(account, o.inputs_file));
    // A recorded golden's inputs will do.
    for (auto& [key, t] : arrays) {
      if (key.starts_with("out/")) continue;
      inputs.insert_or_assign(key.starts_with("in/") ? key.substr(3) : key, std::move(t));
    }
  }
  for (const std::string& text : o.inputs) {
    size_t equals = text.find('=');
    if (equals == text.npos) return InvalidArgument("--input {}: expected NAME=VALUE", text);
    const std::string name = text.substr(0, equals);
    auto port = std::ranges::find(s.inputs, name, &SignaturePort::name);
    if (port == s.inputs.end()) {
      std::string names;
      for (const SignaturePort& p : s.inputs) names += " " + p.name;
      return InvalidArgument("--input {}: signature '{}' has no such input; it has:{}", name, s.name, names);
    }
    auto value = TensorFromText(account, std::string_view(text).substr(equals + 1), port->dtype, port->shape());
    if (!value.ok()) return std::move(value).status().At(fmt::format("--input {}", name));
    inputs.insert_or_assign(name, *std::move(value));
  }
  return inputs;
}

Status RunOnce(const RunOptions& o) {
  EagerContext context({.threads = o.threads});
  LoadOptions load;
  load.tags = o.tags;
  load.passes = o.passes;
  load.inputs = o.input_nodes;
  load.outputs = o.output_nodes;
  if (o.read_files) load.files = MappedFile::Mode::kRead;
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::Load(context, o.model, load));
  const Signature* s = model->FindSignature(o.signature);
  if (!s) {
    std::string names;
    for (const Signature& x : model->signatures()) names += " " + x.name;
    return NotFound("{} has no signature '{}'; it has:{}", o.model, o.signature, names.empty() ? " none" : names);
  }
  TARE_ASSIGN_OR_RETURN(NamedTensors inputs, ReadInputs(o, context.account(), *s));
  TARE_ASSIGN_OR_RETURN(NamedTensors outputs, model->Run(*s, inputs));
  if (!o.output_file.empty()) {
    NpzArrays arrays(outputs.begin(), outputs.end());
    TARE_RETURN_IF_ERROR(WriteNpzFile(o.output_file, arrays));
  } else if (o.json) {
    nlohmann::json out = nlohmann::json::object();
    for (const auto& [name, t] : outputs) {
      out[name] = {{"dtype", DTypeName(t.dtype())}, {"shape", t.shape().dims()}, {"value", TensorToJson(t)}};
    }
    fmt::print("{}\n", out.dump());
  } else {
    for (const auto& [name, t] : outputs) {
      fmt::print("{} {} {} = {}\n", name, DTypeName(t.dtype()), t.shape().ToString(), TensorToText(t));
    }
  }
  if (o.receipt) {
    outputs.clear();
    fmt::print(stderr, "{}", model->Unload().ToString());
  }
  return OkStatus();
}

}  // namespace

void AddRun(CLI::App& app, Run* run) {
  auto o = std::make_shared<RunOptions>();
  CLI::App* c = app.add_subcommand("run", "Run one signature of a model and print its outputs");
  c->add_option("model", o->model, "Directory of a SavedModel, or the .pb file of a frozen graph")->required();
  c->add_option("--input-node", o->input_nodes, "Frozen graph: node that is fed (all placeholders)")->allow_extra_args(false);
  c->add_option("--output-node", o->output_nodes, "Frozen graph: node that is fetched (those nobody reads)")
      ->allow_extra_args(false);
  c->add_option("--signature", o->signature, "Signature to run")->capture_default_str();
  c->add_option("--tag", o->tags, "Tag of the meta graph (repeat for a set)")->allow_extra_args(false);
  c->add_option("--input", o->inputs, "NAME=VALUE; VALUE is JSON, a bare string, or @FILE.npy")->allow_extra_args(false);
  c->add_option("--inputs", o->inputs_file, "Inputs by name from FILE.npz");
  c->add_option("--output", o->output_file, "Write the outputs to FILE.npz instead of printing them");
  c->add_option("--threads", o->threads, "Threads that work at once; 0: one per core");
  c->add_flag("--read-files", o->read_files, "Read model files into memory instead of mapping them");
  c->add_flag("--receipt", o->receipt, "Print what unloading gave back");
  AddPassesOption(*c, &o->passes);
  c->add_flag("--json", o->json, "Print JSON");
  c->footer("Example:\n  tare run examples/demo/models/en --input 'text=[[\"sunny with a light breeze\"]]'\n\n"
            "Exit status: 0, or 3 on an error.");
  c->callback([o, run] {
    *run = [o] {
      Status s = RunOnce(*o);
      if (s.ok()) return 0;
      fmt::print(stderr, "tare run: {}\n", s.ToString());
      return kExitError;
    };
  });
}

}  // namespace tare
