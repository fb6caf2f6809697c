// Many threads run one model, load and unload others, and unload what still runs.
#include <thread>

#include "model_test.h"

namespace tare {
namespace {

Result<NamedTensors> RunMlp(EagerContext& context, Model& model) {
  const Signature* s = model.FindSignature("serving_default");
  TARE_ASSIGN_OR_RETURN(Tensor x, Tensor::Make(context.account(), DType::kFloat, Shape{4, 16}));
  for (float& v : x.mut<float>()) v = 0.5f;
  return model.Run(*s, NamedTensors{{s->inputs[0].name, std::move(x)}});
}

std::string Mlp() { return TestData() + "/corpus/k3_mlp"; }

TEST(Concurrency, EightThreadsGetTheSameAnswers) {
  EagerContext context({.threads = 2});
  auto model = Model::Load(context, Mlp());
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  auto expected = RunMlp(context, **model);
  ASSERT_TRUE(expected.ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto got = RunMlp(context, **model);
        if (!got.ok()) ++wrong;
        else for (auto& [name, e] : *expected) wrong += !std::ranges::equal(e.as<float>(), got->at(name).as<float>());
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Hits, misses and evictions of the kernel cache.
Status RunEagerOps(EagerContext& context, int i) {
  TARE_ASSIGN_OR_RETURN(Tensor x, Tensor::Make(context.account(), DType::kFloat, Shape{2, 2}));
  for (float& v : x.mut<float>()) v = static_cast<float>(i);
  TARE_ASSIGN_OR_RETURN(EagerOp op, EagerOp::Make(context, "LeakyRelu"));
  TARE_RETURN_IF_ERROR(op.AddInput(x));
  op.SetAttr("alpha", AttrValue::Float(static_cast<float>(i % 20) / 32));
  return context.Execute(op, context.run_context()).status();
}

// Over cache, threads, context, plan and model at once: what `make tsan` is for.
TEST(Concurrency, EightThreadsRunWhileOthersLoadUnloadAndClear) {
  EagerContext context({.threads = 2, .kernel_cache = *KernelCachePolicy::Parse("lru:10")});
  auto shared = Model::Load(context, Mlp());
  ASSERT_TRUE(shared.ok());
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) failed += t % 2 ? !RunEagerOps(context, i).ok() : !RunMlp(context, **shared).ok();
    });
  }
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 15; ++i) {
        auto own = Model::Load(context, TestData() + ((i + t) % 2 ? "/corpus/k3_mlp" : "/cycle/table_tensor_str"));
        failed += !own.ok() || (*own)->Unload().total_held() != 0;
        if (i % 5 == 0) context.ClearCaches();
        if (i % 7 == 0) context.kernel_cache().report();
        if (i % 3 == 0) (*shared)->Trim();
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  EXPECT_LE(context.kernel_cache().stats().entries, 10u);
}

TEST(Concurrency, UnloadWaitsForRunningCallsAndLaterOnesFail) {
  EagerContext context({.threads = 2});
  for (int round = 0; round < 10; ++round) {
    auto model = Model::Load(context, Mlp());
    ASSERT_TRUE(model.ok());
    std::atomic<int> unexpected{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (;;) {
          auto got = RunMlp(context, **model);
          if (got.ok()) continue;
          unexpected += got.status().code() != Code::kFailedPrecondition;
          break;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    (*model)->Unload();
    for (auto& t : threads) t.join();
    EXPECT_EQ(unexpected, 0);
    EXPECT_EQ((*model)->account().total(), 0);
  }
}

TEST(Ownership, OutputsOutliveTheirModelAndTheReceiptListsThem) {
  EagerContext context({.threads = 1});
  NamedTensors kept;
  {
    auto model = Model::Load(context, Mlp());
    ASSERT_TRUE(model.ok());
    auto out = RunMlp(context, **model);
    ASSERT_TRUE(out.ok());
    kept = *std::move(out);
    Receipt receipt = (*model)->Unload();
    EXPECT_GT(receipt.held[static_cast<size_t>(Kind::kCaller)], 0);
    EXPECT_EQ(receipt.leaked(false), 0);
  }
  float sum = 0;
  for (auto& [name, t] : kept) {
    for (float v : t.as<float>()) sum += v;
  }
  EXPECT_EQ(sum, sum);
}

TEST(Ownership, FilesCanBeReadInsteadOfMapped) {
  EagerContext context({.threads = 1});
  auto mapped = Model::Load(context, Mlp());
  auto read = Model::Load(context, Mlp(), {.files = MappedFile::Mode::kRead});
  ASSERT_TRUE(mapped.ok() && read.ok());
  EXPECT_EQ((*read)->account().bytes(Kind::kMappedWeights), 0);
  auto a = RunMlp(context, **mapped), b = RunMlp(context, **read);
  ASSERT_TRUE(a.ok() && b.ok());
  for (auto& [name, t] : *a) EXPECT_TRUE(std::ranges::equal(t.as<float>(), b->at(name).as<float>()));
}

TEST(Errors, NameTheFileTheSignatureAndTheInput) {
  EagerContext context({.threads = 1});
  EXPECT_EQ(Model::Load(context, "no/such/model").status().code(), Code::kNotFound);
  auto model = Model::Load(context, Mlp());
  ASSERT_TRUE(model.ok());
  const Signature* s = (*model)->FindSignature("serving_default");
  auto missing = (*model)->Run(*s, NamedTensors{});
  EXPECT_EQ(missing.status().code(), Code::kInvalidArgument);
  EXPECT_NE(missing.status().message().find(s->inputs[0].name), std::string::npos);
  Tensor wrong = *Tensor::Make(context.account(), DType::kInt32, Shape{4, 16});
  EXPECT_EQ((*model)->Run(*s, NamedTensors{{s->inputs[0].name, wrong}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ((*model)->Run(*s, NamedTensors{{"nosuch", wrong}}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tare
