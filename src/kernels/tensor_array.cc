#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kTensorArrayKernels = {};
}  // namespace tare
