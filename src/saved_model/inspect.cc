#include "saved_model/inspect.h"

#include <set>

#include "bundle/tensor_bundle.h"
#include "graph/importer.h"
#include "graph/flat_graph.h"

namespace tare {
namespace {

// Collects the ops that graphs reach, through every function they name.
class OpWalk {
 public:
  OpWalk(const FunctionLibrary& functions, ModelInfo* info) : functions_(functions), info_(info) {}

  Status Visit(const Graph& g) {
    for (const Node& n : g.nodes) {
      if (n.op_name == kArgOp) continue;
      if (!n.op) {
        TARE_RETURN_IF_ERROR(VisitFunction(n.op_name));
        continue;
      }
      ++info_->ops[std::string(n.op_name)];
      if (n.op_name.find("HashTable") != n.op_name.npos) info_->tables.emplace_back(n.name);
      for (const Attr& a : n.attrs) {
        if (a.value.kind != AttrKind::kFunction) continue;
        if (!a.value.is_list) TARE_RETURN_IF_ERROR(VisitFunction(a.value.function->name));
        else for (const AttrValue& f : a.value.list) TARE_RETURN_IF_ERROR(VisitFunction(f.function->name));
      }
    }
    return OkStatus();
  }

 private:
  Status VisitFunction(std::string_view name) {
    if (!seen_.insert(name).second) return OkStatus();
    TARE_ASSIGN_OR_RETURN(const Graph* g, functions_.Get(name));
    todo_.push_back(g);
    if (visiting_) return OkStatus();
    visiting_ = true;
    Status s;
    while (s.ok() && !todo_.empty()) {
      const Graph* next = todo_.back();
      todo_.pop_back();
      s = Visit(*next);
    }
    visiting_ = false;
    return s;
  }
  const FunctionLibrary& functions_;
  ModelInfo* info_;
  std::set<std::string_view> seen_;
  std::vector<const Graph*> todo_;
  bool visiting_ = false;
};

void AddTensor(const TensorInfo& info, std::vector<std::string>* names) {
  names->push_back(info.name);
  if (info.sparse()) {
    names->push_back(info.indices_name);
    names->push_back(info.shape_name);
  }
}

bool RunByPlans(std::string_view op) {
  return IsFunctionalOp(op) || op == "PartitionedCall" || op == "StatefulPartitionedCall" || op == "Placeholder";
}

}  // namespace

Result<ModelInfo> InspectModel(const std::string& dir, const std::vector<std::string>& tags, const OpRegistry& ops,
                               const KernelRegistry& kernels) {
  auto account = MakeRef<Account>(dir);
  TARE_ASSIGN_OR_RETURN(SavedModelFile file, SavedModelFile::Open(dir, MappedFile::Mode::kMap, account));
  std::vector<std::string> chosen = tags;
  if (chosen.empty() && file.tag_sets().size() > 1) chosen = file.tag_sets()[0];
  TARE_ASSIGN_OR_RETURN(MetaGraph meta, file.Select(chosen));
  ModelInfo info;
  info.tag_sets = file.tag_sets();
  info.tensorflow_version = meta.tensorflow_version;
  info.signatures = meta.signatures;
  for (const AssetDef& a : meta.assets) info.assets.push_back(a.filename);

  std::mutex mutex;
  Region region(account, Kind::kGraphs);
  wire::TensorStore tensors(account, file.file());
  const ImportContext context{&ops, &region, &tensors, &mutex};
  FunctionLibrary functions(context);
  TARE_RETURN_IF_ERROR(functions.Index(meta.function_library));
  GraphSource graph(context, &functions);
  TARE_RETURN_IF_ERROR(graph.Index(meta.graph_def));
  info.functions = functions.size();
  OpWalk walk(functions, &info);
  for (const auto& [name, s] : meta.signatures) {
    std::vector<std::string> feeds, fetches;
    for (const auto& [key, t] : s.inputs) AddTensor(t, &feeds);
    for (const auto& [key, t] : s.outputs) AddTensor(t, &fetches);
    auto g = graph.Import(feeds, fetches, {});
    if (!g.ok()) return std::move(g).status().At(fmt::format("{}: signature '{}'", file.file()->path(), name));
    TARE_RETURN_IF_ERROR(walk.Visit(**g));
  }
  for (const std::string& target : {meta.init_op, meta.has_saver ? meta.saver_restore_op : std::string()}) {
    if (target.empty()) continue;
    TARE_ASSIGN_OR_RETURN(const Graph* g, graph.Import({}, {}, std::vector{target}));
    TARE_RETURN_IF_ERROR(walk.Visit(*g));
  }
  for (const auto& [op, count] : info.ops) {
    if (!kernels.Find(op) && !RunByPlans(op)) info.missing_ops.push_back(op);
  }
  auto bundle = TensorBundle::Open(dir + "/variables/variables", {}, account);
  if (!bundle.ok()) {
    if (bundle.status().code() == Code::kNotFound) return info;
    return std::move(bundle).status();
  }
  TARE_ASSIGN_OR_RETURN(auto entries, (*bundle)->entries());
  for (const BundleEntry& e : entries) {
    if (e.name == "_CHECKPOINTABLE_OBJECT_GRAPH") continue;
    ++info.variables;
    info.variable_bytes += IsPlain(e.dtype) ? static_cast<size_t>(e.shape.num_elements()) * DTypeSize(e.dtype)
                                           : static_cast<size_t>(e.size);
  }
  return info;
}

}  // namespace tare
