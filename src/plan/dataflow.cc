#include "plan/dataflow.h"

#include <algorithm>
#include <map>

namespace tare {
namespace {

enum class Role : uint8_t { kKernel, kConstant, kArg, kGroup, kSwitch, kMerge, kEnter, kExit, kNext, kPass };

Role RoleOf(const FlatNode& n) {
  if (n.what == FlatNode::What::kConstant) return Role::kConstant;
  if (n.what == FlatNode::What::kArg) return Role::kArg;
  if (n.what == FlatNode::What::kGroup) return Role::kGroup;
  if (!n.op || !IsDataflowOp(n.op->name)) return Role::kKernel;
  std::string_view op = n.op->name;
  if (op.starts_with("Ref")) op.remove_prefix(3);
  if (op == "Switch") return Role::kSwitch;
  if (op == "Merge") return Role::kMerge;
  if (op == "Enter") return Role::kEnter;
  if (op == "Exit") return Role::kExit;
  if (op == "NextIteration") return Role::kNext;
  if (op == "ControlTrigger") return Role::kGroup;
  return Role::kPass;  // LoopCond
}

struct Edge {
  int32_t node;   // -1: a return
  int32_t input;  // which input, or which return
};

struct DataflowNode {
  Role role;
  bool is_constant_enter = false;
  bool trigger = false;  // ControlTrigger: runs even after dead controls
  int32_t frame = 0;     // in which it runs; an Enter's outputs go to its child
  int32_t first_input = 0, num_inputs = 0, num_controls = 0;
  int32_t num_next = 0;  // Merge: inputs that come from NextIteration
  std::string_view name;
  KernelPtr kernel;
  Tensor value;
  std::vector<std::vector<Edge>> outputs;
  std::vector<int32_t> control_outputs;
};

struct FrameInfo {
  int32_t parent = -1;
  int32_t depth = 0;
  std::vector<int32_t> nodes;
};

struct DataflowGraph {
  std::vector<DataflowNode> nodes;
  std::vector<FrameInfo> frames;
  std::vector<int32_t> args;
  size_t num_inputs = 0, num_returns = 0;
};

// One run. Everything is indexed as the graph's nodes and inputs are.
class DataflowRun {
 public:
  DataflowRun(const DataflowGraph& g, KernelCall& call)
      : g_(g), call_(call), pending_(g.nodes.size()), dead_(g.nodes.size()), fired_(g.nodes.size()),
        inputs_(g.num_inputs), frames_(g.frames.size()), returned_(g.num_returns) {}

  Status Run() {
    Begin(0);
    for (size_t i = 0; i < g_.args.size(); ++i) Emit(g_.args[i], 0, call_.TakeInput(static_cast<int>(i)), false);
    for (int32_t n : g_.frames[0].nodes) {
      if (g_.nodes[n].role != Role::kArg && pending_[n] == 0 && g_.nodes[n].role != Role::kMerge) ready_.push_back(n);
    }
    for (;;) {
      while (!ready_.empty()) {
        int32_t n = ready_.back();
        ready_.pop_back();
        TARE_RETURN_IF_ERROR(Fire(n));
      }
      if (call_.cancelled()) return Cancelled("the run was cancelled");
      if (!Advance()) break;
    }
    for (size_t i = 0; i < returned_.size(); ++i) {
      if (!returned_[i]) return InvalidArgument("Retval[{}] does not have value", i);
    }
    return OkStatus();
  }

 private:
  struct FrameState {
    bool active = false;
    int64_t iteration = 0;
    std::vector<std::pair<int32_t, Tensor>> next;       // what NextIteration nodes hold for the next round
    std::vector<std::pair<int32_t, Tensor>> constants;  // what constant Enter nodes give every round
    std::vector<int32_t> dead_exits;
  };

  // Counts to wait for in a fresh iteration of the frame.
  void Begin(int32_t frame) {
    FrameState& f = frames_[frame];
    f.active = true;
    for (int32_t n : g_.frames[frame].nodes) {
      const DataflowNode& d = g_.nodes[n];
      // A Merge waits for its first live input, or for all of this round's to be dead.
      pending_[n] = d.role == Role::kMerge ? (f.iteration == 0 ? d.num_inputs - d.num_next : d.num_next)
                                           : d.num_inputs + d.num_controls;
      dead_[n] = fired_[n] = false;
    }
  }

  Status Fire(int32_t id) {
    const DataflowNode& n = g_.nodes[id];
    if (dead_[id] && !n.trigger) {
      Die(id);
      return OkStatus();
    }
    Tensor* in = inputs_.data() + n.first_input;
    switch (n.role) {
      case Role::kConstant: Emit(id, 0, n.value, false); break;
      case Role::kSwitch: {
        if (in[1].num_elements() != 1 || in[1].dtype() != DType::kBool) {
          return InvalidArgument("the predicate of Switch '{}' must be a scalar", n.name);
        }
        const int taken = in[1].scalar<bool>() ? 1 : 0;
        Emit(id, 1 - taken, {}, true);
        Emit(id, taken, std::move(in[0]), false);
        break;
      }
      case Role::kEnter: {
        if (n.is_constant_enter) frames_[ChildFrame(id)].constants.emplace_back(id, in[0]);
        Emit(id, 0, std::move(in[0]), false);
        break;
      }
      case Role::kNext: frames_[n.frame].next.emplace_back(id, std::move(in[0])); break;
      case Role::kExit:
      case Role::kPass: Emit(id, 0, std::move(in[0]), false); break;
      case Role::kKernel: return RunKernel(id);
      case Role::kArg:
      case Role::kGroup:
      case Role::kMerge: break;
    }
    if (n.role != Role::kNext) EmitControls(id, false);
    return OkStatus();
  }

