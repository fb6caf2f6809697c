// Import: from the wire straight into immutable graphs, and only what is reached.
//
// A GraphSource indexes the nodes of one GraphDef by name without reading them; a FunctionLibrary indexes the
// functions of one FunctionDefLibrary. Bodies are read when somebody asks for them, once.
//
// All views point into the message's bytes, which the owner (a model) keeps. Thread-safe.
#pragma once
#include <tsl/robin_map.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "wire/attr_wire.h"

namespace tare {

// What importing needs from the model: where arrays go, who owns tensors, which ops exist.
struct ImportContext {
  const OpRegistry* ops;
  Region* region;
  wire::TensorStore* tensors;
  std::mutex* mutex;  // guards region; held while a graph is built
};

// An argument of a function's signature; views of the message.
Result<ArgDef> ReadArgDef(std::string_view bytes);

class FunctionLibrary {
 public:
  explicit FunctionLibrary(ImportContext context) : context_(context) {}
  // Indexes every function of the message. InvalidArgument for a duplicate or nameless one.
  // With `again`, a name that is known already is passed over.
  Status Index(std::string_view function_def_library, bool again = false);

  bool Contains(std::string_view name) const { return functions_.contains(name); }
  // The body, pruned to what its returns and control returns reach. NotFound for an unknown name; errors
  // name the function, node and field.
  Result<const Graph*> Get(std::string_view name) const;
  // The names of the function's outputs, without reading its body.
  Result<std::vector<std::string_view>> OutputNames(std::string_view name) const;
  size_t size() const { return functions_.size(); }
  const ImportContext& context() const { return context_; }

 private:
  struct Entry {
    std::string_view bytes;
    const Graph* graph = nullptr;
  };
  ImportContext context_;
  mutable tsl::robin_map<std::string_view, Entry> functions_;
  mutable std::mutex mutex_;  // guards Entry::graph
};

class GraphSource {
 public:
  GraphSource(ImportContext context, const FunctionLibrary* functions)
      : context_(context), functions_(functions) {}
  // Indexes every node of the GraphDef. InvalidArgument for a duplicate or nameless one.
  Status Index(std::string_view graph_def);

  // The part of the graph that `fetches` ("node:port" or "node") and `targets` ("node") reach, with `feeds`
  // cut off as arguments in their order, placed in `region` where one is given; attributes, read once a node, stay
  // in the model's. NotFound names what is missing.
  Result<const Graph*> Import(std::span<const std::string> feeds, std::span<const std::string> fetches,
                              std::span<const std::string> targets, Region* region = nullptr) const;
  bool Contains(std::string_view node) const { return index_.contains(node); }
  // The value of a Const node.
  Result<Tensor> ConstantValue(std::string_view node) const;
  std::span<const std::string_view> node_names() const { return names_; }

 private:
  struct Parsed;
  ImportContext context_;
  const FunctionLibrary* functions_;
  std::vector<std::string_view> bytes_;
  std::vector<std::string_view> names_;
  tsl::robin_map<std::string_view, int32_t> index_;
  // Attributes are read once a node, so that parts imported for several signatures share constants.
  mutable std::mutex mutex_;
  mutable tsl::robin_map<int32_t, Attrs> attrs_;
};

}  // namespace tare
