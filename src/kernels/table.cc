#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kTableKernels = {};
}  // namespace tare
