#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kSliceKernels = {};
}  // namespace tare
