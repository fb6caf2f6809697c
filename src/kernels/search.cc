#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kSearchKernels = {};
}  // namespace tare
