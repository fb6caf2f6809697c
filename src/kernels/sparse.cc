#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kSparseKernels = {};
}  // namespace tare
