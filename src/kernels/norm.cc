#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kNormKernels = {};
}  // namespace tare
