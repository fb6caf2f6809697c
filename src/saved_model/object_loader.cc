#include "saved_model/object_loader.h"

#include <algorithm>

#include "resource/variable.h"

namespace tare {
namespace {

constexpr std::string_view kValueAttribute = "VARIABLE_VALUE";
constexpr std::string_view kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

}  // namespace

Result<std::vector<Signature>> ObjectLoader::Load() {
  TARE_ASSIGN_OR_RETURN(objects_, ReadObjectGraph(meta_.object_graph));
  if (objects_.nodes.empty()) return InvalidArgument("the object graph has no nodes");
  captures_.resize(objects_.nodes.size());
  in_progress_.resize(objects_.nodes.size());
  TARE_RETURN_IF_ERROR(OpenCheckpoint());
  std::vector<Signature> signatures;
  int32_t map = objects_.nodes[0].Child("signatures");
  if (map < 0) return signatures;
  for (const ObjectChild& c : objects_.nodes[map].children) {
    if (objects_.nodes[c.node].what != What::kBareFunction) continue;
    auto s = BuildSignature(c.name, c.node);
    TARE_RETURN_IF_ERROR(AddSignature(c.name, std::move(s), &signatures));
  }
  TARE_RETURN_IF_ERROR(InitializeResources());
  std::ranges::sort(signatures, {}, &Signature::name);
  return signatures;
}

Status ObjectLoader::Reopen(const Resources& made) {
  TARE_ASSIGN_OR_RETURN(objects_, ReadObjectGraph(meta_.object_graph));
  captures_.resize(objects_.nodes.size());
  in_progress_.resize(objects_.nodes.size());
  for (const auto& [node, value] : made) captures_[node] = value;
  return OpenCheckpoint();
}

ObjectLoader::Resources ObjectLoader::TakeResources() {
  Resources made;
  for (size_t i = 0; i < captures_.size(); ++i) {
    if (captures_[i].dtype() == DType::kResource) made.emplace(static_cast<int32_t>(i), captures_[i]);
  }
  return made;
}

Result<const Plan*> ObjectLoader::Function(std::string_view name) {
  TARE_ASSIGN_OR_RETURN(const Plan* plan, FunctionPlan(name));
  TARE_RETURN_IF_ERROR(InitializeResources());
  return plan;
}

Status ObjectLoader::OpenCheckpoint() {
  auto bundle = scope_.files.Get(dir_ + "/variables/variables");
  if (!bundle.ok()) {
    if (bundle.status().code() != Code::kNotFound) return std::move(bundle).status();
    no_bundle_ = std::move(bundle).status();
    return OkStatus();
  }
  bundle_ = *bundle;
  TARE_ASSIGN_OR_RETURN(Tensor graph, bundle_->Read(kObjectGraphKey, Kind::kGraphs));
  if (graph.dtype() != DType::kString || graph.num_elements() != 1) {
    return DataLoss("{}: {} is no scalar string", bundle_->prefix(), kObjectGraphKey);
  }
  // Its names are views of the tensor's bytes: keep a copy with the model.
  std::string_view bytes = scope_.region.CopyString(graph.scalar<StringCell>().view());
  auto checkpoint = ReadCheckpointGraph(bytes);
  if (!checkpoint.ok()) return std::move(checkpoint).status().At(bundle_->prefix());
  checkpoint_ = *std::move(checkpoint);
  match_ = MatchObjects(objects_, checkpoint_);
  return OkStatus();
}

Result<const Plan*> ObjectLoader::FunctionPlan(std::string_view function) {
  TARE_ASSIGN_OR_RETURN(const Graph* graph, scope_.functions.Get(function));
  std::vector<Tensor> captures;
  auto info = objects_.concrete_functions.find(function);
  if (info != objects_.concrete_functions.end()) {
    const auto& bound = info->second.bound_inputs;
    if (bound.size() > graph->args.size()) {
      return InvalidArgument("function '{}' has {} arguments but captures {} objects", function, graph->args.size(),
                             bound.size());
    }
    for (size_t i = 0; i < bound.size(); ++i) {
      auto value = Capture(bound[i]);
      if (!value.ok()) return std::move(value).status().At(fmt::format("object graph: node {}", bound[i]));
      size_t arg = graph->args.size() - bound.size() + i;
      DType want = graph->arg_types[arg];
      if (want != DType::kInvalid && want != value->dtype()) {
        return InvalidArgument("function '{}': argument '{}' is {}, but captures node {}, which gives {}", function,
                               graph->arg_names[arg], DTypeName(want), bound[i], DTypeName(value->dtype()));
      }
      captures.push_back(*std::move(value));
    }
  }
  return scope_.Keep(scope_.builder.Build(*graph, captures));
}

Result<Tensor> ObjectLoader::Capture(int32_t node) {
  if (captures_[node].valid()) return captures_[node];
  if (in_progress_[node]) return InvalidArgument("the object needs itself to be made");
  in_progress_[node] = true;
  auto made = MakeCapture(node);
  in_progress_[node] = false;
  if (!made.ok()) return std::move(made).status();
  captures_[node] = *made;
  return made;
}

Result<Tensor> ObjectLoader::MakeCapture(int32_t node) {
  const SavedObject& o = objects_.nodes[node];
  switch (o.what) {
    case What::kVariable: return MakeVariable(node);
    case What::kConstant: return scope_.graph.ConstantValue(o.text);
    case What::kAsset: {
      if (o.asset_index < 0 || static_cast<size_t>(o.asset_index) >= meta_.assets.size()) {
        return InvalidArgument("asset {} of {}", o.asset_index, meta_.assets.size());
      }
      TARE_ASSIGN_OR_RETURN(std::string path, AssetPath(dir_, meta_.assets[o.asset_index]));
      return scope_.StringTensor(path);
    }
    case What::kResource: {
      TARE_ASSIGN_OR_RETURN(Tensor handle, RunChild(node, "_create_resource"));
      if (handle.dtype() != DType::kResource) {
        return InvalidArgument("'_create_resource' returns {}, not a resource", DTypeName(handle.dtype()));
      }
      uninitialized_.push_back(node);
      return handle;
    }
    default: return InvalidArgument("a function captures it, but it is no variable, table, asset or constant");
  }
}

std::string ObjectLoader::VariableResource(int32_t node) const {
  return fmt::format("{}_{}_load_{}", objects_.nodes[node].variable_name, node, scope_.load_id);
}

Result<Tensor> ObjectLoader::MakeVariable(int32_t node) {
  const SavedObject& o = objects_.nodes[node];
  if (!no_bundle_.ok()) return Status(no_bundle_).At(fmt::format("variable '{}'", o.variable_name));
  if (o.dtype == DType::kInvalid) return InvalidArgument("variable '{}' has no dtype", o.variable_name);
  // As the loader of TensorFlow does: a handle made by an eager op, named by variable and load.
  TARE_ASSIGN_OR_RETURN(EagerOp op, EagerOp::Make(scope_.context, "VarHandleOp"));
  const std::string shared_name = VariableResource(node);
  op.SetAttr("dtype", AttrValue::Type(o.dtype));
  op.SetAttr("shape", AttrValue::OfShape({o.unknown_rank, o.dims}));
  op.SetAttr("shared_name", AttrValue::String(shared_name));
  TARE_ASSIGN_OR_RETURN(std::vector<Tensor> handle, scope_.context.Execute(op, scope_.run_context()));
  TARE_ASSIGN_OR_RETURN(Ref<Variable> variable, GetResource<Variable>(handle[0]));
  const int32_t object = match_[node];
  if (object < 0 || !checkpoint_[object].keys.contains(kValueAttribute)) {
    return NotFound("variable '{}' has no value in the checkpoint {}", o.variable_name, bundle_->prefix());
  }
  auto value = bundle_->Read(checkpoint_[object].keys.at(kValueAttribute), Kind::kWeights);
  if (!value.ok()) return std::move(value).status().At(fmt::format("variable '{}'", o.variable_name));
  if (value->dtype() != o.dtype) {
    return InvalidArgument("variable '{}' is {}, the checkpoint has {}", o.variable_name, DTypeName(o.dtype),
                           DTypeName(value->dtype()));
  }
  if (PartialShape want{o.unknown_rank, o.dims}; !want.Accepts(value->shape())) {
    return InvalidArgument("variable '{}' has shape {}, the checkpoint has {}", o.variable_name, want.ToString(),
                           value->shape().ToString());
  }
  TARE_RETURN_IF_ERROR(variable->Assign(*std::move(value)));
  return std::move(handle[0]);
}

Result<std::string_view> ObjectLoader::FunctionOf(int32_t node) const {
  const SavedObject& o = objects_.nodes[node];
  if (o.what == What::kBareFunction) return o.text;
  if (o.what == What::kFunction && !o.concrete_functions.empty()) return o.concrete_functions[0];
  return InvalidArgument("object graph: node {} is no function", node);
}

Status ObjectLoader::RunFunction(std::string_view function, std::span<Tensor> inputs, std::span<Tensor> outputs) {
  TARE_ASSIGN_OR_RETURN(const Plan* plan, FunctionPlan(function));
  if (plan->num_args() != inputs.size() || plan->num_returns() < outputs.size()) {
    return InvalidArgument("function '{}' takes {} arguments and returns {} values; {} and {} are needed", function,
                           plan->num_args(), plan->num_returns(), inputs.size(), outputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (plan->arg_types()[i] != inputs[i].dtype()) {
      return InvalidArgument("function '{}' takes {} as argument {}, not {}", function, DTypeName(plan->arg_types()[i]),
                             i, DTypeName(inputs[i].dtype()));
    }
  }
  std::vector<Tensor> all(plan->num_returns());
  TARE_RETURN_IF_ERROR(plan->Run(scope_.run_context(), inputs, all));
  std::move(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(outputs.size()), outputs.begin());
  // It runs once: drop it with the constants it filled a table from.
  if (scope_.plans.back().get() == plan) scope_.plans.pop_back();
  return OkStatus();
}

Result<Tensor> ObjectLoader::RunChild(int32_t node, std::string_view child) {
  int32_t id = objects_.nodes[node].Child(child);
  if (id < 0) return InvalidArgument("the resource has no function '{}'", child);
  TARE_ASSIGN_OR_RETURN(std::string_view function, FunctionOf(id));
  Tensor output;
  TARE_RETURN_IF_ERROR(RunFunction(function, {}, {&output, 1}));
  return output;
}

Status ObjectLoader::InitializeResources() {
  // Initialisers may capture further tables, which join the list.
  for (size_t i = 0; i < uninitialized_.size(); ++i) {
    int32_t node = uninitialized_[i];
    const std::string where = fmt::format("object graph: node {}", node);
    if (int32_t id = objects_.nodes[node].Child("_initialize"); id >= 0) {
      TARE_ASSIGN_OR_RETURN(std::string_view function, FunctionOf(id));
      Status s = RunFunction(function, {}, {});
      if (!s.ok()) return std::move(s).At(where);
    }
    Status s = RestoreSaveables(node);
    if (!s.ok()) return std::move(s).At(where);
  }
  uninitialized_.clear();
  return OkStatus();
}

Status ObjectLoader::RestoreSaveables(int32_t node) {
  const SavedObject& o = objects_.nodes[node];
  if (o.saveables.empty() || !bundle_ || match_[node] < 0) return OkStatus();
  for (const auto& saveable : o.saveables) {
    auto key = checkpoint_[match_[node]].keys.find(saveable.name);
    if (key == checkpoint_[match_[node]].keys.end()) continue;
    TARE_ASSIGN_OR_RETURN(std::string_view function, FunctionOf(saveable.restore_function));
    std::vector<Tensor> values;
    for (std::string_view suffix : {"-keys", "-values"}) {
      auto value = bundle_->Read(fmt::format("{}{}", key->second, suffix), Kind::kTables);
      if (!value.ok()) return std::move(value).status();
      values.push_back(*std::move(value));
    }
    TARE_RETURN_IF_ERROR(RunFunction(function, values, {}));
  }
  return OkStatus();
}

Result<Signature> ObjectLoader::BuildSignature(std::string_view name, int32_t node) {
  const SavedObject& o = objects_.nodes[node];
  TARE_ASSIGN_OR_RETURN(const Graph* graph, scope_.functions.Get(o.text));
  TARE_ASSIGN_OR_RETURN(const Plan* plan, FunctionPlan(o.text));
  Signature s;
  s.name = name;
  s.plan = plan;
  auto def = meta_.signatures.find(name);
  if (def != meta_.signatures.end()) s.method_name = def->second.method_name;
  if (o.argument_keywords.size() != plan->num_args()) {
    return InvalidArgument("function '{}' has {} arguments beside its captures but names {}", o.text, plan->num_args(),
                           o.argument_keywords.size());
  }
  auto describe = [&](SignaturePort* port, const auto& infos) {
    auto info = infos.find(port->name);
    if (info == infos.end()) return;
    port->unknown_rank = info->second.unknown_rank;
    port->dims = info->second.dims;
  };
  for (size_t i = 0; i < plan->num_args(); ++i) {
    SignaturePort port;
    port.name = o.argument_keywords[i];
    port.dtype = plan->arg_types()[i];
    if (def != meta_.signatures.end()) {
      describe(&port, def->second.inputs);
      auto value = def->second.defaults.find(port.name);
      if (value != def->second.defaults.end()) {
        TARE_ASSIGN_OR_RETURN(port.default_value, wire::ReadTensor(value->second, scope_.tensors));
      }
    }
    s.inputs.push_back(std::move(port));
  }
  std::vector<std::string> names;
  auto info = objects_.concrete_functions.find(o.text);
  if (info != objects_.concrete_functions.end()) names = DictKeys(info->second.output_signature);
  for (size_t i = 0; i < plan->num_returns(); ++i) {
    SignaturePort port;
    port.name = names.size() == plan->num_returns() ? names[i] : std::string(graph->return_names[i]);
    port.dtype = plan->return_types()[i];
    if (def != meta_.signatures.end()) describe(&port, def->second.outputs);
    s.outputs.push_back(std::move(port));
  }
  return s;
}

}  // namespace tare
