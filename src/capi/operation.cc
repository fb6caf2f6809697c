#include <algorithm>

#include "capi/buffer.h"
#include "capi/graph.h"
#include "wire/attr_wire.h"
#include "wire/message.h"

using namespace tare;
using namespace tare::capi;
using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

namespace {

struct NodeFields {
  std::string_view type, device;
  std::vector<std::string_view> inputs, attrs;
};

Status ReadNode(std::string_view node_def, NodeFields* n) {
  return ForEachField(node_def, "node", [&](Reader& r) {
    switch (r.tag()) {
      case 2: n->type = Bytes(r); break;
      case 3: n->inputs.push_back(Bytes(r)); break;
      case 4: n->device = Bytes(r); break;
      case 5: n->attrs.push_back(Bytes(r)); break;
      default: break;
    }
    return OkStatus();
  });
}

// The attributes that say how many tensors of which types an op takes and gives.
Result<std::vector<Attr>> ReadTypeAttrs(const OpDef& op, const NodeFields& n, Region& region,
                                        wire::TensorStore& tensors) {
  auto matters = [&](std::string_view name) {
    for (auto args : {op.inputs, op.outputs}) {
      for (const ArgDef& a : args) {
        if (name == a.type_attr || name == a.number_attr || name == a.type_list_attr) return true;
      }
    }
    return false;
  };
  std::vector<Attr> attrs;
  for (std::string_view entry : n.attrs) {
    TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(entry, "attribute"));
    if (!matters(e.key)) continue;
    TARE_ASSIGN_OR_RETURN(Attr a, wire::ReadAttr(entry, region, tensors));
    attrs.push_back(a);
  }
  return attrs;
}

// The types of a function's arguments (tag 2) or results (tag 3) that are fixed; 0 for others.
Result<std::vector<DType>> FunctionTypes(std::string_view function_def, uint32_t tag) {
  std::vector<DType> types;
  Status s = ForEachField(function_def, "function", [&](Reader& f) -> Status {
    if (f.tag() != 1) return OkStatus();
    return ForEachField(Bytes(f), "signature", [&](Reader& r) -> Status {
      if (r.tag() != tag) return OkStatus();
      DType& type = types.emplace_back(DType::kInvalid);
      return ForEachField(Bytes(r), "argument", [&](Reader& a) {
        if (a.tag() == 3) type = DTypeFromWire(a.get_int64());
        return OkStatus();
      });
    });
  });
  if (!s.ok()) return s;
  return types;
}

Result<std::span<const int64_t>> Counts(const OpDef& op, std::span<const ArgDef> args, Attrs attrs, Region& region) {
  std::vector<int64_t> counts;
  for (const ArgDef& a : args) {
    TARE_ASSIGN_OR_RETURN(int64_t n, ArgCount(op, a, attrs));
    counts.push_back(n);
  }
  return region.CopyArray(std::span<const int64_t>(counts));
}

}  // namespace

