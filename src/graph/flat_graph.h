// Between graph and plan: one list of nodes with every function call inlined, attributes filled in, and types
// checked. Lives only while a plan is built.
#pragma once
#include <string>
#include <vector>

#include "graph/importer.h"
#include "kernels/registry.h"

namespace tare {

struct FlatNode {
  enum class What : uint8_t {
    kArg,       // argument of the plan
    kConstant,  // `value`
    kOp,
    kGroup,     // orders others and computes nothing
  };
  What what = What::kOp;
  std::string_view name;
  const OpDef* op = nullptr;
  const KernelRow* row = nullptr;  // null for functional ops, which plans run themselves
  Attrs attrs;
  std::vector<Endpoint> inputs;
  std::vector<int32_t> controls;
  std::vector<DType> types;  // of the outputs
  Tensor value;
};

struct FlatGraph {
  // Producers before consumers, but for what NextIteration gives a Merge.
  std::vector<FlatNode> nodes;
  // Whether TF1's control flow (Switch, Merge, Enter ...) is among them: a dataflow kernel runs it then.
  bool dynamic = false;
  std::vector<int32_t> args;
  std::vector<Endpoint> returns;
  std::vector<int32_t> control_returns;

  DType type(Endpoint e) const { return nodes[e.node].types[e.port]; }
};

// The error of a placeholder that is read and was not fed, in TensorFlow's words.
Status MustFeed(std::string_view placeholder, Attrs attrs);

// Whether plans run the op themselves: If, Case, While and their stateless twins.
bool IsFunctionalOp(std::string_view op);

// Switch, Merge, Enter, Exit, NextIteration, LoopCond, ControlTrigger and their reference twins.
bool IsDataflowOp(std::string_view op);

struct FlattenOptions {
  const FunctionLibrary* functions;
  const KernelRegistry* kernels;
  Region* region;                     // where substituted attributes go
  std::span<const Attr> attrs;        // the caller's, for placeholders
  std::span<const Tensor> captures;   // constant values of the last arguments
  std::span<const DType> arg_types;   // overrides the graph's where valid
};

// InvalidArgument for a cycle, mismatched types or ports; Unimplemented lists every op without a kernel.
Result<FlatGraph> Flatten(const Graph& graph, const FlattenOptions& options);

}  // namespace tare
