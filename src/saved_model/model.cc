#include "saved_model/model.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "resource/variable.h"
#include "saved_model/frozen_graph.h"
#include "saved_model/graph_loader.h"
#include "saved_model/model_scope.h"
#include "saved_model/object_loader.h"
#include "wire/message.h"

namespace tare {
namespace {

// Outputs up to this size that alias weights are copied, so that they do not keep a mapping alive.
constexpr size_t kCopyAliases = 64 << 10;

std::vector<std::string> DefaultTags(const std::vector<std::vector<std::string>>& sets) {
  const std::vector<std::string> serve = {"serve"};
  if (std::ranges::count(sets, serve) > 0) return serve;
  auto it = std::ranges::find_if(sets, [](const auto& tags) { return std::ranges::count(tags, "serve") > 0; });
  return it == sets.end() ? serve : *it;
}

}  // namespace

Subgraph::Subgraph(const Ref<Account>& account) : region(account, Kind::kGraphs) {}
Subgraph::~Subgraph() = default;

struct Model::Scope : ModelScope {
  using ModelScope::ModelScope;
};

Model::Model(EagerContext& context, std::string path)
    : context_(context), path_(std::move(path)), account_(MakeRef<Account>(path_, Account::kPoolLimit, context.memory_gate())) {
  receipt_.model = path_;
}

// Leaves however the call ends.
struct Model::CallGuard {
  Model* model;
  ~CallGuard() { model->Leave(); }
};

Result<std::unique_ptr<Model>> Model::Load(EagerContext& context, const std::string& path, const LoadOptions& options) {
  std::unique_ptr<Model> model(new Model(context, path));
  if (path.ends_with(".pb")) {
    TARE_ASSIGN_OR_RETURN(Ref<MappedFile> file, MappedFile::Open(path, options.files, model->account_));
    auto meta = ReadFrozenGraph(file->view(), options.inputs, options.outputs);
    if (!meta.ok()) return std::move(meta).status().At(path);
    TARE_RETURN_IF_ERROR(model->LoadFrom(file, *meta, false, options));
    return model;
  }
  TARE_ASSIGN_OR_RETURN(SavedModelFile file, SavedModelFile::Open(path, options.files, model->account_));
  std::vector<std::string> tags = options.tags;
  if (tags.empty() && file.tag_sets().size() > 1) tags = DefaultTags(file.tag_sets());
  TARE_ASSIGN_OR_RETURN(MetaGraph meta, file.Select(tags));
  const bool objects = options.loader == LoadOptions::Loader::kAuto
                           ? !meta.object_graph.empty() && file.tag_sets().size() == 1
                           : options.loader == LoadOptions::Loader::kObjects;
  TARE_RETURN_IF_ERROR(model->LoadFrom(file.file(), meta, objects, options));
  return model;
}

Result<std::unique_ptr<Model>> Model::LoadGraph(EagerContext& context, const std::string& path,
                                                const SavedModelFile& file, const MetaGraph& meta,
                                                const LoadOptions& options) {
  std::unique_ptr<Model> model(new Model(context, path));
  TARE_RETURN_IF_ERROR(model->LoadFrom(file.file(), meta, false, options));
  return model;
}

std::unique_ptr<Model> Model::MakeEmpty(EagerContext& context, const std::string& name) {
  std::unique_ptr<Model> model(new Model(context, name));
  model->scope_ = std::make_unique<Scope>(context, model->account_, nullptr, LoadOptions{});
  return model;
}

Status Model::AddGraph(std::string_view graph_def) {
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  std::lock_guard lock(functions_mutex_);
  TARE_RETURN_IF_ERROR(wire::ForEachField(graph_def, "graph", [&](wire::Reader& r) {
    return r.tag() == 2 ? scope_->functions.Index(wire::Bytes(r), true) : OkStatus();
  }));
  return scope_->graph.Index(graph_def);
}

Status Model::LoadFrom(const Ref<MappedFile>& file, const MetaGraph& meta, bool objects, const LoadOptions& options) {
  scope_ = std::make_unique<Scope>(context_, account_, file, options);
  auto load = [&]() -> Result<std::vector<Signature>> {
    TARE_RETURN_IF_ERROR(scope_->functions.Index(meta.function_library));
    TARE_RETURN_IF_ERROR(scope_->graph.Index(meta.graph_def));
    if (objects) {
      ObjectLoader loader(*scope_, path_, meta);
      auto signatures = loader.Load();
      scope_->meta = meta;
      scope_->object_resources = loader.TakeResources();
      return signatures;
    }
    return GraphLoader(*scope_, path_, meta).Load();
  };
  FlushDenormals flush;
  auto signatures = load();
  if (!signatures.ok()) return std::move(signatures).status().At(file->path());
  signatures_ = *std::move(signatures);
  if (!signatures_.empty() && std::ranges::all_of(signatures_, [](auto& s) { return !s.plan; })) {
    return Status(signatures_[0].unavailable).At(file->path());
  }
  scope_->files.Clear();
  return OkStatus();
}

Model::~Model() { Close(Running::kWait); }

const Signature* Model::FindSignature(std::string_view name) const {
  auto it = std::ranges::find(signatures_, name, &Signature::name);
  return it == signatures_.end() ? nullptr : &*it;
}

Status Model::CheckInput(const Signature& s, const SignaturePort& port, const Tensor& t) const {
  if (!t.valid()) return InvalidArgument("{}: signature '{}': input '{}' is missing", path_, s.name, port.name);
  if ((port.dtype != DType::kInvalid && t.dtype() != port.dtype) || !port.shape().Accepts(t.shape())) {
    return InvalidArgument("{}: signature '{}': input '{}' is {} {}, expected {} {}", path_, s.name, port.name,
                           DTypeName(t.dtype()), t.shape().ToString(), DTypeName(port.dtype), port.shape().ToString());
  }
  return OkStatus();
}

Result<NamedTensors> Model::Run(const Signature& s, const NamedTensors& inputs) {
  // Before anything of the signature is read: unloading changes it.
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  if (!s.plan && !s.unavailable.ok()) return Status(s.unavailable).At(path_);
  std::vector<Tensor> ordered(s.inputs.size());
  size_t found = 0;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    auto it = inputs.find(s.inputs[i].name);
    if (it == inputs.end()) continue;
    ordered[i] = it->second;
    ++found;
  }
  if (found < inputs.size()) {
    for (const auto& [name, t] : inputs) {
      if (std::ranges::count(s.inputs, name, &SignaturePort::name) == 0) {
        return InvalidArgument("{}: signature '{}' has no input '{}'", path_, s.name, name);
      }
    }
  }
  TARE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, RunPlan(s, std::move(ordered)));
  NamedTensors named;
  for (size_t i = 0; i < outputs.size(); ++i) named.emplace(s.outputs[i].name, std::move(outputs[i]));
  return named;
}

