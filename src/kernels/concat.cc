#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kConcatKernels = {};
}  // namespace tare
