// Frozen graphs: a GraphDef alone in a .pb file answers as the SavedModel it came from.
#include <fstream>

#include "model_test.h"
#include "soak/dense_model.h"

namespace tare {
namespace {

Result<Tensor> RunOnce(EagerContext& context, Model& model, const std::string& input) {
  TARE_ASSIGN_OR_RETURN(Tensor x, Tensor::Make(context.account(), DType::kFloat, Shape{2, 8}));
  for (int i = 0; i < 16; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  TARE_ASSIGN_OR_RETURN(NamedTensors out, model.Run(model.signatures()[0], NamedTensors{{input, std::move(x)}}));
  return out.begin()->second;
}

TEST(FrozenGraph, AnswersAsItsSavedModel) {
  const std::string dir = testing::TempDir() + "/tare_frozen", pb = dir + "/graph.pb";
  ASSERT_TRUE(WriteDenseModel(dir, {2, 8}).ok());
  {
    auto file = SavedModelFile::Open(dir, MappedFile::Mode::kMap, MakeRef<Account>("test"));
    ASSERT_TRUE(file.ok());
    auto meta = file->Select({});
    ASSERT_TRUE(meta.ok());
    std::ofstream(pb, std::ios::binary) << meta->graph_def;
  }
  EagerContext context({.threads = 1});
  auto saved = Model::Load(context, dir), frozen = Model::Load(context, pb);
  ASSERT_TRUE(saved.ok() && frozen.ok()) << frozen.status().ToString();
  auto a = RunOnce(context, **saved, "x"), b = RunOnce(context, **frozen, "x");
  ASSERT_TRUE(a.ok() && b.ok()) << b.status().ToString();
  EXPECT_TRUE(std::ranges::equal(a->as<float>(), b->as<float>()));

  // Nodes can be named: here the first product is fetched and the second is not run.
  auto cut = Model::Load(context, pb, {.inputs = {"x"}, .outputs = {"y0:0"}});
  ASSERT_TRUE(cut.ok()) << cut.status().ToString();
  EXPECT_EQ((*cut)->signatures()[0].outputs[0].name, "y0:0");
  EXPECT_EQ(Model::Load(context, pb, {.outputs = {"nosuch"}}).status().code(), Code::kNotFound);
  ExpectNothingStays(context, 20, [&] { (void)Model::Load(context, pb).ok(); });
  std::filesystem::remove_all(dir);
}

TEST(FrozenGraph, WhatIsNoGraphIsRefused) {
  const std::string pb = testing::TempDir() + "/tare_garbage.pb";
  std::ofstream(pb, std::ios::binary) << "this is no graph";
  EagerContext context({.threads = 1});
  auto model = Model::Load(context, pb);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find(pb), std::string::npos);
  std::filesystem::remove(pb);
}

}  // namespace
}  // namespace tare
