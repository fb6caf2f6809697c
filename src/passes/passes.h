// Graph passes: what makes a flat graph do less work for the same answers, between Flatten and the plan.
//
// Each pass is a file, takes the graph and changes it in place, and can be left out by name. They leave the
// order of nodes as it is (producers before consumers): a fused node stands where the last of its parts stood.
// A node that nothing needs any more becomes an empty group. Graphs with TF1's control flow are left alone.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "graph/flat_graph.h"
#include "resource/variable.h"

namespace tare {

struct PassOptions {
  bool freeze = true;      // reads of variables that nothing assigns become constants
  bool clean = true;       // identities, control edges that order nothing, dead nodes
  bool fold = true;        // pure ops of constants
  bool pad = true;         // Pad into the convolution after it
  bool affine = true;      // batch norm and biases into the product before them
  bool activation = true;  // activations into the product before them
  bool residual = true;    // the sum with another tensor into the product before it

  static PassOptions None();
  // Comma-separated: "all" (the default), "none", a pass's name or its name with '-' before it, each changing what
  // stands before: "none,fold", "-residual". InvalidArgument for a name that is no pass.
  static Result<PassOptions> Parse(std::string_view list);
  // All, for help texts: "freeze, clean, ...".
  static std::string Names();
};

// What passes work with. A default one runs those that compute nothing.
struct PassSettings {
  PassOptions options;
  // Where folded ops run and TF1's variables are looked up; none: nothing is folded or frozen.
  std::optional<RunContext> run;
  // Broken by a write to a variable that was frozen.
  Ref<FreezeGuard> guard;
};

// One graph in the passes' hands.
struct PassGraph {
  FlatGraph& flat;
  const KernelRegistry& kernels;
  const FunctionLibrary& functions;
  Region* region;  // of attributes
  const PassSettings& settings;
  bool nested;     // the body of control flow: what it computes may never be asked for
  bool frozen = false;  // set by freeze: a variable's value stands in the graph
};

Status RunPasses(PassGraph& graph);

// The passes, in their order.
Status FreezeVariables(PassGraph& graph);
void CleanGraph(PassGraph& graph);
void FoldConstants(PassGraph& graph);
void FusePads(PassGraph& graph);
Status FuseEpilogues(PassGraph& graph);

// What several passes ask of a graph.
inline bool IsOp(const FlatNode& n, std::string_view op) {
  return n.what == FlatNode::What::kOp && n.op && n.op->name == op;
}
// Whether the node gives the same for the same inputs and changes nothing.
bool IsPure(const FlatNode& n);
// What returns and side effects need.
std::vector<bool> ReachedNodes(const FlatGraph& flat);
// Makes the nodes that nothing needs empty groups. Arguments stay.
void DropDeadNodes(FlatGraph& flat);
// What the op gives for these inputs; invalid when its kernel cannot be made or fails. REQUIRES: settings.run, and a
// node of one output.
Tensor Compute(const PassGraph& graph, const FlatNode& node, std::span<Tensor> inputs);
// The value of a constant that waits for nothing; null for what is none.
const Tensor* ConstantAt(const FlatGraph& flat, Endpoint e);
// A new node that holds `value`. Constants may stand anywhere.
Endpoint AddConstant(FlatGraph& flat, Tensor value);

// Who reads what, kept true while a pass rewires the graph through it.
class Readers {
 public:
  explicit Readers(FlatGraph& flat);
  // The nodes that read any of the node's outputs, once for each time; kReturn for a return.
  static constexpr int32_t kReturn = -1;
  std::span<const int32_t> of(int32_t node) const;
  // The one node that reads the node, and that once; kReturn when there is none such.
  int32_t Sole(int32_t node) const;
  // Whoever reads `from` reads `to` from now on.
  void Redirect(Endpoint from, Endpoint to);
  void SetInputs(int32_t node, std::vector<Endpoint> inputs);

 private:
  FlatGraph& flat_;
  std::vector<std::vector<int32_t>> readers_;  // by node; those added later have none of their own
};

}  // namespace tare
