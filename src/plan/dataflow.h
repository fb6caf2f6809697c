// TF1's control flow: a graph whose nodes fire when their inputs have arrived, dead or alive.
//
// Switch sends its value to one side and deadness to the other; Merge passes on the first live value; Enter,
// NextIteration and Exit move values into, around and out of a loop's frame (facts/execution.md section 3).
// Here a frame's iteration comes to rest before the next one begins, so each frame has one instance at a
// time; the answers are the same. The whole graph is one kernel of a plan of one step.
#pragma once
#include "graph/flat_graph.h"

namespace tare {

// `kernels[i]` runs node i; null for control flow, constants, arguments and groups, which the dataflow kernel
// handles itself. InvalidArgument when frames do not nest.
Result<KernelPtr> MakeDataflowKernel(Region* region, const FlatGraph& flat, std::vector<KernelPtr> kernels);

}  // namespace tare
