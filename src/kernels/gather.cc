#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kGatherKernels = {};
}  // namespace tare
