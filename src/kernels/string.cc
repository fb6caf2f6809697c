#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kStringKernels = {};
}  // namespace tare