// REQUIRES: mutex is held.
Result<const OperationDetails*> TF_Graph::Read(TF_Operation* node) {
  if (node->details) return node->details;
  NodeFields n;
  TARE_RETURN_IF_ERROR(ReadNode(node->node_def, &n));
  auto* d = region.New<OperationDetails>();
  auto text = [&](std::string_view s) { return region.CopyString(std::string(s) + '\0').data(); };
  d->name = text(node->name);
  d->type = text(n.type);
  d->device = text(n.device);
  d->op = ops.Find(n.type);
  if (d->op) {
    Region scratch(account, Kind::kGraphs);
    wire::TensorStore tensors(account, nullptr);
    TARE_ASSIGN_OR_RETURN(std::vector<Attr> attrs, ReadTypeAttrs(*d->op, n, scratch, tensors));
    TARE_ASSIGN_OR_RETURN(std::vector<DType> in, FlatTypes(*d->op, d->op->inputs, attrs));
    TARE_ASSIGN_OR_RETURN(std::vector<DType> out, FlatTypes(*d->op, d->op->outputs, attrs));
    d->input_types = region.CopyArray(std::span<const DType>(in));
    d->output_types = region.CopyArray(std::span<const DType>(out));
    TARE_ASSIGN_OR_RETURN(d->input_counts, Counts(*d->op, d->op->inputs, attrs, region));
    TARE_ASSIGN_OR_RETURN(d->output_counts, Counts(*d->op, d->op->outputs, attrs, region));
  } else if (auto f = functions.find(n.type); f != functions.end()) {
    TARE_ASSIGN_OR_RETURN(std::vector<DType> in, FunctionTypes(f->second, 2));
    TARE_ASSIGN_OR_RETURN(std::vector<DType> out, FunctionTypes(f->second, 3));
    d->input_types = region.CopyArray(std::span<const DType>(in));
    d->output_types = region.CopyArray(std::span<const DType>(out));
  }
  std::vector<TF_Output> inputs;
  std::vector<TF_Operation*> controls;
  for (std::string_view input : n.inputs) {
    TARE_ASSIGN_OR_RETURN(InputName name, ParseInput(input));
    auto producer = by_name.find(name.node);
    if (producer == by_name.end()) return InvalidArgument("Node '{}': Unknown input node '{}'", node->name, input);
    if (name.port < 0) controls.push_back(producer->second);
    else inputs.push_back({producer->second, name.port});
  }
  d->inputs = region.CopyArray(std::span<const TF_Output>(inputs));
  d->controls = region.CopyArray(std::span<TF_Operation* const>(controls));
  node->details = d;
  return d;
}

Result<const OperationDetails*> TF_Graph::Details(TF_Operation* node) {
  std::lock_guard lock(mutex);
  return Read(node);
}

Status TF_Graph::ReadEdges() {
  for (; edges_of < nodes.size(); ++edges_of) {
    TARE_ASSIGN_OR_RETURN(const OperationDetails* d, Read(nodes[edges_of]));
    int i = 0;
    for (const TF_Output& from : d->inputs) edges.push_back({from, {nodes[edges_of], i++}});
    for (TF_Operation* from : d->controls) edges.push_back({{from, -1}, {nodes[edges_of], -1}});
  }
  return OkStatus();
}

Status TF_Graph::ForEachConsumer(TF_Operation* node, int index, const std::function<void(TF_Input)>& f) {
  std::lock_guard lock(mutex);
  TARE_RETURN_IF_ERROR(ReadEdges());
  for (const Edge& e : edges) {
    if (e.from.oper == node && e.from.index == index) f(e.to);
  }
  return OkStatus();
}

namespace {

// What a node says, or `otherwise` where it is null, malformed or there is no memory to read it.
template <class T, class F>
T Ask(TF_Operation* oper, T otherwise, F&& f) {
  return TryGet<T>(nullptr, otherwise, [&]() -> Result<T> {
    TARE_CAPI_REQUIRE(oper);
    TARE_ASSIGN_OR_RETURN(const OperationDetails* d, oper->graph->Details(oper));
    return f(*d);
  });
}

template <class T>
T At(std::span<const T> list, int index, T otherwise) {
  return index >= 0 && static_cast<size_t>(index) < list.size() ? list[index] : otherwise;
}

int ListLength(TF_Operation* oper, bool input, const char* arg_name, TF_Status* status) {
  return TryGet<int>(status, -1, [&]() -> Result<int> {
    TARE_CAPI_REQUIRE(oper);
    TARE_CAPI_REQUIRE(arg_name);
    TARE_ASSIGN_OR_RETURN(const OperationDetails* d, oper->graph->Details(oper));
    std::span<const ArgDef> args;
    if (d->op) args = input ? d->op->inputs : d->op->outputs;
    auto arg = std::ranges::find(args, std::string_view(arg_name), &ArgDef::name);
    if (arg == args.end()) {
      return InvalidArgument("{} arg '{}' not found", input ? "Input" : "Output", arg_name);
    }
    return static_cast<int>((input ? d->input_counts : d->output_counts)[arg - args.begin()]);
  });
}

// Consumers in the caller's array; gives how many there are.
int GetConsumers(TF_Operation* oper, int index, const std::function<void(TF_Input, int)>& put) {
  int n = 0;
  const bool ok = Try(nullptr, [&]() -> Status {
    TARE_CAPI_REQUIRE(oper);
    return oper->graph->ForEachConsumer(oper, index, [&](TF_Input to) { put(to, n++); });
  });
  return ok ? n : 0;
}

}  // namespace

