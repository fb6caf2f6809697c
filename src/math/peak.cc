#include "math/peak.h"

#include <algorithm>
#include <chrono>

#include "math/backend.h"

namespace tare::math {

double PeakFlops(Isa isa) {
  using Clock = std::chrono::steady_clock;
  const Backend& backend = BackendFor(isa);
  constexpr int64_t kRounds = 20'000;
  double best = 0;
  volatile float sink = 0;
  for (int i = 0; i < 16; ++i) {
    const auto start = Clock::now();
    sink = sink + backend.multiply_adds(kRounds);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(kRounds * backend.peak_flops) / seconds);
  }
  return best;
}

}  // namespace tare::math
