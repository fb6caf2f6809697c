#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kShapeKernels = {};
}  // namespace tare
