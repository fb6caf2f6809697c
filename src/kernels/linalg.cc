#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kLinalgKernels = {};
}  // namespace tare
