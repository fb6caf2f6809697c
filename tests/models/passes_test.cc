// Graph passes on whole models: variables that stand in plans as constants, and are written after all.
#include <thread>

#include "model_test.h"

namespace tare {
namespace {

class FrozenVariables : public testing::Test {
 protected:
  std::unique_ptr<Model> Load(std::string_view passes) {
    auto model = Model::Load(context_, TestData() + "/corpus/m_multi_sig_state", {.passes = *PassOptions::Parse(passes)});
    EXPECT_TRUE(model.ok()) << model.status().ToString();
    return std::move(*model);
  }
  Tensor Input(DType dtype, const Shape& shape) {
    Tensor t = *Tensor::Make(context_.account(), dtype, shape);
    std::memset(t.mutable_raw(), 0, t.bytes());
    if (dtype == DType::kFloat) {
      for (int64_t i = 0; i < t.num_elements(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i % 5) - 1.5f;
    }
    return t;
  }
  std::vector<float> Logits(Model& model) {
    auto out = model.Run(*model.FindSignature("serving_default"), NamedTensors{{"x", Input(DType::kFloat, {3, 4})}});
    EXPECT_TRUE(out.ok()) << out.status().ToString();
    auto logits = out->at("logits").as<float>();
    return {logits.begin(), logits.end()};
  }
  void Train(Model& model) {
    auto out = model.Run(*model.FindSignature("train"),
                         NamedTensors{{"x", Input(DType::kFloat, {3, 4})}, {"y", Input(DType::kInt32, {3})}});
    EXPECT_TRUE(out.ok()) << out.status().ToString();
  }
  // Answers before and between writes.
  std::vector<std::vector<float>> Answers(std::string_view passes) {
    std::unique_ptr<Model> model = Load(passes);
    std::vector<std::vector<float>> answers = {Logits(*model), Logits(*model)};
    for (int i = 0; i < 3; ++i) {
      Train(*model);
      answers.push_back(Logits(*model));
    }
    EXPECT_EQ(model->Unload().total_held(), 0);
    return answers;
  }
  EagerContext context_{{.threads = 1}};
};

TEST_F(FrozenVariables, AWriteByAnotherSignatureIsSeen) {
  const auto frozen = Answers("all"), plain = Answers("none");
  ASSERT_EQ(frozen.size(), plain.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    for (size_t j = 0; j < plain[i].size(); ++j) EXPECT_NEAR(frozen[i][j], plain[i][j], 1e-5f) << i;
  }
  EXPECT_EQ(frozen[0], frozen[1]);
  EXPECT_NE(frozen[1], frozen[2]);
  EXPECT_NE(frozen[2], frozen[3]);
}

TEST_F(FrozenVariables, ThawingLeavesNothing) {
  ExpectNothingStays(context_, 10, [this] {
    std::unique_ptr<Model> model = Load("all");
    Logits(*model);
    Train(*model);
    Logits(*model);
  });
}

TEST_F(FrozenVariables, ReadersAndAWriterAtOnce) {
  std::unique_ptr<Model> model = Load("all");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if (t == 0 && i > 4) Train(*model);
        else EXPECT_EQ(Logits(*model).size(), 9u);
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(model->Unload().total_held(), 0);
}

}  // namespace
}  // namespace tare
