// Freeze: reads of variables that the plan does not write become constants. They share the variable's buffer, so
// mapped weights stay mapped. Who else writes such a variable breaks the guard; see Variable::Freeze.
#include <algorithm>
#include <map>
#include <set>

#include "passes/passes.h"

namespace tare {
namespace {

// Ops that take a variable's handle and leave the variable as it is.
constexpr std::string_view kReaders[] = {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape",
                                         "VarIsInitializedOp", "IsVariableInitialized", "DisableCopyOnRead"};

bool OnlyReads(std::string_view op) { return std::ranges::count(kReaders, op) > 0; }

// Whether the op could write a variable: it takes a handle or a reference and is no known reader.
bool MayWrite(const OpDef& op) {
  if (OnlyReads(op.name)) return false;
  return std::ranges::any_of(op.inputs, [](const ArgDef& a) { return a.is_ref || a.type == DType::kResource; });
}

class Freezer {
 public:
  explicit Freezer(PassGraph& g) : g_(g) {}

  Status Run() {
    TARE_ASSIGN_OR_RETURN(const bool bodies_write, BodiesWrite());
    if (bodies_write) return OkStatus();
    FindHandles();
    FindWrites();
    for (FlatNode& n : g_.flat.nodes) {
      if (n.what == FlatNode::What::kOp && !n.inputs.empty()) Freeze(n);
    }
    return OkStatus();
  }

 private:
  // Whether a function that control flow may call writes a variable, which might be any.
  Result<bool> BodiesWrite() {
    for (const FlatNode& n : g_.flat.nodes) {
      if (n.what != FlatNode::What::kOp || n.row || !n.op) continue;
      TARE_ASSIGN_OR_RETURN(const bool writes, CalleesWrite(n.attrs));
      if (writes) return true;
    }
    return false;
  }

  Result<bool> CalleesWrite(Attrs attrs) {
    for (const Attr& a : attrs) {
      if (a.value.kind != AttrKind::kFunction) continue;
      if (!a.value.is_list) {
        TARE_ASSIGN_OR_RETURN(const bool writes, FunctionWrites(a.value.function->name));
        if (writes) return true;
        continue;
      }
      for (const AttrValue& f : a.value.list) {
        TARE_ASSIGN_OR_RETURN(const bool writes, FunctionWrites(f.function->name));
        if (writes) return true;
      }
    }
    return false;
  }

  Result<bool> FunctionWrites(std::string_view name) {
    if (!seen_.insert(name).second) return false;
    TARE_ASSIGN_OR_RETURN(const Graph* graph, g_.functions.Get(name));
    for (const Node& n : graph->nodes) {
      if (n.op_name == kArgOp) continue;
      if (n.op && MayWrite(*n.op)) return true;
      auto writes = n.op ? CalleesWrite(n.attrs) : FunctionWrites(n.op_name);
      if (!writes.ok() || *writes) return writes;
    }
    return false;
  }

  // The variable a TF1 graph's handle maker names, where it exists. Bodies of control flow do not look names up:
  // what their caller writes is not theirs to know.
  Ref<Variable> Named(const FlatNode& n) {
    const bool reference = IsOp(n, "VariableV2") || IsOp(n, "Variable");
    if (g_.nested || !(reference || IsOp(n, "VarHandleOp"))) return nullptr;
    const AttrValue* container = AttrOrDefault(*n.op, n.attrs, "container");
    const AttrValue* shared = AttrOrDefault(*n.op, n.attrs, "shared_name");
    if (!container || !shared || container->kind != AttrKind::kString || shared->kind != AttrKind::kString) return nullptr;
    const std::string_view name = reference && shared->s.empty() ? n.name : shared->s;
    auto found = g_.settings.run->resources->LookupOrCreate<Variable>(
        container->s, name, []() -> Result<Ref<Variable>> { return NotFound("no such variable"); });
    return found.ok() ? *std::move(found) : nullptr;
  }

