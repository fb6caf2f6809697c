#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kCastKernels = {};
}  // namespace tare
