// Clean: identities go, and so do control edges that order nothing.
//
// A plan runs its steps in the order of the nodes, so all that a control edge does is to keep its origin alive.
// An edge from a pure node therefore means the side effects that the node itself waited for.
#include <algorithm>

#include "passes/passes.h"

namespace tare {
namespace {

// Beyond this many, an edge from a pure node stays as it is.
constexpr size_t kMaxEffects = 16;

bool PassesOn(const FlatNode& n) {
  static constexpr std::string_view kOps[] = {"Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot"};
  return n.what == FlatNode::What::kOp && n.op && n.types.size() == n.inputs.size() &&
         std::ranges::count(kOps, n.op->name) > 0;
}

// Pure, but meant to stop a run.
bool Checks(const FlatNode& n) {
  return n.what == FlatNode::What::kOp && n.op && (n.op->name.starts_with("CheckNumerics") || n.op->name == "EnsureShape");
}

class Cleaner {
 public:
  explicit Cleaner(FlatGraph& flat) : flat_(flat), effects_(flat.nodes.size()) {}

  void Run() {
    for (size_t i = 0; i < flat_.nodes.size(); ++i) {
      FlatNode& n = flat_.nodes[i];
      for (Endpoint& e : n.inputs) e = Source(e);
      n.controls = EffectsOf(n.controls);
      SetEffects(static_cast<int32_t>(i));
    }
    for (Endpoint& e : flat_.returns) e = Source(e);
    flat_.control_returns = EffectsOf(flat_.control_returns);
    DropDeadNodes(flat_);
  }

 private:
  // Past identities that wait for nothing.
  Endpoint Source(Endpoint e) const {
    const FlatNode* n = &flat_.nodes[e.node];
    while (PassesOn(*n) && n->controls.empty()) {
      e = n->inputs[e.port];
      n = &flat_.nodes[e.node];
    }
    return e;
  }

  static void Merge(const std::vector<int32_t>& from, std::vector<int32_t>* to) {
    for (int32_t c : from) {
      if (std::ranges::count(*to, c) == 0) to->push_back(c);
    }
  }

  std::vector<int32_t> EffectsOf(const std::vector<int32_t>& controls) const {
    std::vector<int32_t> effects;
    for (int32_t c : controls) {
      Merge(effects_[c], &effects);
      if (effects.size() > kMaxEffects) return controls;
    }
    return effects;
  }

  void SetEffects(int32_t i) {
    const FlatNode& n = flat_.nodes[i];
    std::vector<int32_t>& mine = effects_[i];
    if (!IsPure(n) || Checks(n)) {
      mine = {i};
      return;
    }
    mine = n.controls;
    for (Endpoint e : n.inputs) {
      Merge(effects_[e.node], &mine);
      if (mine.size() > kMaxEffects) {
        mine = {i};
        return;
      }
    }
  }

  FlatGraph& flat_;
  std::vector<std::vector<int32_t>> effects_;  // by node: what an edge from it means
};

}  // namespace

void CleanGraph(PassGraph& g) { Cleaner(g.flat).Run(); }

}  // namespace tare