  void FindHandles() {
    for (size_t i = 0; i < g_.flat.nodes.size(); ++i) {
      const FlatNode& n = g_.flat.nodes[i];
      Ref<Variable> v;
      if (n.what == FlatNode::What::kConstant && n.value.dtype() == DType::kResource && n.value.num_elements() == 1) {
        Object* object = n.value.objects()[0].get();
        v = Ref<Variable>::Share(object ? object->As<Variable>() : nullptr);
      } else if (n.what == FlatNode::What::kOp && n.op) {
        if (IsOp(n, "Identity") && n.types[0] == DType::kResource) v = VariableOf(n.inputs[0]);
        else v = Named(n);
      }
      if (v) handles_.emplace(static_cast<int32_t>(i), std::move(v));
    }
  }

  Ref<Variable> VariableOf(Endpoint e) const {
    auto it = handles_.find(e.node);
    return it == handles_.end() ? nullptr : it->second;
  }

  void FindWrites() {
    for (const FlatNode& n : g_.flat.nodes) {
      if (n.what != FlatNode::What::kOp) continue;
      // A body was found to write nothing; an Identity passes the handle on and is a handle itself.
      const bool reads = !n.op ? n.row && n.row->op == "_ReadRef" : !n.row || OnlyReads(n.op->name) || n.op->name == "Identity";
      if (reads) continue;
      for (Endpoint e : n.inputs) {
        if (Ref<Variable> v = VariableOf(e)) written_.insert(v.get());
      }
    }
  }

  void Freeze(FlatNode& n) {
    const bool gathers = IsOp(n, "ResourceGather") || IsOp(n, "ResourceGatherNd");
    const bool reads = IsOp(n, "ReadVariableOp") || (!n.op && n.row && n.row->op == "_ReadRef");
    if (!gathers && !reads) return;
    Ref<Variable> v = VariableOf(n.inputs[0]);
    if (!v || written_.contains(v.get())) return;
    const AttrValue* dtype = n.op ? FindAttr(n.attrs, "dtype") : nullptr;
    if (n.op && (!dtype || dtype->kind != AttrKind::kType || dtype->type() != v->dtype())) return;
    auto value = v->Freeze(g_.settings.guard);
    if (!value.ok() || value->dtype() != v->dtype()) return;
    g_.frozen = true;
    if (gathers) {
      // These take a value in a handle's place.
      n.inputs[0] = {Constant(*v, *std::move(value)), 0};
      return;
    }
    n.what = FlatNode::What::kConstant;
    n.types = {value->dtype()};
    n.value = *std::move(value);
    n.op = nullptr;
    n.row = nullptr;
    n.inputs.clear();
  }

  // Kept aside until all nodes were seen: adding to the list moves it.
  int32_t Constant(const Variable& v, Tensor value) {
    auto [it, is_new] = constants_.try_emplace(&v, static_cast<int32_t>(g_.flat.nodes.size() + added_.size()));
    if (is_new) {
      FlatNode& n = added_.emplace_back();
      n.what = FlatNode::What::kConstant;
      n.types = {value.dtype()};
      n.value = std::move(value);
    }
    return it->second;
  }

 public:
  void AddConstants() {
    std::ranges::move(added_, std::back_inserter(g_.flat.nodes));
  }

 private:
  PassGraph& g_;
  std::set<std::string_view> seen_;
  std::map<int32_t, Ref<Variable>> handles_;  // by node
  std::set<const Variable*> written_;
  std::map<const Variable*, int32_t> constants_;
  std::vector<FlatNode> added_;
};

}  // namespace

Status FreezeVariables(PassGraph& g) {
  if (!g.settings.run || !g.settings.guard || g.settings.guard->broken()) return OkStatus();
  Freezer freezer(g);
  TARE_RETURN_IF_ERROR(freezer.Run());
  freezer.AddConstants();
  return OkStatus();
}

}  // namespace tare
