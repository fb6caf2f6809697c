#include "kernels/registry.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(KernelRegistry, NoOpStandsInTwoFamiliesAndEachIsTensorFlows) {
  KernelRegistry kernels;
  OpRegistry ops(MakeRef<Account>("test"));
  std::string_view last;
  for (const KernelRow* row : kernels.rows()) {
    EXPECT_NE(row->op, last);
    last = row->op;
    if (row->op.starts_with('_')) continue;
    EXPECT_NE(ops.Find(row->op), nullptr) << row->op;
  }
}

}  // namespace
}  // namespace tare