const char* TF_OperationName(TF_Operation* oper) {
  return Ask<const char*>(oper, "", [](auto& d) { return d.name; });
}
const char* TF_OperationOpType(TF_Operation* oper) {
  return Ask<const char*>(oper, "", [](auto& d) { return d.type; });
}
const char* TF_OperationDevice(TF_Operation* oper) {
  return Ask<const char*>(oper, "", [](auto& d) { return d.device; });
}

int TF_OperationNumOutputs(TF_Operation* oper) {
  return Ask<int>(oper, 0, [](auto& d) { return static_cast<int>(d.output_types.size()); });
}
TF_DataType TF_OperationOutputType(TF_Output o) {
  return static_cast<TF_DataType>(Ask<DType>(o.oper, DType::kInvalid, [&](auto& d) {
    return At(d.output_types, o.index, DType::kInvalid);
  }));
}
int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) {
  return ListLength(oper, false, arg_name, status);
}

int TF_OperationNumInputs(TF_Operation* oper) {
  return Ask<int>(oper, 0, [](auto& d) { return static_cast<int>(d.inputs.size()); });
}
TF_DataType TF_OperationInputType(TF_Input i) {
  return static_cast<TF_DataType>(Ask<DType>(i.oper, DType::kInvalid, [&](auto& d) {
    return At(d.input_types, i.index, DType::kInvalid);
  }));
}
int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) {
  return ListLength(oper, true, arg_name, status);
}
TF_Output TF_OperationInput(TF_Input i) {
  return Ask<TF_Output>(i.oper, {nullptr, -1}, [&](auto& d) { return At(d.inputs, i.index, TF_Output{nullptr, -1}); });
}
void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs, int max_inputs) {
  if (!inputs) return;
  Ask<int>(oper, 0, [&](auto& d) {
    for (int i = 0; i < max_inputs && static_cast<size_t>(i) < d.inputs.size(); ++i) inputs[i] = d.inputs[i];
    return 0;
  });
}

int TF_OperationOutputNumConsumers(TF_Output o) {
  return o.index < 0 ? 0 : GetConsumers(o.oper, o.index, [](TF_Input, int) {});
}
int TF_OperationOutputConsumers(TF_Output o, TF_Input* consumers, int max_consumers) {
  if (o.index < 0) return 0;
  return std::min(max_consumers, GetConsumers(o.oper, o.index, [&](TF_Input to, int i) {
    if (consumers && i < max_consumers) consumers[i] = to;
  }));
}
int TF_OperationNumControlInputs(TF_Operation* oper) {
  return Ask<int>(oper, 0, [](auto& d) { return static_cast<int>(d.controls.size()); });
}
int TF_OperationGetControlInputs(TF_Operation* oper, TF_Operation** control_inputs, int max_control_inputs) {
  if (!control_inputs) return 0;
  return Ask<int>(oper, 0, [&](auto& d) {
    int i = 0;
    for (; i < max_control_inputs && static_cast<size_t>(i) < d.controls.size(); ++i) control_inputs[i] = d.controls[i];
    return i;
  });
}
int TF_OperationNumControlOutputs(TF_Operation* oper) { return GetConsumers(oper, -1, [](TF_Input, int) {}); }
int TF_OperationGetControlOutputs(TF_Operation* oper, TF_Operation** control_outputs, int max_control_outputs) {
  return std::min(max_control_outputs, GetConsumers(oper, -1, [&](TF_Input to, int i) {
    if (control_outputs && i < max_control_outputs) control_outputs[i] = to.oper;
  }));
}

void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output_node_def, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(oper);
    TARE_CAPI_REQUIRE(output_node_def);
    return Fill(output_node_def, oper->node_def);
  });
}
