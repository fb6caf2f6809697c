#include "plan/plan_builder.h"

#include <algorithm>

#include "op/fingerprint.h"
#include "plan/control_flow.h"
#include "plan/dataflow.h"

namespace tare {
namespace {

constexpr int32_t kNoSlot = -1;

// Hands out slots, lowest first, so that frames stay small.
class SlotAllocator {
 public:
  int32_t Take(size_t n) {
    if (n == 1 && !free_.empty()) {
      int32_t s = free_.back();
      free_.pop_back();
      return s;
    }
    auto s = static_cast<int32_t>(size_);
    size_ += n;
    return s;
  }
  void Release(int32_t slot) { free_.push_back(slot); }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
  std::vector<int32_t> free_;
};

}  // namespace

Result<std::unique_ptr<Plan>> PlanBuilder::Build(const Graph& graph, std::span<const Tensor> captures,
                                                 std::span<const DType> arg_types) {
  std::lock_guard lock(mutex_);
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, BuildWith(graph, {}, captures, arg_types, false));
  if (plan->guard_) {
    plan->rebuild_ = [this, &graph, captures = std::vector(captures.begin(), captures.end()),
                      arg_types = std::vector(arg_types.begin(), arg_types.end())] {
      return Build(graph, captures, arg_types);
    };
  }
  return plan;
}

Result<std::unique_ptr<Plan>> PlanBuilder::BuildWith(const Graph& graph, Attrs attrs,
                                                     std::span<const Tensor> captures,
                                                     std::span<const DType> arg_types, bool nested) {
  std::unique_ptr<Plan> plan(new Plan(account_));
  TARE_ASSIGN_OR_RETURN(FlatGraph flat, Flatten(graph, {&functions_, &kernels_, &plan->region_, attrs, captures,
                                                        arg_types}));
  for (const FlatNode& n : flat.nodes) {
    plan->uses_bfloat16_ = plan->uses_bfloat16_ || std::ranges::count(n.types, DType::kBfloat16) > 0;
  }
  PassGraph passes{flat, kernels_, functions_, &plan->region_, passes_, nested};
  TARE_RETURN_IF_ERROR(RunPasses(passes));
  if (passes.frozen) plan->guard_ = passes_.guard;
  TARE_RETURN_IF_ERROR(flat.dynamic ? AddDataflowStep(flat, plan.get()) : Assemble(flat, plan.get()));
  return plan;
}

