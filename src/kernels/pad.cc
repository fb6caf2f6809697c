#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kPadKernels = {};
}  // namespace tare
