// Memory really back at the OS: eight large models up, run, all down, and what the OS counts is the base again.
#include <filesystem>
#include <vector>

#include "model_test.h"
#include "soak/dense_model.h"
#include "soak/probe.h"

namespace tare {
namespace {

constexpr int kWidth = 1024, kLayers = 20;  // 80 MiB

Status RunAll(EagerContext& context, const std::string& dir, int copies, int64_t* loaded) {
  std::vector<std::unique_ptr<Model>> models;
  for (int i = 0; i < copies; ++i) {
    TARE_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::Load(context, dir));
    TARE_ASSIGN_OR_RETURN(Tensor x, Tensor::Make(context.account(), DType::kFloat, Shape{4, kWidth}));
    for (float& v : x.mut<float>()) v = 1;
    auto out = model->Run(*model->FindSignature("serving_default"), NamedTensors{{"x", std::move(x)}});
    if (!out.ok()) return std::move(out).status();
    models.push_back(std::move(model));
  }
  *loaded = Probe(ProbeSources{}).Read(0)[Meter::kPrivateDirty];
  return OkStatus();
}

TEST(Memory, EightLargeModelsGiveEverythingBackToTheOs) {
  const std::string dir = testing::TempDir() + "/tare_eight";
  ASSERT_TRUE(WriteDenseModel(dir, {kLayers, kWidth}).ok());
  EagerContext context({.threads = 2});
  int64_t loaded = 0;
  Status warm = RunAll(context, dir, 1, &loaded);
  ASSERT_TRUE(warm.ok()) << warm.ToString();
  const Probe probe{ProbeSources{}};
  const int64_t base = probe.Read(0)[Meter::kPrivateDirty];
  Status run = RunAll(context, dir, 8, &loaded);
  ASSERT_TRUE(run.ok()) << run.ToString();
  const int64_t after = probe.Read(0)[Meter::kPrivateDirty];
  std::filesystem::remove_all(dir);
  if (!Probe::PagesMeaningful()) GTEST_SKIP() << "the sanitizer holds freed pages back";
  EXPECT_GT(loaded - base, int64_t{8} * 40 << 20);  // the rest lies in place in the mapped file
  EXPECT_LT(after - base, int64_t{2} << 20);
}

TEST(Memory, ConstantsOfTheGraphAreHeldOnce) {
  const std::string dir = testing::TempDir() + "/tare_const";
  ASSERT_TRUE(WriteDenseModel(dir, {4, 2048}).ok());  // 64 MiB
  EagerContext context({.threads = 1});
  {
    auto model = Model::Load(context, dir);
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    // Where they lie in the mapped file, or copied where that is not aligned; never both in memory of ours.
    EXPECT_LE((*model)->account().bytes(Kind::kWeights), int64_t{65} << 20);
    EXPECT_EQ((*model)->Unload().total_held(), 0);
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace tare
