#include "tensor/workspace.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

class WorkspaceTest : public testing::Test {
 protected:
  Tensor Make(const Shape& shape) { return *workspace_.Make(account_, DType::kFloat, shape); }
  Ref<Account> account_ = MakeRef<Account>("test", 0);
  Workspace workspace_;
};

TEST_F(WorkspaceTest, AFreedBlockIsTakenAgain) {
  const void* at = Make({1000}).raw();
  Tensor again = Make({10, 99});
  EXPECT_EQ(again.raw(), at);
  EXPECT_EQ(workspace_.num_blocks(), 1u);
}

TEST_F(WorkspaceTest, ABlockInUseIsNobodyElses) {
  Tensor a = Make({1000});
  Tensor shared = a;
  a = Tensor();
  EXPECT_NE(Make({1000}).raw(), shared.raw());
}

TEST_F(WorkspaceTest, TheOnlyHolderMayWriteInPlace) {
  Tensor a = Make({4});
  EXPECT_TRUE(a.may_reuse());
  Tensor b = a;
  EXPECT_FALSE(a.may_reuse());
}

TEST_F(WorkspaceTest, WhatLivesOnIsLetGo) {
  Tensor kept = Make({1000});
  workspace_.EndRun();
  EXPECT_EQ(workspace_.num_blocks(), 0u);
  EXPECT_TRUE(kept.may_reuse());
  EXPECT_GT(account_->total(), 0);
  kept = Tensor();
  EXPECT_EQ(account_->total(), 0);
}

TEST_F(WorkspaceTest, ASmallTensorLeavesALargeBlock) {
  const void* large = Make({1 << 20}).raw();
  EXPECT_NE(Make({1 << 16}).raw(), large);
}

TEST_F(WorkspaceTest, BlocksThatNoRunNeedsAreFreed) {
  Make({1 << 20});
  for (uint32_t i = 0; i <= Workspace::kIdleRuns; ++i) workspace_.EndRun();
  EXPECT_EQ(workspace_.num_blocks(), 0u);
  EXPECT_EQ(account_->total(), 0);
}

TEST_F(WorkspaceTest, KeepsABoundedNumberOfBlocks) {
  std::vector<Tensor> live;
  for (int i = 0; i < 1100; ++i) live.push_back(Make({4}));
  EXPECT_EQ(workspace_.num_blocks(), 1024u);
}

TEST_F(WorkspaceTest, StringsAreAlwaysFresh) {
  Tensor s = *workspace_.Make(account_, DType::kString, {3});
  EXPECT_EQ(workspace_.num_blocks(), 0u);
}

}  // namespace
}  // namespace tare
