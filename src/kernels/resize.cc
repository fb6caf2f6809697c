#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kResizeKernels = {};
}  // namespace tare
