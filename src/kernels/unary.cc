#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kUnaryKernels = {};
}  // namespace tare