Status Model::Enter() {
  std::lock_guard lock(mutex_);
  if (unloading_) return FailedPrecondition("{}: the model was unloaded", path_);
  ++running_;
  return OkStatus();
}

void Model::Leave() {
  std::lock_guard lock(mutex_);
  if (--running_ == 0) idle_.notify_all();
}

Result<std::vector<Tensor>> Model::Run(const Signature& s, std::vector<Tensor> inputs) {
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  return RunPlan(s, std::move(inputs));
}

Result<ObjectLoader*> Model::Objects() {
  if (scope_->meta.object_graph.empty()) return NotFound("{}: it was loaded without an object graph", path_);
  if (!scope_->objects) {
    auto loader = std::make_unique<ObjectLoader>(*scope_, path_, scope_->meta);
    TARE_RETURN_IF_ERROR(loader->Reopen(scope_->object_resources));
    scope_->objects = std::move(loader);
  }
  return scope_->objects.get();
}

Result<ObjectView> Model::Object(int32_t node) {
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  std::lock_guard lock(functions_mutex_);
  TARE_ASSIGN_OR_RETURN(ObjectLoader * loader, Objects());
  const ObjectGraph& graph = loader->objects();
  if (node < 0 || static_cast<size_t>(node) >= graph.nodes.size()) return NotFound("object graph: no node {}", node);
  const SavedObject& o = graph.nodes[node];
  ObjectView v;
  for (const ObjectChild& c : o.children) v.children.emplace_back(c.name, c.node);
  if (o.what == SavedObject::What::kFunction) v.function_spec = o.text;
  for (std::string_view name : o.concrete_functions) {
    auto info = graph.concrete_functions.find(name);
    if (info == graph.concrete_functions.end()) continue;
    v.functions.push_back({std::string(name), std::string(info->second.input_signature),
                           std::string(info->second.output_signature)});
  }
  return v;
}

Result<const Signature*> Model::Function(const std::string& name) {
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  return BuildFunction(name);
}

