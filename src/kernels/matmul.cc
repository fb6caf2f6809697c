#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kMatmulKernels = {};
}  // namespace tare
