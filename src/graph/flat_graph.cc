#include "graph/flat_graph.h"

#include <algorithm>
#include <set>

namespace tare {
namespace {

constexpr int kMaxCallDepth = 100;
constexpr size_t kMaxFlatNodes = 2 << 20;

bool IsCall(std::string_view op) { return op == "PartitionedCall" || op == "StatefulPartitionedCall"; }

// Ops whose output is their input: consumers may read the input itself.
bool IsPassThrough(std::string_view op) {
  return op == "Identity" || op == "StopGradient" || op == "PreventGradient" || op == "Snapshot";
}

bool IsNextIteration(std::string_view op) { return op == "NextIteration" || op == "RefNextIteration"; }
bool IsMerge(std::string_view op) { return op == "Merge" || op == "RefMerge"; }

// The edge that closes a TF1 loop; any other cycle is an error.
bool IsBackEdge(const Graph& g, const Node& to, int32_t from) {
  return IsMerge(to.op_name) && IsNextIteration(g.nodes[from].op_name);
}

// Producers first. InvalidArgument for a cycle.
Result<std::vector<int32_t>> TopologicalOrder(const Graph& g) {
  enum : char { kNew, kOpen, kDone };
  std::vector<char> state(g.nodes.size(), kNew);
  std::vector<int32_t> order;
  order.reserve(g.nodes.size());
  struct Visit {
    int32_t node;
    size_t next;
  };
  std::vector<Visit> stack;
  for (int32_t start = 0; start < static_cast<int32_t>(g.nodes.size()); ++start) {
    if (state[start] != kNew) continue;
    stack.push_back({start, 0});
    state[start] = kOpen;
    while (!stack.empty()) {
      Visit& v = stack.back();
      const Node& n = g.nodes[v.node];
      if (v.next < n.inputs.size() + n.controls.size()) {
        size_t i = v.next++;
        int32_t from = i < n.inputs.size() ? n.inputs[i].node : n.controls[i - n.inputs.size()];
        if (i < n.inputs.size() && IsBackEdge(g, n, from)) {
          // Reached later from the list of all nodes.
          continue;
        }
        if (state[from] == kOpen) {
          return InvalidArgument("the graph has a cycle through node '{}'", g.nodes[from].name);
        }
        if (state[from] == kNew) {
          state[from] = kOpen;
          stack.push_back({from, 0});
        }
        continue;
      }
      state[v.node] = kDone;
      order.push_back(v.node);
      stack.pop_back();
    }
  }
  return order;
}

class Flattener {
 public:
  explicit Flattener(const FlattenOptions& options) : o_(options) {}

  Result<FlatGraph> Run(const Graph& graph) {
    TARE_ASSIGN_OR_RETURN(flat_.dynamic, UsesDataflow(graph));
    std::vector<Endpoint> args;
    for (size_t i = 0; i < graph.args.size(); ++i) {
      size_t from_end = graph.args.size() - i;
      FlatNode n;
      n.name = graph.arg_names[i];
      if (from_end <= o_.captures.size()) {
        n.what = FlatNode::What::kConstant;
        n.value = o_.captures[o_.captures.size() - from_end];
        n.types = {n.value.dtype()};
      } else {
        n.what = FlatNode::What::kArg;
        DType t = i < o_.arg_types.size() ? o_.arg_types[i] : DType::kInvalid;
        n.types = {t != DType::kInvalid ? t : graph.arg_types[i]};
        flat_.args.push_back(static_cast<int32_t>(flat_.nodes.size()));
      }
      args.push_back({Add(std::move(n)), 0});
    }
    TARE_ASSIGN_OR_RETURN(Body body, Inline(graph, args, o_.attrs, -1, 0));
    if (!missing_.empty()) {
      std::string list;
      for (std::string_view op : missing_) list += fmt::format("{}{}", list.empty() ? "" : ", ", op);
      return Unimplemented("Tare has no kernel for: {} (first at node '{}')", list, first_missing_);
    }
    flat_.returns = std::move(body.returns);
    flat_.control_returns = std::move(body.control_returns);
    return std::move(flat_);
  }

 private:
  // Whether the graph or a function it calls has TF1 control flow.
  Result<bool> UsesDataflow(const Graph& g) {
    if (!seen_.insert(&g).second) return false;
    for (const Node& n : g.nodes) {
      if (IsDataflowOp(n.op_name)) return true;
      if (n.op_name == kArgOp || (n.op && !IsCall(n.op_name))) continue;
      std::string_view callee = n.op_name;
      if (n.op) {
        const AttrValue* f = FindAttr(n.attrs, "f");
        if (!f || f->kind != AttrKind::kFunction || f->is_list) continue;
        callee = f->function->name;
      }
      TARE_ASSIGN_OR_RETURN(const Graph* body, o_.functions->Get(callee));
      TARE_ASSIGN_OR_RETURN(bool uses, UsesDataflow(*body));
      if (uses) return true;
    }
    return false;
  }

