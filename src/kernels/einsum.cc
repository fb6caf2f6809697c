#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kEinsumKernels = {};
}  // namespace tare
