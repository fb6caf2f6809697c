// Build: from a graph to a plan. One builder a model: plans of the functions that control flow calls are
// built once and shared by all plans, so the builder outlives every plan it made.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "passes/passes.h"
#include "plan/plan.h"

namespace tare {

class PlanBuilder {
 public:
  // Without settings, no pass runs.
  PlanBuilder(const FunctionLibrary& functions, const KernelRegistry& kernels, Ref<Account> account,
              PassSettings passes = {.options = PassOptions::None()})
      : functions_(functions), kernels_(kernels), account_(std::move(account)), passes_(std::move(passes)) {}

  // The last `captures.size()` arguments become constants; arg_types, where given, override the graph's. The graph
  // must outlive the plan: when a variable that the plan holds as a constant is written, its next run builds it
  // anew. Thread-safe.
  Result<std::unique_ptr<Plan>> Build(const Graph& graph, std::span<const Tensor> captures = {},
                                      std::span<const DType> arg_types = {});

 private:
  // `nested`: the body of control flow.
  Result<std::unique_ptr<Plan>> BuildWith(const Graph& graph, Attrs attrs, std::span<const Tensor> captures,
                                          std::span<const DType> arg_types, bool nested);
  // Slots, constants and steps from the graph as the passes left it.
  Status Assemble(FlatGraph& flat, Plan* plan);
  // The one step of a plan whose graph has TF1 control flow.
  Status AddDataflowStep(const FlatGraph& flat, Plan* plan);
  Result<KernelPtr> MakeKernel(const FlatGraph& flat, const FlatNode& node, Region* region);
  Result<const Plan*> SubPlan(const AttrValue& function, std::span<const DType> arg_types);

  const FunctionLibrary& functions_;
  const KernelRegistry& kernels_;
  Ref<Account> account_;
  const PassSettings passes_;
  std::mutex mutex_;  // held while a plan is built
  // Guarded by mutex_. By name and attributes; null while it is being built, so that recursion is noticed.
  std::map<std::string, std::unique_ptr<Plan>> sub_plans_;
};

}  // namespace tare
