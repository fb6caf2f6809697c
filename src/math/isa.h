// Which instruction set the heavy kernels use: found once from the processor, or forced.
#pragma once
#include <string_view>

namespace tare::math {

enum class Isa { kPortable, kAvx2, kAvx512 };

// The best this processor and its operating system support, lowered (never raised) by the environment
// variable TARE_ISA: "portable", "avx2" or "avx512".
Isa DetectIsa();
std::string_view IsaName(Isa isa);

}  // namespace tare::math
