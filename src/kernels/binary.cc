#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kBinaryKernels = {};
}  // namespace tare
