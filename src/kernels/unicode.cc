#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kUnicodeKernels = {};
}  // namespace tare
