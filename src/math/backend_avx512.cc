#include <immintrin.h>

#include "math/backend.h"
#include "math/transpose.h"

namespace tare::math::avx512 {
#include "math/simd.inc"
#include "math/activation.inc"
#include "math/gemm.inc"
#include "math/depthwise.inc"
#include "math/rows.inc"
#include "math/peak.inc"

extern constinit const Backend kBackend = {
    Isa::kAvx512, kTileRows, kTileColumns, kBlockDepth, kBlockRows, kPanelStride, kRowsWorthCopy,
    RunTiles, RunVector, Dot, RunDepthwiseRows, MaxRows, SumRows, ActivateRows,
    MultiplyAdds, kPeakFlops};

}  // namespace tare::math::avx512
