// Damaged and hostile models: each is refused at load with an error that names the place, fast and small, or,
// where the damage is harmless, answers as the undamaged one does. Nothing stays either way.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include "model_test.h"

namespace tare {
namespace {

// Damage that does not matter.
const std::set<std::string> kHarmless = {"_good", "data_extra", "ix_rewritten_ok", "sm_schema_99", "sm_no_tags",
                                         "asset_crlf", "ent_unknown_rank"};

int64_t PeakKiB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6);
  }
  return 0;
}

std::vector<std::string> Cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TestData() + "/bad")) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// The signature's answers on fixed inputs.
Result<std::vector<float>> Answer(EagerContext& context, Model& model) {
  const Signature* s = model.FindSignature("serving_default");
  if (!s) return NotFound("no serving_default");
  TARE_ASSIGN_OR_RETURN(Tensor x, Tensor::Make(context.account(), DType::kFloat, Shape{2, 16}));
  for (int i = 0; i < 32; ++i) x.mutable_data<float>()[i] = static_cast<float>(i) / 8;
  TARE_ASSIGN_OR_RETURN(NamedTensors out, model.Run(*s, NamedTensors{{"x", std::move(x)}}));
  auto y = out.at("y").as<float>();
  return std::vector<float>(y.begin(), y.end());
}

class Damaged : public testing::TestWithParam<std::string> {};

TEST_P(Damaged, IsRefusedOrHarmlessAndNothingStays) {
  const std::string dir = TestData() + "/bad/" + GetParam();
  EagerContext context({.threads = 1});
  const int64_t peak_before = PeakKiB();
  const auto start = std::chrono::steady_clock::now();
  auto model = Model::Load(context, dir);
  const auto took = std::chrono::steady_clock::now() - start;
  if (kHarmless.contains(GetParam())) {
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    auto good = Model::Load(context, TestData() + "/bad/_good");
    auto expected = Answer(context, **good), actual = Answer(context, **model);
    ASSERT_TRUE(expected.ok() && actual.ok()) << actual.status().ToString();
    EXPECT_EQ(*actual, *expected);
  } else {
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.status().message().find(dir), std::string::npos) << model.status().ToString();
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(std::chrono::duration<double>(took).count(), 0.2);
  EXPECT_LT(PeakKiB() - peak_before, 50 << 10);
#endif
  model = NotFound("dropped");
  ExpectNothingStays(context, 20, [&] {
    auto again = Model::Load(context, dir);
    (void)again.ok();
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, Damaged, testing::ValuesIn(Cases()), [](const auto& i) {
  std::string name = i.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

// By the graph path, damage in the object graph alone is harmless: it is not read.
TEST(DamagedObjectGraph, IsNotNeededByTheGraphLoader) {
  EagerContext context({.threads = 1});
  for (std::string name : {"og_bound_dropped", "og_bound_oob", "og_bound_wrongkind", "og_child_oob", "og_dep_cycle"}) {
    auto model = Model::Load(context, TestData() + "/bad/" + name, {.loader = LoadOptions::Loader::kGraph});
    EXPECT_TRUE(model.ok()) << name << ": " << model.status().ToString();
  }
}

}  // namespace
}  // namespace tare
