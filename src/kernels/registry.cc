#include "kernels/registry.h"

#include <algorithm>

namespace tare {

// One family a file, in the order of the alphabet.
#define TARE_FAMILIES(F) \
  F(kApplyKernels) \
  F(kBinaryKernels) \
  F(kCastKernels) \
  F(kCheckpointKernels) \
  F(kCompareKernels) \
  F(kConcatKernels) \
  F(kConvGradKernels) \
  F(kConvKernels) \
  F(kCrossEntropyKernels) \
  F(kDebugKernels) \
  F(kDecodeCsvKernels) \
  F(kDiagKernels) \
  F(kDilationKernels) \
  F(kEinsumKernels) \
  F(kFftKernels) \
  F(kFillKernels) \
  F(kGatherKernels) \
  F(kGradientKernels) \
  F(kHistogramKernels) \
  F(kLinalgKernels) \
  F(kListBulkKernels) \
  F(kListKernels) \
  F(kMatmulKernels) \
  F(kNonMaxSuppressionKernels) \
  F(kNormGradKernels) \
  F(kNormKernels) \
  F(kNumericKernels) \
  F(kPadKernels) \
  F(kParseExampleKernels) \
  F(kParseSequenceKernels) \
  F(kPoolGradKernels) \
  F(kPoolKernels) \
  F(kRaggedConvertKernels) \
  F(kRaggedCountKernels) \
  F(kRaggedCrossKernels) \
  F(kRaggedKernels) \
  F(kRaggedVariantKernels) \
  F(kRandomKernels) \
  F(kRandomSamplesKernels) \
  F(kReduceKernels) \
  F(kRefVariableKernels) \
  F(kRegexKernels) \
  F(kResampleKernels) \
  F(kResizeKernels) \
  F(kReverseKernels) \
  F(kScanKernels) \
  F(kScatterKernels) \
  F(kScatterVariableKernels) \
  F(kSearchKernels) \
  F(kSegmentKernels) \
  F(kSelectKernels) \
  F(kSetKernels) \
  F(kShapeKernels) \
  F(kSliceKernels) \
  F(kSoftmaxKernels) \
  F(kSpaceKernels) \
  F(kSparseCrossKernels) \
  F(kSparseKernels) \
  F(kSparseMathKernels) \
  F(kSpecialKernels) \
  F(kStateKernels) \
  F(kStitchKernels) \
  F(kStringBytesKernels) \
  F(kStringFormatKernels) \
  F(kStringKernels) \
  F(kStringNumberKernels) \
  F(kStringSplitKernels) \
  F(kSumKernels) \
  F(kTableKernels) \
  F(kTensorArrayKernels) \
  F(kTopKKernels) \
  F(kTransposeKernels) \
  F(kUnaryKernels) \
  F(kUnicodeKernels)
#define TARE_DECLARE(name) extern const KernelFamily name;
TARE_FAMILIES(TARE_DECLARE)
#undef TARE_DECLARE

KernelRegistry::KernelRegistry() {
#define TARE_ADD(name) \
  for (const KernelRow& row : name) rows_.push_back(&row);
  TARE_FAMILIES(TARE_ADD)
#undef TARE_ADD
  std::ranges::sort(rows_, {}, &KernelRow::op);
  assert(std::ranges::adjacent_find(rows_, {}, &KernelRow::op) == rows_.end());
}

const KernelRow* KernelRegistry::Find(std::string_view op) const {
  auto it = std::ranges::lower_bound(rows_, op, {}, &KernelRow::op);
  return it != rows_.end() && (*it)->op == op ? *it : nullptr;
}

}  // namespace tare
