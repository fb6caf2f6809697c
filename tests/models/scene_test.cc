// The scene of the report: what a kernel cache without a bound keeps, and what the cure keeps.
#include "model_test.h"

namespace tare {
namespace {

constexpr int kNames = 20'000;

Status MakeVariable(EagerContext& context, ResourceScope& scope, int i) {
  TARE_ASSIGN_OR_RETURN(EagerOp op, EagerOp::Make(context, "VarHandleOp"));
  op.SetAttr("dtype", AttrValue::Type(DType::kFloat));
  op.SetAttr("shape", AttrValue::OfShape({}));
  op.SetAttr("shared_name", AttrValue::String(fmt::format("variable_{}", i)));
  RunContext run = context.run_context();
  run.resources = &scope;
  return context.Execute(op, run).ok() ? OkStatus() : Internal("VarHandleOp failed");
}

KernelCacheStats AfterUniqueNames(EagerContext& context) {
  for (int i = 0; i < kNames; ++i) {
    // Each "model" drops its resources; only what the cache keeps may stay.
    ResourceScope scope(context.account());
    EXPECT_TRUE(MakeVariable(context, scope, i).ok());
  }
  return context.kernel_cache().stats();
}

TEST(Scene, UnboundedKeepsAKernelForEveryName) {
  EagerContext context({.threads = 1, .kernel_cache = *KernelCachePolicy::Parse("unbounded")});
  KernelCacheStats stats = AfterUniqueNames(context);
  EXPECT_EQ(stats.entries, static_cast<size_t>(kNames));
  EXPECT_GT(stats.bytes / stats.entries, 100u);
  auto report = context.kernel_cache().report();
  ASSERT_FALSE(report.empty());
  EXPECT_EQ(report[0].op, "VarHandleOp");
  EXPECT_EQ(report[0].varying_attribute, "shared_name");
  EXPECT_FALSE(report[0].warning.empty());
  context.ClearCaches();
  EXPECT_EQ(context.kernel_cache().stats().bytes, 0u);
}

TEST(Scene, ABoundHoldsAndTheReportStillNamesTheOp) {
  EagerContext context({.threads = 1, .kernel_cache = *KernelCachePolicy::Parse("lru:1000")});
  KernelCacheStats stats = AfterUniqueNames(context);
  EXPECT_LE(stats.entries, 1000u);
  EXPECT_EQ(stats.evictions, static_cast<uint64_t>(kNames) - stats.entries);
  auto report = context.kernel_cache().report();
  ASSERT_FALSE(report.empty());
  EXPECT_EQ(report[0].op, "VarHandleOp");
  EXPECT_EQ(report[0].varying_attribute, "shared_name");
  EXPECT_FALSE(report[0].warning.empty());
}

TEST(Scene, ByDefaultMakersOfHandlesAreNeverKept) {
  EagerContext context({.threads = 1});
  KernelCacheStats stats = AfterUniqueNames(context);
  EXPECT_EQ(stats.entries, 0u);
  EXPECT_EQ(stats.refused, static_cast<uint64_t>(kNames));
}

void CycleTwoLayers(EagerContext& context, int cycles) {
  for (int i = 0; i < cycles; ++i) {
    auto model = Model::Load(context, TestData() + "/cycle/keras_dense_sm");
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    EXPECT_EQ((*model)->Unload().total_held(), 0);
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kCycles = 50;
#else
constexpr int kCycles = 1000;
#endif

TEST(Scene, ATwoLayerModelInAThousandCyclesUnderEachPolicy) {
  EagerContext unbounded({.threads = 1, .kernel_cache = *KernelCachePolicy::Parse("unbounded")});
  CycleTwoLayers(unbounded, kCycles);
  const size_t kept = unbounded.kernel_cache().stats().entries;
  EXPECT_GE(kept, size_t{4} * kCycles);  // two kernels and two biases a load
  EagerContext bounded({.threads = 1, .kernel_cache = *KernelCachePolicy::Parse("lru:100")});
  CycleTwoLayers(bounded, kCycles);
  EXPECT_LE(bounded.kernel_cache().stats().entries, 100u);
  EagerContext cured({.threads = 1});
  CycleTwoLayers(cured, kCycles);
  EXPECT_EQ(cured.kernel_cache().stats().entries, 0u);
}

TEST(Scene, ThreeModelsInTurnLeaveNothing) {
  EagerContext context({.threads = 1});
  ExpectNothingStays(context, 100, [&] {
    for (const char* name : {"/cycle/keras_dense_sm", "/cycle/table_tensor_str", "/corpus/k3_mlp"}) {
      auto model = Model::Load(context, TestData() + name);
      ASSERT_TRUE(model.ok()) << model.status().ToString();
      EXPECT_EQ((*model)->Unload().total_held(), 0);
    }
  });
}

}  // namespace
}  // namespace tare