  Status RunKernel(int32_t id) {
    const DataflowNode& n = g_.nodes[id];
    pointers_.clear();
    for (int32_t i = 0; i < n.num_inputs; ++i) pointers_.push_back(&inputs_[n.first_input + i]);
    if (last_use_.size() < pointers_.size()) last_use_.assign(pointers_.size(), 1);
    outputs_.assign(n.outputs.size(), Tensor());
    KernelCall call(call_.run(), pointers_, {reinterpret_cast<const bool*>(last_use_.data()), pointers_.size()},
                    outputs_, n.name);
    Status s = n.kernel->Run(call);
    if (!s.ok()) return std::move(s).AtNode(n.name);
    for (Tensor* t : pointers_) *t = Tensor();
    for (size_t p = 0; p < n.outputs.size(); ++p) Emit(id, static_cast<int>(p), std::move(outputs_[p]), false);
    EmitControls(id, false);
    return OkStatus();
  }

  // A node that does not run: its outputs are dead. An Exit waits: a later round may yet bring it to life.
  void Die(int32_t id) {
    const DataflowNode& n = g_.nodes[id];
    for (int32_t i = 0; i < n.num_inputs; ++i) inputs_[n.first_input + i] = Tensor();
    if (n.role == Role::kNext) return;
    if (n.role == Role::kExit) {
      frames_[n.frame].dead_exits.push_back(id);
      return;
    }
    for (size_t p = 0; p < n.outputs.size(); ++p) Emit(id, static_cast<int>(p), {}, true);
    EmitControls(id, true);
  }

  int32_t ChildFrame(int32_t enter) const {
    for (const Edge& e : g_.nodes[enter].outputs[0]) {
      if (e.node >= 0) return g_.nodes[e.node].frame;
    }
    return g_.nodes[enter].frame;
  }

  void Emit(int32_t id, int port, Tensor value, bool dead) {
    const auto& edges = g_.nodes[id].outputs[port];
    for (size_t i = 0; i < edges.size(); ++i) {
      if (i + 1 < edges.size()) Deliver(edges[i], value, dead);
      else Deliver(edges[i], std::move(value), dead);
    }
  }

  void EmitControls(int32_t id, bool dead) {
    for (int32_t to : g_.nodes[id].control_outputs) {
      if (!frames_[g_.nodes[to].frame].active) Begin(g_.nodes[to].frame);
      // A Merge's control inputs only order it.
      if (g_.nodes[to].role == Role::kMerge) continue;
      dead_[to] = dead_[to] || dead;
      if (--pending_[to] == 0) ready_.push_back(to);
    }
  }

  void Deliver(const Edge& e, Tensor value, bool dead) {
    if (e.node < 0) {
      if (dead) return;
      call_.SetOutput(e.input, std::move(value));
      returned_[e.input] = true;
      return;
    }
    const DataflowNode& n = g_.nodes[e.node];
    if (!frames_[n.frame].active) Begin(n.frame);
    if (n.role == Role::kMerge) return DeliverToMerge(e, std::move(value), dead);
    inputs_[n.first_input + e.input] = std::move(value);
    dead_[e.node] = dead_[e.node] || dead;
    if (--pending_[e.node] == 0) ready_.push_back(e.node);
  }

  void DeliverToMerge(const Edge& e, Tensor value, bool dead) {
    --pending_[e.node];
    if (fired_[e.node]) return;
    if (dead) {
      if (pending_[e.node] == 0) Die(e.node);
      return;
    }
    fired_[e.node] = true;
    const DataflowNode& n = g_.nodes[e.node];
    if (n.outputs.size() > 1 && !n.outputs[1].empty()) {
      auto index = call_.Temp(DType::kInt32, Shape{});
      if (index.ok()) {
        *index->mutable_data<int32_t>() = e.input;
        Emit(e.node, 1, *std::move(index), false);
      }
    }
    Emit(e.node, 0, std::move(value), false);
    EmitControls(e.node, false);
  }

  // When nothing is ready: the innermost frame goes on to its next round, or ends. False when the root ends.
  bool Advance() {
    int32_t innermost = 0;
    for (size_t i = 1; i < frames_.size(); ++i) {
      if (frames_[i].active && g_.frames[i].depth > g_.frames[innermost].depth) innermost = static_cast<int32_t>(i);
    }
    FrameState& f = frames_[innermost];
    if (!f.next.empty()) {
      ++f.iteration;
      f.dead_exits.clear();
      Begin(innermost);
      auto next = std::move(f.next);
      f.next.clear();
      for (auto& [id, value] : f.constants) Emit(id, 0, value, false);
      for (auto& [id, value] : next) Emit(id, 0, std::move(value), false);
      for (auto& [id, value] : next) EmitControls(id, false);
      return true;
    }
    if (innermost == 0) return false;
    // Exits that never lived tell the parent so.
    auto exits = std::move(f.dead_exits);
    f = FrameState();
    for (int32_t id : exits) {
      Emit(id, 0, {}, true);
      EmitControls(id, true);
    }
    return true;
  }