Result<const Signature*> Model::BuildFunction(const std::string& name) {
  std::lock_guard lock(functions_mutex_);
  if (auto it = functions_.find(name); it != functions_.end()) return &it->second;
  TARE_ASSIGN_OR_RETURN(ObjectLoader * loader, Objects());
  FlushDenormals flush;
  auto plan = loader->Function(name);
  if (!plan.ok()) return std::move(plan).status().At(path_);
  Signature s;
  s.name = name;
  s.plan = *plan;
  auto ports = [](std::span<const DType> types, std::vector<SignaturePort>* list) {
    for (DType t : types) {
      SignaturePort port;
      port.name = fmt::format("{}", list->size());
      port.dtype = t;
      list->push_back(std::move(port));
    }
  };
  ports(s.plan->arg_types(), &s.inputs);
  ports(s.plan->return_types(), &s.outputs);
  return &functions_.emplace(name, std::move(s)).first->second;
}

Result<std::unique_ptr<Subgraph>> Model::MakeSubgraph(std::span<const std::string> feeds,
                                                      std::span<const DType> feed_types,
                                                      std::span<const std::string> fetches,
                                                      std::span<const std::string> targets) {
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  std::lock_guard lock(functions_mutex_);
  auto part = std::make_unique<Subgraph>(account_);
  TARE_ASSIGN_OR_RETURN(const Graph* graph, scope_->graph.Import(feeds, fetches, targets, &part->region));
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (graph->arg_types[i] == DType::kInvalid || graph->arg_types[i] == feed_types[i]) continue;
    return InvalidArgument("Expects arg[{}] to be {} but {} is provided", i, DTypeName(graph->arg_types[i]),
                           DTypeName(feed_types[i]));
  }
  for (const Node& n : graph->nodes) {
    if (n.op_name == "Placeholder") return MustFeed(n.name, n.attrs).AtNode(n.name);
  }
  FlushDenormals flush;
  TARE_ASSIGN_OR_RETURN(part->plan, scope_->builder.Build(*graph, {}, feed_types));
  Signature& s = part->signature;
  s.plan = part->plan.get();
  for (size_t i = 0; i < feeds.size(); ++i) s.inputs.push_back({feeds[i], feed_types[i], true, {}, {}});
  for (const std::string& fetch : fetches) s.outputs.push_back({fetch, DType::kInvalid, true, {}, {}});
  return part;
}

Result<std::vector<Tensor>> Model::RunPlan(const Signature& s, std::vector<Tensor> inputs) {
  if (!s.unavailable.ok()) return Status(s.unavailable).At(path_);
  if (inputs.size() != s.inputs.size()) {
    return InvalidArgument("{}: signature '{}' takes {} inputs, got {}", path_, s.name, s.inputs.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].valid()) inputs[i] = s.inputs[i].default_value;
    TARE_RETURN_IF_ERROR(CheckInput(s, s.inputs[i], inputs[i]));
  }
  RunContext run = scope_->run_context();
  run.cancelled = &cancelled_;
  run.files = nullptr;
  std::vector<Tensor> outputs(s.plan->num_returns());
  FlushDenormals flush;
  Status status = s.plan->Run(run, inputs, outputs);
  if (!status.ok() && s.name.empty()) return status;
  if (!status.ok()) return std::move(status).At(fmt::format("{}: signature '{}'", path_, s.name));
  for (Tensor& t : outputs) TARE_RETURN_IF_ERROR(HandOver(&t));
  return outputs;
}

Status Model::HandOver(Tensor* t) {
  const bool views = t->dtype() == DType::kString &&
                     std::ranges::any_of(t->as<StringCell>(), [](const StringCell& c) { return c.is_view(); });
  const bool shared = !t->buffer()->owned() || !t->buffer()->unique();
  if (views || (shared && t->bytes() <= kCopyAliases)) {
    TARE_ASSIGN_OR_RETURN(*t, t->Clone(account_, Kind::kCaller));
    return OkStatus();
  }
  if (!t->buffer()->owned()) outputs_alias_weights_ = true;
  t->buffer()->HandOver();
  return OkStatus();
}

Receipt Model::Unload(Running running) {
  Close(running);
  std::lock_guard lock(mutex_);
  return receipt_;
}