  // What a call's consumers see of the inlined body.
  struct Body {
    std::vector<Endpoint> returns;
    std::vector<int32_t> control_returns;
  };
  // Where a graph's node went: outputs by port, and the node to wait for by control edges.
  struct Place {
    std::vector<Endpoint> outputs;
    int32_t control = -1;
  };

  int32_t Add(FlatNode n) {
    flat_.nodes.push_back(std::move(n));
    return static_cast<int32_t>(flat_.nodes.size()) - 1;
  }

  int32_t AddGroup(std::vector<int32_t> controls) {
    if (controls.empty()) return -1;
    if (controls.size() == 1) return controls[0];
    FlatNode n;
    n.what = FlatNode::What::kGroup;
    n.controls = std::move(controls);
    return Add(std::move(n));
  }

  // `before`: what must have run before the body's side effects, or -1.
  Result<Body> Inline(const Graph& g, std::span<const Endpoint> args, Attrs attrs, int32_t before, int depth) {
    if (depth > kMaxCallDepth) return InvalidArgument("calls nest deeper than {} at '{}'", kMaxCallDepth, g.name);
    TARE_ASSIGN_OR_RETURN(std::vector<int32_t> order, TopologicalOrder(g));
    std::vector<Place> places(g.nodes.size());
    for (size_t i = 0; i < g.args.size(); ++i) places[g.args[i]] = {{args[i]}, args[i].node};
    for (int32_t id : order) {
      const Node& n = g.nodes[id];
      if (n.op_name == kArgOp) continue;
      Status s = InlineNode(g, n, attrs, before, depth, places, &places[id]);
      if (!s.ok()) return std::move(s).At(fmt::format("node '{}'", n.name));
      if (flat_.nodes.size() > kMaxFlatNodes) {
        return ResourceExhausted("more than {} nodes with every call inlined", kMaxFlatNodes);
      }
    }
    TARE_RETURN_IF_ERROR(CloseLoops(g, places));
    Body body;
    for (Endpoint e : g.returns) {
      TARE_ASSIGN_OR_RETURN(Endpoint from, At(places, e));
      if (IsReference(from)) from = ReadReference(from, {}, g.name);
      body.returns.push_back(from);
    }
    for (int32_t c : g.control_returns) {
      if (places[c].control >= 0) body.control_returns.push_back(places[c].control);
    }
    return body;
  }

  // The edges that TopologicalOrder left out.
  Status CloseLoops(const Graph& g, const std::vector<Place>& places) {
    for (size_t id = 0; id < g.nodes.size(); ++id) {
      const Node& n = g.nodes[id];
      for (size_t i = 0; i < n.inputs.size(); ++i) {
        if (!IsBackEdge(g, n, n.inputs[i].node)) continue;
        TARE_ASSIGN_OR_RETURN(Endpoint from, At(places, n.inputs[i]));
        FlatNode& merge = flat_.nodes[places[id].control];
        if (flat_.type(from) != merge.types[0]) {
          return InvalidArgument("node '{}': a loop variable changes from {} to {}", n.name, DTypeName(merge.types[0]),
                                 DTypeName(flat_.type(from)));
        }
        merge.inputs[i] = from;
      }
    }
    return OkStatus();
  }

  static Result<Endpoint> At(const std::vector<Place>& places, Endpoint e) {
    const Place& p = places[e.node];
    if (static_cast<size_t>(e.port) >= p.outputs.size()) {
      return InvalidArgument("output {} of a node with {} outputs", e.port, p.outputs.size());
    }
    return p.outputs[e.port];
  }

  Status InlineNode(const Graph& g, const Node& n, Attrs call_attrs, int32_t before, int depth, const std::vector<Place>& places,
                    Place* place) {
    std::vector<Endpoint> inputs;
    for (Endpoint e : n.inputs) {
      if (IsBackEdge(g, n, e.node)) {
        // A stand-in of the right type until CloseLoops.
        inputs.push_back(inputs.empty() ? Endpoint{} : inputs[0]);
        continue;
      }
      TARE_ASSIGN_OR_RETURN(Endpoint from, At(places, e));
      inputs.push_back(from);
    }
    if (!inputs.empty() && inputs[0].node < 0) return InvalidArgument("a loop's Merge has no input from outside");
    std::vector<int32_t> controls;
    for (int32_t c : n.controls) {
      if (places[c].control >= 0) controls.push_back(places[c].control);
    }
    TARE_ASSIGN_OR_RETURN(Attrs attrs, Substitute(n.attrs, call_attrs));
    if (!n.op || IsCall(n.op_name)) return InlineCall(n, attrs, inputs, controls, before, depth, place);
    if (n.op_name == "Const") {
      if (flat_.dynamic && before >= 0) controls.push_back(before);
      return AddConstant(n, attrs, std::move(controls), place);
    }
    // Where tokens flow, an Identity also tells which way a Switch went: it stays.
    if (!flat_.dynamic && IsPassThrough(n.op_name) && controls.empty() && inputs.size() == 1 && !IsReference(inputs[0])) {
      *place = {{inputs[0]}, inputs[0].node};
      return OkStatus();
    }
    return AddOp(n, attrs, std::move(inputs), std::move(controls), before, place);
  }

