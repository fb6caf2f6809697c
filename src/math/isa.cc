#include "math/isa.h"

#include <algorithm>
#include <cstdlib>

namespace tare::math {

std::string_view IsaName(Isa isa) {
  switch (isa) {
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx2: return "avx2";
    default: return "portable";
  }
}

Isa DetectIsa() {
  // __builtin_cpu_supports also asks the operating system (xgetbv).
  Isa best = Isa::kPortable;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = Isa::kAvx2;
  if (best == Isa::kAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    best = Isa::kAvx512;
  }
  const char* wanted = std::getenv("TARE_ISA");
  if (!wanted) return best;
  for (Isa isa : {Isa::kPortable, Isa::kAvx2}) {
    if (wanted == IsaName(isa)) return std::min(best, isa);
  }
  return best;
}

}  // namespace tare::math
