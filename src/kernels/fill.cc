#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kFillKernels = {};
}  // namespace tare