Status PlanBuilder::Assemble(FlatGraph& flat, Plan* plan) {
  const std::vector<bool> reached = ReachedNodes(flat);
  std::vector<std::vector<int32_t>> slots(flat.nodes.size()), uses(flat.nodes.size());
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    slots[i].assign(flat.nodes[i].types.size(), kNoSlot);
    uses[i].assign(flat.nodes[i].types.size(), 0);
  }
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    if (!reached[i]) continue;
    for (Endpoint e : flat.nodes[i].inputs) ++uses[e.node][e.port];
  }
  // A returned value is used once more, at the end.
  for (Endpoint e : flat.returns) ++uses[e.node][e.port];

  SlotAllocator allocator;
  for (int32_t a : flat.args) {
    plan->arg_types_.push_back(flat.nodes[a].types[0]);
    if (uses[a][0] > 0) slots[a][0] = allocator.Take(1);
    plan->arg_slots_.push_back(slots[a][0]);
  }
  std::vector<int32_t> constants(flat.nodes.size(), kNoSlot);
  auto constant = [&](int32_t node) {
    if (constants[node] == kNoSlot) {
      constants[node] = static_cast<int32_t>(plan->constants_.size());
      plan->constants_.push_back(flat.nodes[node].value);
    }
    return ~constants[node];
  };

  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    FlatNode& n = flat.nodes[i];
    if (!reached[i] || n.what != FlatNode::What::kOp) continue;
    auto kernel = MakeKernel(flat, n, &plan->region_);
    if (!kernel.ok()) return std::move(kernel).status().At(fmt::format("node '{}' ({})", n.name, n.op ? n.op->name : ""));
    Plan::Step step;
    step.kernel = kernel->get();
    plan->kernels_.push_back(*std::move(kernel));
    step.name = n.name;
    step.op = n.op ? n.op->name : "";
    std::vector<int32_t> inputs, released;
    auto last_use = plan->region_.AllocateArray<bool>(n.inputs.size());
    // Outputs get slots while the inputs still hold theirs.
    step.num_outputs = static_cast<int32_t>(n.types.size());
    step.first_output = n.types.empty() ? 0 : allocator.Take(n.types.size());
    for (size_t p = 0; p < n.types.size(); ++p) {
      slots[i][p] = step.first_output + static_cast<int32_t>(p);
      if (uses[i][p] == 0) released.push_back(slots[i][p]);
    }
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      Endpoint e = n.inputs[k];
      if (flat.nodes[e.node].what == FlatNode::What::kConstant) {
        inputs.push_back(constant(e.node));
        continue;
      }
      inputs.push_back(slots[e.node][e.port]);
      if (--uses[e.node][e.port] > 0) continue;
      // A value read twice by one step is nobody's to take.
      last_use[k] = std::ranges::count(n.inputs, e) == 1;
      released.push_back(slots[e.node][e.port]);
    }
    for (int32_t s : released) allocator.Release(s);
    plan->num_inputs_ += inputs.size();
    step.inputs = plan->region_.CopyArray(std::span<const int32_t>(inputs));
    step.released = plan->region_.CopyArray(std::span<const int32_t>(released));
    step.last_use = last_use;
    plan->steps_.push_back(step);
  }
  for (Endpoint e : flat.returns) {
    bool is_constant = flat.nodes[e.node].what == FlatNode::What::kConstant;
    plan->returns_.push_back(is_constant ? constant(e.node) : slots[e.node][e.port]);
    plan->return_types_.push_back(flat.type(e));
    plan->return_last_use_.push_back(!is_constant && --uses[e.node][e.port] == 0);
  }
  plan->num_slots_ = allocator.size();
  return OkStatus();
}

Status PlanBuilder::AddDataflowStep(const FlatGraph& flat, Plan* plan) {
  std::vector<KernelPtr> kernels(flat.nodes.size());
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    const FlatNode& n = flat.nodes[i];
    if (n.what != FlatNode::What::kOp || (n.op && IsDataflowOp(n.op->name))) continue;
    auto kernel = MakeKernel(flat, n, &plan->region_);
    if (!kernel.ok()) return std::move(kernel).status().At(fmt::format("node '{}'", n.name));
    kernels[i] = *std::move(kernel);
  }
  TARE_ASSIGN_OR_RETURN(KernelPtr all, MakeDataflowKernel(&plan->region_, flat, std::move(kernels)));
  const auto args = static_cast<int32_t>(flat.args.size()), returns = static_cast<int32_t>(flat.returns.size());
  Plan::Step step{.kernel = all.get(), .name = "graph", .op = "", .first_output = args, .num_outputs = returns};
  plan->kernels_.push_back(std::move(all));
  auto inputs = plan->region_.AllocateArray<int32_t>(flat.args.size());
  auto last_use = plan->region_.AllocateArray<bool>(flat.args.size());
  for (int32_t i = 0; i < args; ++i) {
    inputs[i] = i;
    last_use[i] = true;
    plan->arg_slots_.push_back(i);
    plan->arg_types_.push_back(flat.nodes[flat.args[i]].types[0]);
  }
  for (int32_t i = 0; i < returns; ++i) {
    plan->returns_.push_back(args + i);
    plan->return_types_.push_back(flat.type(flat.returns[i]));
    plan->return_last_use_.push_back(true);
  }
  step.inputs = inputs;
  step.last_use = last_use;
  step.released = inputs;
  plan->steps_.push_back(step);
  plan->num_slots_ = static_cast<size_t>(args + returns);
  plan->num_inputs_ = flat.args.size();
  return OkStatus();
}

