// What the machine can do at best: benches give GFLOP/s as a share of it, measured in the same run.
#pragma once
#include "math/isa.h"

namespace tare::math {

// Floating-point operations a second of one thread that only multiplies and adds in registers: the best of a few
// short runs, about 2 ms in all.
double PeakFlops(Isa isa);

}  // namespace tare::math
