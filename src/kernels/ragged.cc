#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kRaggedKernels = {};
}  // namespace tare