Result<KernelPtr> PlanBuilder::MakeKernel(const FlatGraph& flat, const FlatNode& n, Region* region) {
  static constexpr OpDef kReadRef{.name = "_ReadRef"};
  if (n.op) TARE_RETURN_IF_ERROR(CheckAttrs(*n.op, n.attrs));
  if (n.row) return n.row->make(KernelInit{n.op ? *n.op : kReadRef, n.attrs, region});
  std::vector<DType> types;
  for (Endpoint e : n.inputs) types.push_back(flat.type(e));
  auto sub_plan = [&](std::string_view attr, bool skip_first) -> Result<const Plan*> {
    const AttrValue* f = FindAttr(n.attrs, attr);
    if (!f || f->kind != AttrKind::kFunction || f->is_list) return InvalidArgument("attr '{}' names no function", attr);
    return SubPlan(*f, std::span<const DType>(types).subspan(skip_first));
  };
  auto check = [&](const Plan& plan, std::span<const DType> outputs, std::string_view attr) -> Status {
    if (std::ranges::equal(plan.return_types(), outputs,
                           [](DType a, DType b) { return a == b || a == DType::kInvalid || b == DType::kInvalid; })) {
      return OkStatus();
    }
    return InvalidArgument("what function '{}' returns is not what {} gives", attr, n.op->name);
  };
  if (n.op->name.ends_with("While")) {
    TARE_ASSIGN_OR_RETURN(const Plan* condition, sub_plan("cond", false));
    TARE_ASSIGN_OR_RETURN(const Plan* body, sub_plan("body", false));
    if (condition->num_returns() != 1) return InvalidArgument("function 'cond' returns {} values", condition->num_returns());
    TARE_RETURN_IF_ERROR(check(*body, types, "body"));
    return MakeWhileKernel(region, condition, body);
  }
  std::vector<const Plan*> branches;
  const bool is_case = n.op->name.ends_with("Case");
  if (is_case) {
    const AttrValue* list = FindAttr(n.attrs, "branches");
    if (!list || !list->is_list || list->list.empty()) return InvalidArgument("attr 'branches' lists no function");
    for (const AttrValue& f : list->list) {
      TARE_ASSIGN_OR_RETURN(const Plan* plan, SubPlan(f, std::span<const DType>(types).subspan(1)));
      branches.push_back(plan);
    }
  } else {
    for (std::string_view attr : {"else_branch", "then_branch"}) {
      TARE_ASSIGN_OR_RETURN(const Plan* plan, sub_plan(attr, true));
      branches.push_back(plan);
    }
  }
  for (const Plan* plan : branches) TARE_RETURN_IF_ERROR(check(*plan, n.types, "branch"));
  return MakeBranchKernel(region, is_case, std::move(branches));
}

Result<const Plan*> PlanBuilder::SubPlan(const AttrValue& function, std::span<const DType> arg_types) {
  if (function.kind != AttrKind::kFunction) return InvalidArgument("a branch names no function");
  const FunctionRef& f = *function.function;
  Fingerprint print = FingerprintOf(f.name, "", f.attrs);
  std::string key = fmt::format("{}/{:x}{:x}", f.name, print.high, print.low);
  auto [it, is_new] = sub_plans_.try_emplace(key);
  if (!is_new) {
    if (!it->second) return Unimplemented("function '{}' calls itself", f.name);
  } else {
    auto graph = functions_.Get(f.name);
    if (!graph.ok()) {
      sub_plans_.erase(it);
      return std::move(graph).status();
    }
    auto plan = BuildWith(**graph, f.attrs, {}, {}, true);
    if (!plan.ok()) {
      sub_plans_.erase(key);
      return std::move(plan).status().At(fmt::format("function '{}'", f.name));
    }
    it->second = *std::move(plan);
  }
  const Plan& plan = *it->second;
  if (plan.num_args() != arg_types.size()) {
    return InvalidArgument("function '{}' takes {} arguments, {} are given", f.name, plan.num_args(), arg_types.size());
  }
  for (size_t i = 0; i < arg_types.size(); ++i) {
    DType want = plan.arg_types()[i];
    if (want != DType::kInvalid && arg_types[i] != DType::kInvalid && want != arg_types[i]) {
      return InvalidArgument("function '{}' takes {} as argument {}, {} is given", f.name, DTypeName(want), i,
                             DTypeName(arg_types[i]));
    }
  }
  return &plan;
}

}  // namespace tare
