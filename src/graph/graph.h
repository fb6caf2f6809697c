// The immutable graph: what a function body or a pruned part of a GraphDef becomes when it is imported.
//
// Everything is a view into a region or into the message's bytes; both outlive the graph. Nodes refer to one
// another by index, and an edge names the producer's flat output port.
#pragma once
#include <span>
#include <string_view>

#include "op/op_def.h"

namespace tare {

// Output `port` of node `node`.
struct Endpoint {
  int32_t node = -1;
  int32_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

struct Node {
  std::string_view name;
  std::string_view op_name;     // as the file spells it; a function's name in a legacy direct call
  const OpDef* op = nullptr;    // null: an argument ("_Arg") or a direct call of a function
  Attrs attrs;                  // without annotations (names that begin with '_')
  std::span<const Endpoint> inputs;
  std::span<const int32_t> controls;  // nodes that must have run before
};

// Name under which a function's arguments, and a graph's fed endpoints, stand among the nodes.
constexpr std::string_view kArgOp = "_Arg";

struct Graph {
  std::string_view name;
  std::span<const Node> nodes;
  std::span<const int32_t> args;        // the argument nodes, in order
  std::span<const DType> arg_types;     // kInvalid where an attribute of the caller's gives it
  std::span<const std::string_view> arg_names;
  std::span<const Endpoint> returns;
  std::span<const std::string_view> return_names;
  std::span<const int32_t> control_returns;
};

}  // namespace tare