  // Attributes with the caller's values where they name one of its.
  Result<Attrs> Substitute(Attrs attrs, Attrs call_attrs) {
    bool any = std::ranges::any_of(attrs, [](const Attr& a) { return a.value.kind == AttrKind::kPlaceholder; });
    if (!any) return attrs;
    std::vector<Attr> filled(attrs.begin(), attrs.end());
    for (Attr& a : filled) {
      if (a.value.kind != AttrKind::kPlaceholder) continue;
      const AttrValue* v = FindAttr(call_attrs, a.value.s);
      if (!v) return InvalidArgument("attr '{}' asks for the caller's '{}', which it does not give", a.name, a.value.s);
      a.value = *v;
    }
    return o_.region->CopyArray(std::span<const Attr>(filled));
  }

  Status InlineCall(const Node& n, Attrs attrs, std::vector<Endpoint>& inputs, std::vector<int32_t>& controls,
                    int32_t before, int depth, Place* place) {
    std::string_view callee_name = n.op_name;
    Attrs callee_attrs = attrs;
    if (n.op) {
      const AttrValue* f = FindAttr(attrs, "f");
      if (!f || f->kind != AttrKind::kFunction || f->is_list) return InvalidArgument("the call names no function");
      callee_name = f->function->name;
      callee_attrs = f->function->attrs;
    }
    auto callee = o_.functions->Get(callee_name);
    if (!callee.ok()) return std::move(callee).status();
    const Graph& g = **callee;
    if (inputs.size() != g.args.size()) {
      return InvalidArgument("function '{}' takes {} arguments, the call gives {}", g.name, g.args.size(),
                             inputs.size());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsReference(inputs[i])) inputs[i] = ReadReference(inputs[i], controls, n.name);
      DType want = g.arg_types[i], have = flat_.type(inputs[i]);
      if (want != DType::kInvalid && have != DType::kInvalid && want != have) {
        return InvalidArgument("function '{}' takes {} as argument '{}', the call gives {}", g.name,
                               DTypeName(want), g.arg_names[i], DTypeName(have));
      }
    }
    if (before >= 0) controls.push_back(before);
    if (flat_.dynamic && !inputs.empty()) {
      // Nodes of the body without inputs run where and when the call does, in its loop and branch.
      FlatNode arrival;
      arrival.name = n.name;
      arrival.op = n.op;
      arrival.row = o_.kernels->Find("Identity");
      arrival.inputs = {inputs[0]};
      arrival.types = {flat_.type(inputs[0])};
      controls.push_back(Add(std::move(arrival)));
    }
    auto body = Inline(g, inputs, callee_attrs, AddGroup(std::move(controls)), depth + 1);
    if (!body.ok()) return std::move(body).status().At(fmt::format("function '{}'", g.name));
    place->outputs = std::move(body->returns);
    for (Endpoint e : place->outputs) body->control_returns.push_back(e.node);
    place->control = AddGroup(std::move(body->control_returns));
    return OkStatus();
  }

  Status AddConstant(const Node& n, Attrs attrs, std::vector<int32_t> controls, Place* place) {
    const AttrValue* v = FindAttr(attrs, "value");
    if (!v || v->kind != AttrKind::kTensor || v->is_list) {
      return FailedPrecondition("the constant has no value");
    }
    const AttrValue* dtype = FindAttr(attrs, "dtype");
    if (!dtype || dtype->kind != AttrKind::kType || dtype->type() != v->tensor->dtype()) {
      return InvalidArgument("the constant's dtype is {}, its value's {}", dtype ? ToString(*dtype) : "missing",
                             DTypeName(v->tensor->dtype()));
    }
    FlatNode f;
    f.what = FlatNode::What::kConstant;
    f.name = n.name;
    f.op = n.op;
    f.attrs = attrs;
    f.value = *v->tensor;
    f.types = {f.value.dtype()};
    f.controls = std::move(controls);
    int32_t id = Add(std::move(f));
    *place = {{{id, 0}}, id};
    return OkStatus();
  }