  const DataflowGraph& g_;
  KernelCall& call_;
  std::vector<int32_t> pending_;
  std::vector<char> dead_, fired_;
  std::vector<Tensor> inputs_;
  std::vector<FrameState> frames_;
  std::vector<char> returned_;
  std::vector<int32_t> ready_;
  std::vector<Tensor*> pointers_;
  std::vector<char> last_use_;
  std::vector<Tensor> outputs_;
};

class DataflowKernel final : public Kernel {
 public:
  explicit DataflowKernel(DataflowGraph g) : g_(std::move(g)) {}
  Status Run(KernelCall& c) const override { return DataflowRun(g_, c).Run(); }
  size_t bytes() const override { return sizeof *this + g_.nodes.size() * sizeof(DataflowNode); }

 private:
  const DataflowGraph g_;
};

// Which frame each node runs in: a node's is its inputs', one in for what Enter gives, one out after Exit.
Status AssignFrames(const FlatGraph& flat, DataflowGraph* g) {
  std::map<std::pair<int32_t, std::string>, int32_t> by_name;
  g->frames.push_back({});
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    const FlatNode& n = flat.nodes[i];
    int32_t frame = -1;
    auto from = [&](int32_t producer) -> Status {
      if (producer >= static_cast<int32_t>(i)) return OkStatus();  // a loop's back edge
      int32_t f = g->nodes[producer].frame;
      if (g->nodes[producer].role == Role::kExit) f = g->frames[f].parent;
      if (g->nodes[producer].role == Role::kEnter) {
        const AttrValue* name = FindAttr(flat.nodes[producer].attrs, "frame_name");
        if (!name || name->kind != AttrKind::kString) return InvalidArgument("Enter '{}' names no frame", flat.nodes[producer].name);
        auto [it, is_new] = by_name.emplace(std::pair(f, std::string(name->s)), static_cast<int32_t>(g->frames.size()));
        if (is_new) g->frames.push_back({f, g->frames[f].depth + 1, {}});
        f = it->second;
      }
      if (f < 0 || (frame >= 0 && frame != f)) {
        return InvalidArgument("node '{}': its inputs come from different frames", n.name);
      }
      frame = f;
      return OkStatus();
    };
    for (Endpoint e : n.inputs) TARE_RETURN_IF_ERROR(from(e.node));
    for (int32_t c : n.controls) TARE_RETURN_IF_ERROR(from(c));
    g->nodes[i].frame = std::max(frame, 0);
    g->frames[g->nodes[i].frame].nodes.push_back(static_cast<int32_t>(i));
  }
  return OkStatus();
}

}  // namespace

Result<KernelPtr> MakeDataflowKernel(Region* region, const FlatGraph& flat, std::vector<KernelPtr> kernels) {
  DataflowGraph g;
  g.nodes.resize(flat.nodes.size());
  g.args = flat.args;
  g.num_returns = flat.returns.size();
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    const FlatNode& n = flat.nodes[i];
    DataflowNode& d = g.nodes[i];
    d.role = RoleOf(n);
    d.trigger = n.op && n.op->name == "ControlTrigger";
    d.name = n.name;
    d.kernel = std::move(kernels[i]);
    d.value = n.value;
    d.outputs.resize(n.types.size());
    d.first_input = static_cast<int32_t>(g.num_inputs);
    d.num_inputs = static_cast<int32_t>(n.inputs.size());
    d.num_controls = static_cast<int32_t>(n.controls.size());
    g.num_inputs += n.inputs.size();
    if (d.role == Role::kEnter) {
      const AttrValue* constant = FindAttr(n.attrs, "is_constant");
      d.is_constant_enter = constant && constant->kind == AttrKind::kBool && constant->i != 0;
    }
  }
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    const FlatNode& n = flat.nodes[i];
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      DataflowNode& from = g.nodes[n.inputs[k].node];
      from.outputs[n.inputs[k].port].push_back({static_cast<int32_t>(i), static_cast<int32_t>(k)});
      if (from.role == Role::kNext && g.nodes[i].role == Role::kMerge) ++g.nodes[i].num_next;
    }
    for (int32_t c : n.controls) g.nodes[c].control_outputs.push_back(static_cast<int32_t>(i));
  }
  for (size_t r = 0; r < flat.returns.size(); ++r) {
    g.nodes[flat.returns[r].node].outputs[flat.returns[r].port].push_back({-1, static_cast<int32_t>(r)});
  }
  TARE_RETURN_IF_ERROR(AssignFrames(flat, &g));
  return KernelPtr(region->New<DataflowKernel>(std::move(g)), KernelDeleter{true});
}

}  // namespace tare
