#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kScanKernels = {};
}  // namespace tare
