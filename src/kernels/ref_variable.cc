#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kRefVariableKernels = {};
}  // namespace tare
