#include "capi/import.h"

#include <tsl/robin_set.h>
#include <unistd.h>

#include <set>

#include "capi/writer.h"

namespace tare::capi {
namespace {

using wire::Bytes;
using wire::Reader;

// Rewrites one GraphDef under the options.
class Importer {
 public:
  Importer(TF_Graph* graph, const TF_ImportGraphDefOptions& options) : graph_(graph), options_(options) {}

  Status Run(std::string_view graph_def) {
    TARE_RETURN_IF_ERROR(ReadNames(graph_def));
    TARE_RETURN_IF_ERROR(NameNodes());
    pbf_writer out(bytes_);
    return wire::ForEachField(graph_def, "GraphDef", [&](Reader& r) -> Status {
      if (r.wire_type() != protozero::pbf_wire_type::length_delimited) return OkStatus();
      const uint32_t tag = r.tag();
      std::string_view field = Bytes(r);
      if (tag != 1) {
        out.add_bytes(tag, field.data(), field.size());
        return OkStatus();
      }
      return WriteNode(pbf_writer(out, 1), field);
    });
  }

  std::string TakeBytes() { return std::move(bytes_); }
  // What a node of the GraphDef is called in the graph; null when there is none.
  const std::string* NameOf(std::string_view node) const {
    auto it = names_.find(std::string(node));
    return it == names_.end() ? nullptr : &it->second;
  }
  bool Used(const std::pair<std::string, int>& mapping) const { return used_.contains(mapping); }

 private:
  Status ReadNames(std::string_view graph_def) {
    return wire::ForEachField(graph_def, "GraphDef", [&](Reader& r) -> Status {
      if (r.tag() == 2) return ReadFunctionNames(Bytes(r));
      if (r.tag() != 1) return OkStatus();
      std::string_view name, op;
      TARE_RETURN_IF_ERROR(wire::ForEachField(Bytes(r), "node", [&](Reader& n) {
        if (n.tag() == 1) name = Bytes(n);
        if (n.tag() == 2) op = Bytes(n);
        return OkStatus();
      }));
      if (name.empty()) return InvalidArgument("a node has no name");
      if (!names_.emplace(name, "").second) return InvalidArgument("Node '{}' is not unique", name);
      order_.emplace_back(name);
      ops_.emplace_back(name, op);
      return OkStatus();
    });
  }
  Status ReadFunctionNames(std::string_view library) {
    return wire::ForEachField(library, "function library", [&](Reader& r) -> Status {
      if (r.tag() != 1) return OkStatus();
      return wire::ForEachField(Bytes(r), "function", [&](Reader& f) -> Status {
        if (f.tag() != 1) return OkStatus();
        return wire::ForEachField(Bytes(f), "signature", [&](Reader& s) {
          if (s.tag() == 1) functions_.emplace(Bytes(s));
          return OkStatus();
        });
      });
    });
  }

  Status NameNodes() {
    for (auto [node, op] : ops_) {
      if (graph_->ops.Find(op) || functions_.contains(op) || HasFunction(op)) continue;
      char host[256] = "localhost";
      gethostname(host, sizeof host - 1);
      return NotFound(
          "Op type not registered '{}' in binary running on {}. Make sure the Op and Kernel are registered in the "
          "binary running in this process. (node '{}')", op, host, node);
    }
    std::string prefix = options_.prefix;
    if (!prefix.empty() && prefix.back() != '/') prefix += '/';
    std::lock_guard lock(graph_->mutex);
    if (!prefix.empty() && options_.uniquify_prefix) {
      const std::string stem = prefix.substr(0, prefix.size() - 1);
      for (int i = 1; PrefixTaken(prefix); ++i) prefix = fmt::format("{}_{}/", stem, i);
    }
    std::set<std::string> taken;
    for (const std::string& node : order_) {
      std::string name = prefix + node;
      for (int i = 1; options_.uniquify_names && (graph_->by_name.contains(name) || taken.contains(name)); ++i) {
        name = fmt::format("{}{}_{}", prefix, node, i);
      }
      if (graph_->by_name.contains(name)) {
        return InvalidArgument("Node name '{}' already exists in the Graph", name);
      }
      taken.insert(name);
      names_[node] = std::move(name);
    }
    return OkStatus();
  }
  bool HasFunction(std::string_view op) {
    std::lock_guard lock(graph_->mutex);
    return graph_->functions.contains(op);
  }
  bool PrefixTaken(std::string_view prefix) const {
    for (const TF_Operation* n : graph_->nodes) {
      if (n->name.starts_with(prefix) || n->name == prefix.substr(0, prefix.size() - 1)) return true;
    }
    return false;
  }

