#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kPoolKernels = {};
}  // namespace tare
