#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kReduceKernels = {};
}  // namespace tare
