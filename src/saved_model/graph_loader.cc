#include "saved_model/graph_loader.h"

#include <sys/stat.h>

#include <algorithm>

namespace tare {

Result<std::vector<Signature>> GraphLoader::Load() {
  struct stat st;
  const std::string prefix = dir_ + "/variables/variables";
  // A model without variables may carry a saver but no checkpoint.
  if (meta_.has_saver && !meta_.saver_restore_op.empty() && stat((prefix + ".index").c_str(), &st) == 0) {
    TARE_ASSIGN_OR_RETURN(Tensor filename, scope_.StringTensor(prefix));
    TARE_RETURN_IF_ERROR(RunOnce(meta_.saver_restore_op, meta_.saver_filename_tensor, std::move(filename)));
  }
  if (!meta_.init_op.empty()) TARE_RETURN_IF_ERROR(RunOnce(meta_.init_op, "", {}));
  std::vector<Signature> signatures;
  if (!scope_.build_signatures) return signatures;
  for (const auto& [name, def] : meta_.signatures) {
    auto s = BuildSignature(name, def);
    TARE_RETURN_IF_ERROR(AddSignature(name, std::move(s), &signatures));
  }
  return signatures;
}

Status GraphLoader::RunOnce(std::string_view target, const std::string& fed_name, Tensor fed_value) {
  std::vector<std::string> feeds;
  std::vector<Tensor> values;
  std::vector<DType> types;
  if (!fed_name.empty()) {
    feeds.push_back(fed_name);
    values.push_back(std::move(fed_value));
  }
  for (const AssetDef& a : meta_.assets) {
    auto path = AssetPath(dir_, a);
    // One that is missing matters only to an initialiser that reads it, which then says so.
    if (!path.ok() && path.status().code() != Code::kNotFound) return std::move(path).status();
    TARE_ASSIGN_OR_RETURN(Tensor value, scope_.StringTensor(path.ok() ? *path : dir_ + "/assets/" + a.filename));
    feeds.push_back(a.tensor_name);
    values.push_back(std::move(value));
  }
  types.assign(values.size(), DType::kString);
  TARE_ASSIGN_OR_RETURN(const Graph* graph, scope_.graph.Import(feeds, {}, std::vector{std::string(target)}));
  // The plan goes at once, and with it constants that only restoring needs.
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, scope_.builder.Build(*graph, {}, types));
  return plan->Run(scope_.run_context(), values, {});
}

Result<Signature> GraphLoader::BuildSignature(const std::string& name, const SignatureDef& def) {
  Signature s;
  s.name = name;
  s.method_name = def.method_name;
  std::vector<std::string> feeds, fetches;
  std::vector<DType> types;
  // A sparse tensor is three: the golden files and clients name them NAME/indices, /values, /shape.
  auto add = [](std::vector<SignaturePort>* ports, std::vector<std::string>* tensors, const std::string& key,
                const TensorInfo& info) {
    auto port = [&](std::string suffix, DType dtype, const std::string& tensor, bool unknown, std::vector<int64_t> dims) {
      ports->push_back({key + suffix, dtype, unknown, std::move(dims), {}});
      tensors->push_back(tensor);
    };
    if (!info.sparse()) return port("", info.dtype, info.name, info.unknown_rank, info.dims);
    port("/indices", DType::kInt64, info.indices_name, false, {-1, -1});
    port("/values", info.dtype, info.name, false, {-1});
    port("/shape", DType::kInt64, info.shape_name, false, {-1});
  };
  for (const auto& [key, info] : def.inputs) add(&s.inputs, &feeds, key, info);
  for (const auto& [key, info] : def.outputs) add(&s.outputs, &fetches, key, info);
  for (SignaturePort& p : s.inputs) {
    types.push_back(p.dtype);
    auto value = def.defaults.find(p.name);
    if (value != def.defaults.end()) {
      TARE_ASSIGN_OR_RETURN(p.default_value, wire::ReadTensor(value->second, scope_.tensors));
    }
  }
  TARE_ASSIGN_OR_RETURN(const Graph* graph, scope_.graph.Import(feeds, fetches, {}));
  for (size_t i = 0; i < types.size(); ++i) {
    if (graph->arg_types[i] != DType::kInvalid) types[i] = s.inputs[i].dtype = graph->arg_types[i];
  }
  TARE_ASSIGN_OR_RETURN(s.plan, scope_.Keep(scope_.builder.Build(*graph, {}, types)));
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    DType built = s.plan->return_types()[i];
    if (s.outputs[i].dtype != built && built != DType::kInvalid) s.outputs[i].dtype = built;
  }
  return s;
}

}  // namespace tare
