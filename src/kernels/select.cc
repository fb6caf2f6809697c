#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kSelectKernels = {};
}  // namespace tare
