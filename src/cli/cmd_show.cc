// `tare show`: what a model is, and what Tare lacks to run it.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "op/op_def.h"
#include "saved_model/inspect.h"

namespace tare {
namespace {

struct ShowOptions {
  std::string model;
  std::vector<std::string> tags;
  bool json = false;
  bool ops = false;
};

nlohmann::json ToJson(const std::map<std::string, TensorInfo, std::less<>>& infos) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [key, info] : infos) {
    nlohmann::json& t = out[key];
    t["dtype"] = DTypeName(info.dtype);
    if (info.unknown_rank) t["shape"] = nullptr;
    else t["shape"] = info.dims;
    if (info.sparse()) t["sparse"] = true;
    t["tensor"] = info.name;
  }
  return out;
}

nlohmann::json ToJson(const ShowOptions& o, const ModelInfo& info) {
  nlohmann::json signatures = nlohmann::json::object();
  for (const auto& [name, s] : info.signatures) {
    signatures[name] = {{"inputs", ToJson(s.inputs)}, {"outputs", ToJson(s.outputs)}, {"method", s.method_name}};
  }
  return {{"model", o.model},
          {"tag_sets", info.tag_sets},
          {"tensorflow_version", info.tensorflow_version},
          {"signatures", signatures},
          {"functions", info.functions},
          {"variables", {{"count", info.variables}, {"bytes", info.variable_bytes}}},
          {"tables", info.tables},
          {"assets", info.assets},
          {"ops", info.ops},
          {"missing_ops", info.missing_ops}};
}

void PrintPorts(const char* title, const std::map<std::string, TensorInfo, std::less<>>& infos) {
  for (const auto& [key, info] : infos) {
    fmt::print("    {:<8}{:<28} {}{}\n", title, key, info.ToString(), info.sparse() ? " (sparse)" : "");
  }
}

std::string Join(const std::vector<std::string>& words) {
  std::string s;
  for (const std::string& w : words) s += (s.empty() ? "" : " ") + w;
  return s.empty() ? "none" : s;
}

void Print(const ShowOptions& o, const ModelInfo& info) {
  fmt::print("{}\n  written by TensorFlow {}\n  tag sets:", o.model, info.tensorflow_version);
  for (const auto& tags : info.tag_sets) fmt::print(" {{{}}}", Join(tags));
  fmt::print("\n  variables: {} ({:.2f} MB)   functions: {}\n  tables: {}\n  assets: {}\n", info.variables,
             static_cast<double>(info.variable_bytes) / 1e6, info.functions, Join(info.tables), Join(info.assets));
  for (const auto& [name, s] : info.signatures) {
    fmt::print("  signature {}{}{}\n", name, s.method_name.empty() ? "" : "  ", s.method_name);
    PrintPorts("input", s.inputs);
    PrintPorts("output", s.outputs);
  }
  size_t nodes = 0;
  for (const auto& [op, n] : info.ops) nodes += n;
  fmt::print("  ops reached: {} of {} kinds\n", nodes, info.ops.size());
  if (o.ops) {
    for (const auto& [op, n] : info.ops) fmt::print("    {:<40}{:>7}\n", op, n);
  }
  if (info.missing_ops.empty()) fmt::print("  Tare has a kernel for each of them\n");
  else fmt::print("  Tare has no kernel for: {}\n", Join(info.missing_ops));
}

int Show(const ShowOptions& o) {
  OpRegistry ops(MakeRef<Account>("tare show"));
  KernelRegistry kernels;
  auto info = InspectModel(o.model, o.tags, ops, kernels);
  if (!info.ok()) {
    fmt::print(stderr, "tare show: {}\n", info.status().ToString());
    return kExitError;
  }
  if (o.json) fmt::print("{}\n", ToJson(o, *info).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else Print(o, *info);
  return 0;
}

}  // namespace

void AddShow(CLI::App& app, Run* run) {
  auto o = std::make_shared<ShowOptions>();
  CLI::App* c = app.add_subcommand("show", "Tell what a model is: tags, signatures, variables, tables, ops");
  c->add_option("model", o->model, "Directory of a SavedModel")->required();
  c->add_option("--tag", o->tags, "Tag of the meta graph (repeat for a set)")->allow_extra_args(false);
  c->add_flag("--ops", o->ops, "List every op reached, with its count");
  c->add_flag("--json", o->json, "Print JSON");
  c->footer("Example:\n  tare show examples/demo/models/en\n\nExit status: 0, or 3 when the model cannot be read.");
  c->callback([o, run] { *run = [o] { return Show(*o); }; });
}

}  // namespace tare
