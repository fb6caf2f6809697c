#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kTransposeKernels = {};
}  // namespace tare
