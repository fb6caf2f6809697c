#include "capi/graph.h"

#include <charconv>

#include "capi/buffer.h"
#include "capi/writer.h"

namespace tare::capi {

using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

Result<InputName> ParseInput(std::string_view input) {
  if (input.starts_with('^')) return InputName{input.substr(1), -1};
  const size_t colon = input.rfind(':');
  if (colon == input.npos) return InputName{input, 0};
  int port = 0;
  const char* end = input.data() + input.size();
  auto [at, error] = std::from_chars(input.data() + colon + 1, end, port);
  if (error != std::errc() || at != end || port < 0) return InvalidArgument("input '{}' has a malformed port", input);
  return InputName{input.substr(0, colon), port};
}

Status ReadNodeInputs(std::string_view node_def, std::vector<std::string_view>* inputs) {
  inputs->clear();
  return ForEachField(node_def, "node", [&](Reader& r) {
    if (r.tag() == 3) inputs->push_back(Bytes(r));
    return OkStatus();
  });
}

}  // namespace tare::capi

using namespace tare;
using namespace tare::capi;
using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

TF_Graph::TF_Graph()
    : account(MakeRef<Account>("graph")), ops(account), region(account, Kind::kGraphs) {}

namespace {

Status ReadName(std::string_view message, uint32_t tag, std::string_view* name) {
  return ForEachField(message, "node", [&](Reader& r) {
    if (r.tag() == tag) *name = Bytes(r);
    return OkStatus();
  });
}

// Functions of a library by name.
Status ReadFunctions(std::string_view library, std::vector<std::pair<std::string_view, std::string_view>>* functions) {
  return ForEachField(library, "function library", [&](Reader& r) -> Status {
    if (r.tag() != 1) return OkStatus();
    std::string_view function = Bytes(r), name;
    TARE_RETURN_IF_ERROR(ForEachField(function, "function", [&](Reader& f) -> Status {
      return f.tag() == 1 ? ReadName(Bytes(f), 1, &name) : OkStatus();
    }));
    functions->emplace_back(name, function);
    return OkStatus();
  });
}

}  // namespace

Status TF_Graph::Add(std::string_view graph_def, std::shared_ptr<const void> keeper) {
  std::lock_guard lock(mutex);
  std::vector<std::pair<std::string_view, std::string_view>> defs, added_functions;
  TARE_RETURN_IF_ERROR(ForEachField(graph_def, "graph", [&](Reader& r) -> Status {
    if (r.tag() == 2) return ReadFunctions(Bytes(r), &added_functions);
    if (r.tag() != 1) return OkStatus();
    std::string_view node = Bytes(r), name;
    TARE_RETURN_IF_ERROR(ReadName(node, 1, &name));
    if (name.empty()) return InvalidArgument("graph: a node without a name");
    if (by_name.contains(name)) return InvalidArgument("Node name '{}' already exists in the Graph", name);
    defs.emplace_back(name, node);
    return OkStatus();
  }));
  // From here on only memory can run out; then what was added is taken off again.
  const size_t before = nodes.size();
  try {
    parts.reserve(parts.size() + 1);
    nodes.reserve(before + defs.size());
    for (auto [name, node] : defs) {
      auto* n = static_cast<TF_Operation*>(region.Allocate(sizeof(TF_Operation), alignof(TF_Operation)));
      if (!by_name.emplace(name, n).second) {
        TakeOff(before);
        return InvalidArgument("Node name '{}' already exists in the Graph", name);
      }
      nodes.push_back(new (n) TF_Operation{this, node, name});
    }
    for (auto [name, function] : added_functions) functions.emplace(name, function);
    parts.push_back({graph_def, std::move(keeper)});
  } catch (...) {
    TakeOff(before);
    throw;
  }
  return OkStatus();
}

Status TF_Graph::AddFunction(std::string_view function_def) {
  std::string bytes;
  {
    pbf_writer graph(bytes);
    pbf_writer library(graph, 2);
    library.add_bytes(1, function_def.data(), function_def.size());
  }
  auto kept = std::make_shared<const std::string>(std::move(bytes));
  std::string_view name;
  TARE_RETURN_IF_ERROR(ForEachField(function_def, "function", [&](Reader& r) -> Status {
    return r.tag() == 1 ? ReadName(Bytes(r), 1, &name) : OkStatus();
  }));
  {
    std::lock_guard lock(mutex);
    auto it = functions.find(name);
    if (it != functions.end() && it->second == function_def) return OkStatus();
    if (it != functions.end()) {
      return InvalidArgument(
          "Cannot add function '{}' because a different function with the same name already exists.", name);
    }
  }
  return Add(*kept, kept);
}

void TF_Graph::TakeOff(size_t from) {
  for (size_t i = from; i < nodes.size(); ++i) by_name.erase(nodes[i]->name);
  nodes.resize(from);
}

TF_Operation* TF_Graph::Find(std::string_view name) {
  std::lock_guard lock(mutex);
  auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

TF_Graph* TF_NewGraph() { return TryNew<TF_Graph>(); }

void TF_DeleteGraph(TF_Graph* graph) {
  if (graph) graph->Unref();
}

TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name) {
  return graph && oper_name ? graph->Find(oper_name) : nullptr;
}

TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos) {
  if (!graph || !pos) return nullptr;
  std::lock_guard lock(graph->mutex);
  return *pos < graph->nodes.size() ? graph->nodes[(*pos)++] : nullptr;
}

void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output_graph_def, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(graph);
    TARE_CAPI_REQUIRE(output_graph_def);
    // Messages one after the other are the message with the fields of all.
    std::string all;
    std::lock_guard lock(graph->mutex);
    for (const auto& part : graph->parts) all += part.graph_def;
    return Fill(output_graph_def, all);
  });
}

void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output_version_def, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(graph);
    TARE_CAPI_REQUIRE(output_version_def);
    std::string_view versions;
    std::lock_guard lock(graph->mutex);
    for (const auto& part : graph->parts) TARE_RETURN_IF_ERROR(ReadName(part.graph_def, 4, &versions));
    // An empty graph: producer 2395, that of TensorFlow 2.21.
    static constexpr char kNone[] = {0x08, '\xdb', 0x12};
    return Fill(output_version_def, graph->parts.empty() ? std::string_view(kNone, sizeof kNone) : versions);
  });
}
