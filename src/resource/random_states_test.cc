#include "resource/random_states.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(RandomStates, AModelsSequencesStartWithItAndGoOn) {
  RandomStates context;
  RandomStates first(&context), second(&context);
  const auto a = first.Reserve(1, 7, 8, 1)();
  const auto b = first.Reserve(1, 7, 8, 1)();
  EXPECT_NE(a, b);
  EXPECT_EQ(second.Reserve(1, 7, 8, 1)(), a);
  EXPECT_EQ(second.Reserve(1, 7, 8, 1)(), b);
  EXPECT_EQ(context.size(), 0u);
}

TEST(RandomStates, SeedsThatNobodyChoseComeFromTheContextsSeed) {
  RandomStates context;
  RandomStates model(&context);
  EXPECT_NE(model.Reserve(1, 0, 0, 1)(), model.Reserve(2, 0, 0, 1)());
  context.SetSeed(42);
  const auto a = model.Reserve(1, 0, 0, 1)();
  const auto b = model.Reserve(2, 0, 0, 1)();
  EXPECT_NE(a, b);
  context.SetSeed(42);  // a model that is loaded starts again
  EXPECT_EQ(model.Reserve(1, 0, 0, 1)(), a);
  EXPECT_EQ(model.Reserve(2, 0, 0, 1)(), b);
}

TEST(RandomStates, AreBoundedAndDropWhatIsUnusedLongest) {
  RandomStates states;
  const auto first = states.Reserve(0, 1, 1, 1)();
  for (uint64_t id = 1; id < RandomStates::kMaxStates; ++id) states.Reserve(id, 1, 1, 1);
  EXPECT_NE(states.Reserve(0, 1, 1, 1)(), first);  // still known, and now the most recent
  for (uint64_t id = 0; id < 10; ++id) states.Reserve(RandomStates::kMaxStates + id, 1, 1, 1);
  EXPECT_EQ(states.size(), RandomStates::kMaxStates);
  const auto again = states.Reserve(1, 1, 1, 1)();  // forgotten: starts over
  EXPECT_EQ(again, first);
}

}  // namespace
}  // namespace tare
