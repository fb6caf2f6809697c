#include "tensor/shape.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tare {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Result<Shape> Make(std::vector<int64_t> dims) { return Shape::Make(dims); }

TEST(Shape, AScalarHasOneElementAndAZeroMakesNone) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ((Shape{3, 0, 5}).num_elements(), 0);
  EXPECT_EQ((Shape{2, 3}).num_elements(), 6);
  EXPECT_EQ((Shape{2, 3, 4}).product(1, 3), 12);
  EXPECT_EQ((Shape{2, 3, 4}).product(1, 1), 1);
}

TEST(Shape, MakeRefusesWhatIsNegativeTooDeepOrTooLarge) {
  EXPECT_TRUE(Make({}).ok());
  EXPECT_TRUE(Make({kMax}).ok());
  EXPECT_TRUE(Make(std::vector<int64_t>(kMaxRank, 2)).ok());
  for (const auto& bad : std::vector<std::vector<int64_t>>{
           {-1}, {2, -3}, {std::numeric_limits<int64_t>::min()}, {kMax, 2}, {int64_t{1} << 32, int64_t{1} << 31},
           {0, kMax, kMax}, {kMax, kMax, 0}, std::vector<int64_t>(kMaxRank + 1, 1)}) {
    auto s = Make(bad);
    EXPECT_FALSE(s.ok()) << PartialShape{false, bad}.ToString();
    EXPECT_EQ(s.status().code(), Code::kInvalidArgument);
  }
}

TEST(Shape, DimensionsAreInsertedAppendedAndRemovedAnywhere) {
  Shape s{2, 3};
  s.Insert(0, 7);
  s.Insert(3, 9);
  s.Insert(2, 8);
  EXPECT_EQ(s.ToString(), "[7,2,8,3,9]");
  s.Remove(4);
  s.Remove(0);
  s.Append(1);
  EXPECT_EQ(s, (Shape{2, 8, 3, 1}));
  EXPECT_NE(s, (Shape{2, 8, 3}));
  EXPECT_NE(s, (Shape{2, 8, 3, 2}));
}

TEST(PartialShape, AcceptsWhatItLeavesOpen) {
  std::vector<int64_t> dims = {-1, 3};
  PartialShape p{false, dims};
  EXPECT_TRUE(p.Accepts({5, 3}));
  EXPECT_TRUE(p.Accepts({0, 3}));
  EXPECT_FALSE(p.Accepts({5, 4}));
  EXPECT_FALSE(p.Accepts({3}));
  EXPECT_FALSE(p.fully_defined());
  EXPECT_EQ(p.ToString(), "[?,3]");
  EXPECT_TRUE(PartialShape{}.Accepts({1, 2, 3}));
  EXPECT_EQ(PartialShape{}.ToString(), "<unknown>");
  EXPECT_TRUE((PartialShape{false, {}}.Accepts({})));
  EXPECT_TRUE((PartialShape{false, {}}.fully_defined()));
}

TEST(BroadcastShape, FollowsNumpyInBothDirections) {
  auto both = [](Shape a, Shape b) {
    auto ab = BroadcastShape(a, b), ba = BroadcastShape(b, a);
    EXPECT_EQ(*ab, *ba);
    return ab->ToString();
  };
  EXPECT_EQ(both({2, 3}, {2, 3}), "[2,3]");
  EXPECT_EQ(both({2, 3}, {}), "[2,3]");
  EXPECT_EQ(both({2, 1, 3}, {4, 1}), "[2,4,3]");
  EXPECT_EQ(both({0, 3}, {1, 3}), "[0,3]");
  EXPECT_EQ(both({1}, {0}), "[0]");
}

TEST(BroadcastShape, NamesBothShapesThatDoNotFitAndRefusesOverflow) {
  auto s = BroadcastShape({2, 3}, {4});
  EXPECT_EQ(s.status().message(), "Incompatible shapes: [2,3] vs. [4]");
  EXPECT_EQ(s.status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(BroadcastShape({0}, {2}).ok());
  EXPECT_FALSE(BroadcastShape({int64_t{1} << 40, 1}, {1, int64_t{1} << 40}).ok());
}

}  // namespace
}  // namespace tare
