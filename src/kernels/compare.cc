#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kCompareKernels = {};
}  // namespace tare
