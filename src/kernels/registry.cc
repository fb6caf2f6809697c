#include "kernels/registry.h"

#include <algorithm>

namespace tare {

// One family a file, in the order of the alphabet.
#define TARE_FAMILIES(F) \
  F(kBinaryKernels) \
  F(kCastKernels) \
  F(kCompareKernels) \
  F(kConcatKernels) \
  F(kConvGradKernels) \
  F(kConvKernels) \
  F(kDebugKernels) \
  F(kEinsumKernels) \
  F(kFillKernels) \
  F(kGatherKernels) \
  F(kLinalgKernels) \
  F(kListBulkKernels) \
  F(kListKernels) \
  F(kMatmulKernels) \
  F(kNormKernels) \
  F(kPadKernels) \
  F(kParseExampleKernels) \
  F(kPoolGradKernels) \
  F(kPoolKernels) \
  F(kRaggedKernels) \
  F(kRandomKernels) \
  F(kReduceKernels) \
  F(kRefVariableKernels) \
  F(kRegexKernels) \
  F(kResampleKernels) \
  F(kResizeKernels) \
  F(kScanKernels) \
  F(kSearchKernels) \
  F(kSelectKernels) \
  F(kShapeKernels) \
  F(kSliceKernels) \
  F(kSoftmaxKernels) \
  F(kSparseKernels) \
  F(kStateKernels) \
  F(kStringKernels) \
  F(kTableKernels) \
  F(kTensorArrayKernels) \
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
