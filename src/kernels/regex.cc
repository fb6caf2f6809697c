#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kRegexKernels = {};
}  // namespace tare
