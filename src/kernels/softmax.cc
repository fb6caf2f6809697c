#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kSoftmaxKernels = {};
}  // namespace tare