  Status AddOp(const Node& n, Attrs attrs, std::vector<Endpoint> inputs, std::vector<int32_t> controls,
               int32_t before, Place* place) {
    FlatNode f;
    f.name = n.name;
    f.op = n.op;
    f.attrs = attrs;
    if (n.op_name == "Placeholder") {
      return MustFeed(n.name, attrs);
    }
    if (!IsFunctionalOp(n.op_name) && !IsDataflowOp(n.op_name)) {
      f.row = o_.kernels->Find(n.op_name);
      if (!f.row) {
        if (missing_.insert(n.op_name).second && missing_.size() == 1) first_missing_ = n.name;
      }
    }
    TARE_ASSIGN_OR_RETURN(std::vector<DType> in, FlatTypes(*n.op, n.op->inputs, attrs));
    if (in.size() != inputs.size()) {
      return InvalidArgument("{} takes {} inputs, the node has {}", n.op->name, in.size(), inputs.size());
    }
    TARE_RETURN_IF_ERROR(CheckInputs(n, attrs, in, controls, &inputs));
    TARE_ASSIGN_OR_RETURN(f.types, FlatTypes(*n.op, n.op->outputs, attrs));
    f.inputs = std::move(inputs);
    // Side effects of a called body wait for what the call waits for.
    if (before >= 0 && (n.op->stateful || f.inputs.empty())) controls.push_back(before);
    f.controls = std::move(controls);
    auto outputs = static_cast<int32_t>(f.types.size());
    int32_t id = Add(std::move(f));
    place->control = id;
    for (int32_t i = 0; i < outputs; ++i) place->outputs.push_back({id, i});
    return OkStatus();
  }

  // Types agree, and a reference that is not wanted as one is read.
  Status CheckInputs(const Node& n, Attrs attrs, const std::vector<DType>& types,
                     const std::vector<int32_t>& controls, std::vector<Endpoint>* inputs) {
    size_t i = 0;
    for (const ArgDef& arg : n.op->inputs) {
      TARE_ASSIGN_OR_RETURN(int64_t count, ArgCount(*n.op, arg, attrs));
      for (size_t end = std::min(i + static_cast<size_t>(count), types.size()); i < end; ++i) {
        Endpoint& e = (*inputs)[i];
        DType have = flat_.type(e);
        if (have != DType::kInvalid && have != types[i]) {
          return InvalidArgument("input {} of {} is {}, the op takes {}", i, n.op->name, DTypeName(have),
                                 DTypeName(types[i]));
        }
        if (!arg.is_ref && IsReference(e)) e = ReadReference(e, controls, n.name);
      }
    }
    return OkStatus();
  }

  // TF1: whether the output is a reference to a variable, not its value.
  bool IsReference(Endpoint e) const {
    const FlatNode& n = flat_.nodes[e.node];
    return n.op && n.what == FlatNode::What::kOp && static_cast<size_t>(e.port) < n.op->outputs.size() &&
           n.op->outputs[e.port].is_ref;
  }

  // The variable's value at the time the consumer runs: hence with the consumer's control edges.
  Endpoint ReadReference(Endpoint e, const std::vector<int32_t>& controls, std::string_view consumer) {
    FlatNode f;
    f.name = consumer;
    f.row = o_.kernels->Find("_ReadRef");
    f.types = {flat_.type(e)};
    f.inputs = {e};
    f.controls = controls;
    if (!f.row) missing_.insert("_ReadRef");
    return {Add(std::move(f)), 0};
  }

  const FlattenOptions& o_;
  FlatGraph flat_;
  std::set<const Graph*> seen_;
  std::set<std::string_view> missing_;
  std::string_view first_missing_;
};

}  // namespace

Status MustFeed(std::string_view placeholder, Attrs attrs) {
  const AttrValue* dtype = FindAttr(attrs, "dtype");
  const AttrValue* shape = FindAttr(attrs, "shape");
  return InvalidArgument("You must feed a value for placeholder tensor '{}' with dtype {}{}", placeholder,
                         dtype ? ToString(*dtype) : "unknown",
                         shape && shape->kind == AttrKind::kShape ? " and shape " + ToString(*shape) : "");
}

bool IsFunctionalOp(std::string_view op) {
  return op == "If" || op == "StatelessIf" || op == "Case" || op == "StatelessCase" || op == "While" ||
         op == "StatelessWhile";
}

bool IsDataflowOp(std::string_view op) {
  if (op.starts_with("Ref")) op.remove_prefix(3);
  return op == "Switch" || op == "Merge" || op == "Enter" || op == "Exit" || op == "NextIteration" ||
         op == "LoopCond" || op == "ControlTrigger";
}

Result<FlatGraph> Flatten(const Graph& graph, const FlattenOptions& options) { return Flattener(options).Run(graph); }

}  // namespace tare
