// Fuzzes what a saved_model.pb goes through before any weight is read: function library, graph import, flattening
// and planning of everything reachable, and the object graphs. The input is a GraphDef, which stands for the
// others too: their readers are given the same bytes.
#include <cstddef>
#include <cstdint>

#include "context/eager_context.h"
#include "graph/importer.h"
#include "plan/plan_builder.h"
#include "saved_model/object_graph.h"
#include "wire/message.h"

namespace tare {
namespace {

void ImportAll(const EagerContext& context, std::string_view graph_def) {
  auto account = MakeRef<Account>("fuzz");
  std::mutex mutex;
  Region region(account, Kind::kGraphs);
  wire::TensorStore tensors(account, nullptr);
  const ImportContext import{&context.ops(), &region, &tensors, &mutex};
  FunctionLibrary functions(import);
  std::vector<std::string> names;
  Status s = wire::ForEachField(graph_def, "graph", [&](wire::Reader& r) -> Status {
    if (r.tag() != 2) return OkStatus();
    std::string_view library = wire::Bytes(r);
    TARE_RETURN_IF_ERROR(functions.Index(library));
    return wire::ForEachField(library, "library", [&](wire::Reader& f) -> Status {
      if (f.tag() != 1) return OkStatus();
      return wire::ForEachField(wire::Bytes(f), "function", [&](wire::Reader& d) -> Status {
        if (d.tag() != 1) return OkStatus();
        return wire::ForEachField(wire::Bytes(d), "signature", [&](wire::Reader& n) {
          if (n.tag() == 1) names.emplace_back(wire::Bytes(n));
          return OkStatus();
        });
      });
    });
  });
  if (!s.ok()) return;
  PlanBuilder builder(functions, context.kernels(), account);
  for (const std::string& name : names) {
    auto graph = functions.Get(name);
    if (graph.ok()) (void)builder.Build(**graph).ok();
  }
  GraphSource source(import, &functions);
  if (!source.Index(graph_def).ok()) return;
  std::vector<std::string> targets(source.node_names().begin(), source.node_names().end());
  for (const std::string& target : targets) {
    auto graph = source.Import({}, {}, std::vector{target});
    if (graph.ok()) (void)builder.Build(**graph).ok();
  }
}

}  // namespace
}  // namespace tare

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const tare::EagerContext context({.threads = 1});  // made once: its op table is parsed on demand
  tare::ImportAll(context, bytes);
  auto objects = tare::ReadObjectGraph(bytes);
  auto checkpoint = tare::ReadCheckpointGraph(bytes);
  if (objects.ok() && checkpoint.ok()) (void)tare::MatchObjects(*objects, *checkpoint);
  return 0;
}
