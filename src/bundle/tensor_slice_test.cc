#include "bundle/tensor_slice.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tare {
namespace {

using namespace std::string_view_literals;

TensorSlice Slice(std::vector<TensorSlice::Extent> extents) {
  TensorSlice s;
  for (auto e : extents) s.extents[s.rank++] = e;
  return s;
}

TEST(TensorSlice, KeysAreTheOrderedCodeThatFilesHold) {
  EXPECT_EQ(SliceKey("p/w", Slice({{2, 1}, {0, 5}})), "\0p/w\0\1\1\2\x82\x81\x80\x85"sv);
  EXPECT_EQ(SliceKey("", Slice({})), "\0\0\1\0"sv);
  EXPECT_EQ(SliceKey("\0\xff"sv, Slice({})), "\0\0\xff\xff\0\0\1\0"sv);
  auto number = [](int64_t v) { return SliceKey("", Slice({{v, 0}})).substr(5); };
  EXPECT_EQ(number(-1), "\x7f\x80"sv);
  EXPECT_EQ(number(63), "\xbf\x80"sv);
  EXPECT_EQ(number(64), "\xc0\x40\x80"sv);
  EXPECT_EQ(number(500), "\xc1\xf4\x80"sv);
  EXPECT_EQ(number(9000), "\xe0\x23\x28\x80"sv);
  EXPECT_EQ(number(2097152), "\xf0\x20\x00\x00\x80"sv);
  EXPECT_EQ(number(INT64_MAX), "\xff\xc0\x7f\xff\xff\xff\xff\xff\xff\xff\x80"sv);
}

TEST(TensorSlice, ReadsSpecs) {
  auto s = ShapeAndSlice::Parse("4 5 2,1:0,5");
  ASSERT_TRUE(s.ok()) << s.status().ToString();
  EXPECT_EQ(s->shape, (Shape{4, 5}));
  EXPECT_EQ(s->slice.ToString(), "2,1:0,5");
  EXPECT_EQ(ShapeAndSlice::Parse("3 -")->slice.ToString(), "-");
  for (std::string_view bad : {"", "4 5", "4 5 2,1", "4 5 2,1:0", "4 5 2,1:0,x", "4 -5 -:-", "4 5 2,0:-", "4 5 2,1:0,5:-",
                               "4 99999999999999999999 -:-", "4 5 -1,2:-", "x 5 -:-"}) {
    EXPECT_EQ(ShapeAndSlice::Parse(bad).status().code(), Code::kInvalidArgument) << bad;
  }
}

TEST(TensorSlice, BoxesStayInsideTheirTensor) {
  Shape whole{4, 5};
  EXPECT_TRUE(Box::Make(Slice({{0, 4}, {4, 1}}), whole).ok());
  EXPECT_TRUE(Box::Make(TensorSlice::Whole(2), whole).ok());
  for (auto bad : {Slice({{0, 5}, {0, -1}}), Slice({{5, 0}, {0, -1}}), Slice({{-1, 2}, {0, -1}}), Slice({{0, 4}}),
                   Slice({{INT64_MAX, 2}, {0, -1}}), Slice({{1, INT64_MAX}, {0, -1}}), Slice({{0, INT64_MIN}, {0, -1}})}) {
    EXPECT_EQ(Box::Make(bad, whole).status().code(), Code::kInternal) << bad.ToString();
  }
}

// Copies every intersection of two boxes of a 3-d tensor and checks each element's place.
TEST(TensorSlice, CopiesExactlyTheSharedPart) {
  const Shape whole{3, 4, 2};
  auto boxes = [&] {
    std::vector<Box> all;
    for (TensorSlice::Extent a : {TensorSlice::Extent{0, 3}, {1, 2}, {0, 1}}) {
      for (TensorSlice::Extent b : {TensorSlice::Extent{0, 4}, {2, 2}, {0, 3}}) {
        for (TensorSlice::Extent c : {TensorSlice::Extent{0, 2}, {1, 1}}) all.push_back(*Box::Make(Slice({a, b, c}), whole));
      }
    }
    return all;
  }();
  auto values = [&](const Box& box) {
    std::vector<int32_t> v;
    for (int64_t i = 0; i < box.shape[0]; ++i) {
      for (int64_t j = 0; j < box.shape[1]; ++j) {
        for (int64_t k = 0; k < box.shape[2]; ++k) {
          v.push_back(static_cast<int32_t>(100 * (box.start[0] + i) + 10 * (box.start[1] + j) + box.start[2] + k));
        }
      }
    }
    return v;
  };
  for (const Box& from : boxes) {
    for (const Box& to : boxes) {
      Box part;
      if (!Box::Intersect(from, to, &part)) continue;
      std::vector<int32_t> source = values(from), expected = values(to), target(expected.size(), -1);
      CopyBox(DType::kInt32, part, source.data(), from, target.data(), to);
      int64_t copied = 0;
      for (size_t i = 0; i < target.size(); ++i) {
        if (target[i] == -1) continue;
        ++copied;
        EXPECT_EQ(target[i], expected[i]);
      }
      EXPECT_EQ(copied, part.shape.num_elements());
    }
  }
}

}  // namespace
}  // namespace tare
