// What recorded cases cannot say: array ops on shapes that hold no element but have huge dimensions end at
// once, and results that can share their input's bytes do.
#include <gtest/gtest.h>

#include "context/eager_context.h"

namespace tare {
namespace {

constexpr int64_t kHuge = int64_t{1} << 40;

class ArrayOps : public testing::Test {
 protected:
  Tensor Empty(const Shape& shape, DType dtype = DType::kFloat) {
    return *Tensor::Make(context_.account(), dtype, shape);
  }
  Tensor Ints(const Shape& shape, std::initializer_list<int32_t> values) {
    Tensor t = Empty(shape, DType::kInt32);
    std::ranges::copy(values, t.mutable_data<int32_t>());
    return t;
  }
  Tensor Vector(std::initializer_list<int32_t> values) {
    return Ints(Shape{static_cast<int64_t>(values.size())}, values);
  }
  Result<std::vector<Tensor>> Run(std::string_view name, std::vector<Tensor> inputs,
                                  std::initializer_list<std::pair<std::string_view, AttrValue>> attrs = {}) {
    auto op = EagerOp::Make(context_, name);
    EXPECT_TRUE(op.ok()) << name;
    for (const auto& [attr, value] : attrs) op->SetAttr(attr, value);
    for (Tensor& t : inputs) EXPECT_TRUE(op->AddInput(std::move(t)).ok()) << name;
    return op->Execute();
  }
  EagerContext context_{{.threads = 2}};
};

TEST_F(ArrayOps, HugeShapesWithoutElementsEndAtOnce) {
  const Shape rows{kHuge, 0}, matrices{kHuge, 3, 0}, columns{0, kHuge};
  EXPECT_TRUE(Run("Where", {Empty(rows)}).ok());
  EXPECT_TRUE(Run("Transpose", {Empty(matrices), Vector({2, 0, 1})}).ok());
  EXPECT_TRUE(Run("ReverseV2", {Empty(rows), Vector({0})}).ok());
  EXPECT_TRUE(Run("Roll", {Empty(rows), Vector({5}), Vector({0})}).ok());
  EXPECT_TRUE(Run("Tile", {Empty(rows), Vector({2, 3})}).ok());
  EXPECT_TRUE(Run("Pad", {Empty(columns), Ints(Shape{2, 2}, {0, 0, 1, 1})}).ok());
  EXPECT_TRUE(Run("MirrorPad", {Empty(columns), Ints(Shape{2, 2}, {0, 0, 1, 1})},
                  {{"mode", AttrValue::String("REFLECT")}}).ok());
  EXPECT_TRUE(Run("Unpack", {Empty(matrices)}, {{"num", AttrValue::Int(3)}, {"axis", AttrValue::Int(1)}}).ok());
  EXPECT_TRUE(Run("Split", {Ints(Shape{}, {1}), Empty(matrices)}, {{"num_split", AttrValue::Int(3)}}).ok());
  EXPECT_TRUE(Run("MatrixBandPart", {Empty(matrices), Ints(Shape{}, {0}), Ints(Shape{}, {0})}).ok());
  EXPECT_TRUE(Run("MatrixDiagPart", {Empty(matrices)}).ok());
  EXPECT_TRUE(Run("MatrixSetDiag", {Empty(matrices), Empty(rows)}).ok());
  EXPECT_TRUE(Run("MatrixDiag", {Empty(rows)}).ok());
  EXPECT_TRUE(Run("UniqueV2", {Empty(matrices), Vector({1})}).ok());
  EXPECT_TRUE(Run("DenseToDenseSetOperation", {Empty(rows, DType::kInt32), Empty(rows, DType::kInt32)},
                  {{"set_operation", AttrValue::String("union")}}).ok());
  EXPECT_TRUE(Run("SparseSegmentSum", {Empty(columns), Vector({}), Vector({})}).ok());
  EXPECT_TRUE(Run("SegmentSum", {Empty(columns), Vector({})}).ok());
  EXPECT_TRUE(Run("GatherV2", {Empty(rows), Vector({1, 2}), Ints(Shape{}, {0})}).ok());
  EXPECT_TRUE(Run("SpaceToBatchND", {Empty(rows), Vector({1 << 20}), Ints(Shape{1, 2}, {0, 0})}).ok());
  EXPECT_TRUE(Run("SpaceToBatchND", {Empty(Shape{kHuge, 4, 0}), Vector({4}), Ints(Shape{1, 2}, {0, 0})}).ok());
  auto concat = EagerOp::Make(context_, "ConcatV2");
  ASSERT_TRUE(concat->AddInputList(std::vector<Tensor>{Empty(rows), Empty(rows)}).ok());
  ASSERT_TRUE(concat->AddInput(Vector({1})).ok());
  EXPECT_TRUE(concat->Execute().ok());
}

TEST_F(ArrayOps, SizesThatOverflowAreRefused) {
  EXPECT_EQ(Run("Tile", {Empty(Shape{kHuge, 0}), Vector({1 << 30, 1})}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Run("SpaceToBatchND", {Empty(Shape{kHuge, 0}), Vector({1 << 30}), Ints(Shape{1, 2}, {0, 0})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Run("MatrixDiag", {Empty(Shape{0, kHuge})}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Run("GatherV2", {Empty(Shape{0, kHuge}), Empty(Shape{kHuge, 0}, DType::kInt32), Ints(Shape{}, {0})})
                .status().code(),
            Code::kInvalidArgument);
}

TEST_F(ArrayOps, ContiguousPiecesShareBytes) {
  Tensor x = Empty(Shape{4, 3});
  auto shares = [&](const Result<std::vector<Tensor>>& r, int64_t at) {
    return r.ok() && (*r)[0].raw() == x.data<float>() + at;
  };
  EXPECT_TRUE(shares(Run("Reshape", {x, Vector({-1})}), 0));
  EXPECT_TRUE(shares(Run("ExpandDims", {x, Ints(Shape{}, {0})}), 0));
  EXPECT_TRUE(shares(Run("Slice", {x, Vector({1, 0}), Vector({2, 3})}), 3));
  EXPECT_TRUE(shares(Run("StridedSlice", {x, Vector({2, 1}), Vector({3, 3}), Vector({1, 1})}), 7));
  EXPECT_TRUE(shares(Run("GatherV2", {x, Ints(Shape{}, {2}), Ints(Shape{}, {0})}), 6));
  EXPECT_TRUE(shares(Run("Split", {Ints(Shape{}, {0}), x}, {{"num_split", AttrValue::Int(2)}}), 0));
  EXPECT_TRUE(shares(Run("Transpose", {x, Vector({0, 1})}), 0));
  EXPECT_FALSE(shares(Run("Transpose", {x, Vector({1, 0})}), 0));
}

}  // namespace
}  // namespace tare
