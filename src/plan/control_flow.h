// If, Case and While as kernels over plans. The plans belong to the builder that made them.
#pragma once
#include "plan/plan.h"

namespace tare {

// Runs the branch that input 0 chooses: 0 or 1 for If (else first), a clamped index for Case.
KernelPtr MakeBranchKernel(Region* region, bool is_case, std::vector<const Plan*> branches);
KernelPtr MakeWhileKernel(Region* region, const Plan* condition, const Plan* body);

}  // namespace tare
