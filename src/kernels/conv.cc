#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kConvKernels = {};
}  // namespace tare
