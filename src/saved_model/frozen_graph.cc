#include "saved_model/frozen_graph.h"

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "wire/attr_wire.h"
#include "wire/message.h"

namespace tare {
namespace {

using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

std::string_view NodeOf(std::string_view tensor) {
  if (tensor.starts_with("^")) tensor.remove_prefix(1);
  return tensor.substr(0, tensor.find(':'));
}

// The dtype and shape a placeholder declares; nothing for other nodes.
Status Describe(std::string_view node_def, TensorInfo* info) {
  auto account = MakeRef<Account>("frozen graph");
  Region region(account, Kind::kGraphs);
  wire::TensorStore tensors(account, nullptr);
  return ForEachField(node_def, "node", [&](Reader& r) -> Status {
    if (r.tag() != 5) return OkStatus();
    TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(Bytes(r), "attribute"));
    if (e.key != "dtype" && e.key != "shape") return OkStatus();
    TARE_ASSIGN_OR_RETURN(AttrValue v, wire::ReadAttrValue(e.value, region, tensors));
    if (v.kind == AttrKind::kType && !v.is_list) info->dtype = v.type();
    if (v.kind == AttrKind::kShape && !v.is_list) {
      info->unknown_rank = v.shape.unknown_rank;
      info->dims.assign(v.shape.dims.begin(), v.shape.dims.end());
    }
    return OkStatus();
  });
}

}  // namespace

Result<MetaGraph> ReadFrozenGraph(std::string_view graph_def, const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs) {
  MetaGraph meta;
  meta.graph_def = graph_def;
  tsl::robin_map<std::string_view, std::string_view> nodes;
  tsl::robin_set<std::string_view> read;
  std::vector<std::string_view> names, placeholders;
  TARE_RETURN_IF_ERROR(ForEachField(graph_def, "graph", [&](Reader& r) -> Status {
    if (r.tag() == 2) meta.function_library = Bytes(r);
    if (r.tag() != 1) return OkStatus();
    std::string_view node = Bytes(r), name, op;
    TARE_RETURN_IF_ERROR(ForEachField(node, "node", [&](Reader& n) {
      if (n.tag() == 1) name = Bytes(n);
      if (n.tag() == 2) op = Bytes(n);
      if (n.tag() == 3) read.insert(NodeOf(Bytes(n)));
      return OkStatus();
    }));
    nodes.emplace(name, node);
    names.push_back(name);
    if (op == "Placeholder") placeholders.push_back(name);
    return OkStatus();
  }));
  if (nodes.empty()) return DataLoss("there are no nodes in it: not a GraphDef");
  SignatureDef& s = meta.signatures["serving_default"];
  auto add = [&](std::string_view tensor, auto* ports) -> Status {
    auto node = nodes.find(NodeOf(tensor));
    if (node == nodes.end()) return NotFound("there is no node '{}'", NodeOf(tensor));
    TensorInfo info;
    info.name = tensor;
    if (ports == &s.inputs) TARE_RETURN_IF_ERROR(Describe(node->second, &info));
    ports->insert_or_assign(std::string(tensor), std::move(info));
    return OkStatus();
  };
  for (const std::string& i : inputs) TARE_RETURN_IF_ERROR(add(i, &s.inputs));
  for (const std::string& o : outputs) TARE_RETURN_IF_ERROR(add(o, &s.outputs));
  if (inputs.empty()) {
    for (std::string_view p : placeholders) TARE_RETURN_IF_ERROR(add(p, &s.inputs));
  }
  if (outputs.empty()) {
    for (std::string_view n : names) {
      if (!read.contains(n)) TARE_RETURN_IF_ERROR(add(n, &s.outputs));
    }
  }
  return meta;
}

}  // namespace tare
