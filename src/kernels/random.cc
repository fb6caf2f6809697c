#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kRandomKernels = {};
}  // namespace tare
