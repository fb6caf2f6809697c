// Build: from a graph to a plan. One builder a model: plans of the functions that control flow calls are
// built once and shared by all plans, so the builder outlives every plan it made.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "graph/flat_graph.h"
#include "plan/plan.h"

namespace tare {

class PlanBuilder {
 public:
  PlanBuilder(const FunctionLibrary& functions, const KernelRegistry& kernels, Ref<Account> account)
      : functions_(functions), kernels_(kernels), account_(std::move(account)) {}

  // The last `captures.size()` arguments become constants; arg_types, where given, override the graph's.
  // Not thread-safe.
  Result<std::unique_ptr<Plan>> Build(const Graph& graph, std::span<const Tensor> captures = {},
                                      std::span<const DType> arg_types = {});

 private:
  Result<std::unique_ptr<Plan>> BuildWith(const Graph& graph, Attrs attrs, std::span<const Tensor> captures,
                                          std::span<const DType> arg_types);
  // The one step of a plan whose graph has TF1 control flow.
  Status AddDataflowStep(const FlatGraph& flat, Plan* plan);
  Result<KernelPtr> MakeKernel(const FlatGraph& flat, const FlatNode& node, Region* region);
  Result<const Plan*> SubPlan(const AttrValue& function, std::span<const DType> arg_types);

  const FunctionLibrary& functions_;
  const KernelRegistry& kernels_;
  Ref<Account> account_;
  // By name, attributes and argument types; null while it is being built, so that recursion is noticed.
  std::map<std::string, std::unique_ptr<Plan>> sub_plans_;
};

}  // namespace tare
