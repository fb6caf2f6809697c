#include "kernels/registry.h"

namespace tare {
extern constinit const KernelFamily kParseExampleKernels = {};
}  // namespace tare