void Model::Close(Running running) {
  std::unique_lock lock(mutex_);
  if (running == Running::kCancel) cancelled_ = true;
  if (unloading_) {
    idle_.wait(lock, [&] { return !scope_; });
    return;
  }
  unloading_ = true;
  idle_.wait(lock, [&] { return running_ == 0; });
  std::unique_ptr<Scope> scope = std::move(scope_);
  if (scope) {
    scope->resources.Clear();
    for (auto& [name, s] : functions_) s.plan = nullptr;
    for (Signature& s : signatures_) {
      s.plan = nullptr;
      for (SignaturePort& p : s.inputs) p.default_value = {};
    }
  }
  scope.reset();
  account_->Trim(true);
  FillReceipt(*account_, &receipt_);
#ifndef NDEBUG
  if (receipt_.leaked(outputs_alias_weights_) != 0) {
    std::fprintf(stderr, "tare: bytes that nobody holds stayed after unloading %s\n%s", path_.c_str(),
                 receipt_.ToString().c_str());
    std::abort();
  }
#endif
  idle_.notify_all();
}

Model::Resources Model::resources() const {
  std::lock_guard lock(mutex_);
  Resources r;
  if (scope_) {
    scope_->resources.ForEach([&](const Resource& x) { ++(x.type_name() == "Variable" ? r.variables : r.others); });
  }
  return r;
}

namespace {

// Resources are named VARIABLE_NODE_load_ID by the object loader, VARIABLE by graphs.
std::string SavedName(const std::string& resource) {
  size_t load = resource.rfind("_load_");
  if (load == std::string::npos || load == 0) return resource;
  size_t node = resource.rfind('_', load - 1);
  return node == std::string::npos ? resource : resource.substr(0, node);
}

}  // namespace

Result<std::vector<int32_t>> Model::UnmadeVariables() {
  std::vector<int32_t> nodes;
  if (scope_->meta.object_graph.empty()) return nodes;
  TARE_ASSIGN_OR_RETURN(ObjectLoader * loader, Objects());
  std::set<std::string> made;
  scope_->resources.ForEach([&](const Resource& r) { made.emplace(r.name()); });
  const std::vector<SavedObject>& all = loader->objects().nodes;
  for (int32_t i = 0; i < static_cast<int32_t>(all.size()); ++i) {
    if (all[i].what == SavedObject::What::kVariable && !made.contains(loader->VariableResource(i))) nodes.push_back(i);
  }
  return nodes;
}

Result<std::vector<VariableInfo>> Model::ListVariables() {
  std::lock_guard lock(functions_mutex_);
  TARE_ASSIGN_OR_RETURN(std::vector<int32_t> unmade, UnmadeVariables());
  std::vector<VariableInfo> list;
  for (int32_t node : unmade) {
    const SavedObject& o = scope_->objects->objects().nodes[node];
    const bool known = !o.unknown_rank && std::ranges::count(o.dims, -1) == 0;
    std::string resource = scope_->objects->VariableResource(node);
    if (known) {
      TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(o.dims));
      list.push_back({std::string(o.variable_name), std::move(resource), o.dtype, shape});
    } else {
      // Only its value tells the shape.
      TARE_RETURN_IF_ERROR(scope_->objects->RestoreVariable(node).status());
    }
  }
  scope_->resources.ForEach([&](const Resource& r) {
    if (r.type_name().data() != Variable::kTypeName.data()) return;
    auto value = static_cast<const Variable&>(r).Read();
    if (value.ok()) list.push_back({SavedName(r.name()), r.name(), value->dtype(), value->shape()});
  });
  std::ranges::stable_sort(list, {}, &VariableInfo::name);
  return list;
}

Result<std::vector<VariableInfo>> Model::Variables() {
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  return ListVariables();
}

Result<Tensor> Model::CopyVariable(std::string_view resource) {
  Result<Tensor> found = NotFound("{}: no variable '{}'", path_, resource);
  auto copy = [&] {
    scope_->resources.ForEach([&](const Resource& r) {
      if (r.name() != resource || r.type_name().data() != Variable::kTypeName.data()) return;
      found = static_cast<const Variable&>(r).Read();
      if (found.ok()) found = found->Clone(account_, Kind::kCaller);
    });
  };
  copy();
  if (found.status().code() != Code::kNotFound) return found;
  std::lock_guard lock(functions_mutex_);
  TARE_ASSIGN_OR_RETURN(std::vector<int32_t> unmade, UnmadeVariables());
  for (int32_t node : unmade) {
    if (scope_->objects->VariableResource(node) != resource) continue;
    TARE_RETURN_IF_ERROR(scope_->objects->RestoreVariable(node).status());
    copy();
  }
  return found;
}

Result<Tensor> Model::ReadVariable(std::string_view resource) {
  TARE_RETURN_IF_ERROR(Enter());
  const CallGuard guard{this};
  return CopyVariable(resource);
}

}  // namespace tare
