#include "math/backend.h"

namespace tare::math {

const Backend& BackendFor(Isa isa) {
  switch (isa) {
    case Isa::kAvx512: return avx512::kBackend;
    case Isa::kAvx2: return avx2::kBackend;
    default: return portable::kBackend;
  }
}

const Backend& ThisBackend() {
  static const Backend& backend = BackendFor(DetectIsa());
  return backend;
}

}  // namespace tare::math