  Status WriteNode(pbf_writer out, std::string_view node) {
    std::string_view name;
    bool has_device = false;
    TARE_RETURN_IF_ERROR(wire::ForEachField(node, "node", [&](Reader& r) -> Status {
      const uint32_t tag = r.tag();
      if (r.wire_type() != protozero::pbf_wire_type::length_delimited) return OkStatus();
      std::string_view field = Bytes(r);
      if (tag == 1) {
        name = field;
        out.add_string(1, *NameOf(field));
      } else if (tag == 3) {
        TARE_ASSIGN_OR_RETURN(std::string input, Rename(name, field));
        out.add_string(3, input);
      } else {
        has_device = has_device || (tag == 4 && !field.empty());
        out.add_bytes(tag, field.data(), field.size());
      }
      return OkStatus();
    }));
    if (!has_device && !options_.device.empty()) out.add_string(4, options_.device);
    return OkStatus();
  }

  Result<std::string> Rename(std::string_view node, std::string_view input) {
    TARE_ASSIGN_OR_RETURN(InputName from, ParseInput(input));
    auto mapping = options_.input_map.find({std::string(from.node), from.port});
    if (mapping != options_.input_map.end()) {
      const TF_Output& to = mapping->second;
      if (!to.oper || to.oper->graph != graph_) return InvalidArgument("an input is mapped to another graph");
      used_.insert(mapping->first);
      return from.port < 0 ? fmt::format("^{}", to.oper->name) : fmt::format("{}:{}", to.oper->name, to.index);
    }
    const std::string* name = NameOf(from.node);
    if (!name) return InvalidArgument("Node '{}': Unknown input node '{}'", node, input);
    if (from.port < 0) return "^" + *name;
    return from.port == 0 ? *name : fmt::format("{}:{}", *name, from.port);
  }

  TF_Graph* graph_;
  const TF_ImportGraphDefOptions& options_;
  std::string bytes_;
  std::vector<std::string> order_;
  std::vector<std::pair<std::string_view, std::string_view>> ops_;
  std::map<std::string, std::string> names_;
  std::set<std::string, std::less<>> functions_;
  std::set<std::pair<std::string, int>> used_;
};

Result<TF_Operation*> FindReturn(TF_Graph* graph, const Importer& importer, const std::string& node) {
  const std::string* name = importer.NameOf(node);
  if (!name) return InvalidArgument("Requested return node '{}' not found in graph def", node);
  return graph->Find(*name);
}

// Whether every node that is to be returned is there: asked before the graph changes.
Status CheckReturns(const Importer& importer, const TF_ImportGraphDefOptions& options) {
  auto check = [&](const std::string& node, std::string_view what) -> Status {
    if (importer.NameOf(node)) return OkStatus();
    return InvalidArgument("Requested return {} '{}' not found in graph def", what, node);
  };
  for (const auto& t : options.return_outputs) {
    if (!options.input_map.contains({t.node, t.index})) TARE_RETURN_IF_ERROR(check(t.node, "tensor"));
  }
  for (const std::string& node : options.return_operations) TARE_RETURN_IF_ERROR(check(node, "node"));
  return OkStatus();
}

}  // namespace

Status ImportGraphDef(TF_Graph* graph, std::string_view graph_def, const TF_ImportGraphDefOptions& options,
                      TF_ImportGraphDefResults* results) {
  Importer importer(graph, options);
  TARE_RETURN_IF_ERROR(importer.Run(graph_def));
  TARE_RETURN_IF_ERROR(CheckReturns(importer, options));
  results->return_outputs.reserve(options.return_outputs.size());
  results->return_operations.reserve(options.return_operations.size());
  for (const auto& [mapping, to] : options.input_map) {
    if (importer.Used(mapping)) continue;
    results->missing_names.push_back(mapping.first);
    results->missing_indexes.push_back(mapping.second);
  }
  for (const std::string& name : results->missing_names) results->missing_pointers.push_back(name.c_str());
  auto bytes = std::make_shared<const std::string>(importer.TakeBytes());
  TARE_RETURN_IF_ERROR(graph->Add(*bytes, bytes));
  for (const auto& t : options.return_outputs) {
    auto mapping = options.input_map.find({t.node, t.index});
    if (mapping != options.input_map.end()) {
      results->return_outputs.push_back(mapping->second);
      continue;
    }
    TARE_ASSIGN_OR_RETURN(TF_Operation * oper, FindReturn(graph, importer, t.node));
    results->return_outputs.push_back({oper, t.index});
  }
  for (const std::string& node : options.return_operations) {
    TARE_ASSIGN_OR_RETURN(TF_Operation * oper, FindReturn(graph, importer, node));
    results->return_operations.push_back(oper);
  }
  return OkStatus();
}

}  // namespace tare::capi
