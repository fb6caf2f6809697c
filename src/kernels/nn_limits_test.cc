// Shapes that a hostile model may declare around tensors without elements: no kernel may walk or allocate them.
#include <gtest/gtest.h>

#include "context/eager_context.h"

namespace tare {
namespace {

constexpr int64_t kBig = int64_t{1} << 30;

class Limits : public ::testing::Test {
 protected:
  Tensor Make(DType dtype, const Shape& shape) { return *Tensor::Make(context_.account(), dtype, shape); }
  Tensor Ints(std::initializer_list<int32_t> values) {
    Tensor t = Make(DType::kInt32, Shape{static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.mutable_data<int32_t>());
    return t;
  }
  // Only that it ends: with a value or an error.
  void Run(std::string_view name, std::initializer_list<Tensor> inputs, std::initializer_list<Attr> attrs = {}) {
    auto op = EagerOp::Make(context_, name);
    ASSERT_TRUE(op.ok());
    for (const Tensor& t : inputs) ASSERT_TRUE(op->AddInput(t).ok());
    for (const Attr& a : attrs) op->SetAttr(a.name, a.value);
    (void)op->Execute();
  }
  static AttrValue List(const std::vector<AttrValue>& values) { return AttrValue::List(AttrKind::kInt, values); }
  static std::vector<AttrValue> Ones(int64_t inner) {
    return {AttrValue::Int(1), AttrValue::Int(inner), AttrValue::Int(inner), AttrValue::Int(1)};
  }
  EagerContext context_{{.threads = 1}};
  const std::vector<AttrValue> one_ = Ones(1), wide_ = Ones(40'000);
  const AttrValue same_ = AttrValue::String("SAME");
};

TEST_F(Limits, WindowsWithoutElementsAreNotWalked) {
  const Tensor empty = Make(DType::kFloat, Shape{1, kBig, kBig, 0});
  Run("MaxPool", {empty}, {{"ksize", List(one_)}, {"strides", List(one_)}, {"padding", same_}});
  Run("AvgPool", {empty}, {{"ksize", List(one_)}, {"strides", List(one_)}, {"padding", same_}});
  Run("Dilation2D", {empty, Make(DType::kFloat, Shape{1, 1, 0})},
      {{"strides", List(one_)}, {"rates", List(one_)}, {"padding", same_}});
  Run("MaxPoolGrad", {empty, empty, empty}, {{"ksize", List(one_)}, {"strides", List(one_)}, {"padding", same_}});
  Run("LRN", {empty});
  Run("DepthwiseConv2dNative", {empty, Make(DType::kFloat, Shape{1, 1, 0, 1})}, {{"strides", List(one_)}, {"padding", same_}});
}

TEST_F(Limits, WindowsLargerThanTheImageAreClipped) {
  Tensor image = Make(DType::kFloat, Shape{1, 2, 2, 1});
  std::ranges::fill(image.mut<float>(), 1.0f);
  Run("MaxPool", {image}, {{"ksize", List(wide_)}, {"strides", List(one_)}, {"padding", same_}});
  Run("AvgPool", {image}, {{"ksize", List(wide_)}, {"strides", List(one_)}, {"padding", same_}});
}

TEST_F(Limits, NoImagesNeedNoPlaces) {
  const Tensor none = Make(DType::kFloat, Shape{0, 3, 3, 1});
  for (const char* op : {"ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea"}) {
    Run(op, {none, Ints({INT32_MAX, INT32_MAX})});
  }
  Run("CropAndResize", {Make(DType::kFloat, Shape{1, 2, 2, 0}), Make(DType::kFloat, Shape{0, 4}), Ints({}), Ints({INT32_MAX, INT32_MAX})});
}

TEST_F(Limits, BatchesOfNothingAreNotWalked) {
  for (const char* op : {"Cholesky", "MatrixInverse", "SelfAdjointEigV2", "Qr", "Svd"}) {
    Run(op, {Make(DType::kFloat, Shape{kBig, kBig, 0, 0})});
    Run(op, {Make(DType::kFloat, Shape{0, kBig, kBig})});
  }
  const Tensor empty = Make(DType::kFloat, Shape{kBig, kBig, 0, 0});
  Run("MatrixSolve", {empty, empty});
  Run("MatrixTriangularSolve", {empty, empty});
  Run("BatchMatMulV2", {empty, empty});
}

}  // namespace
}  // namespace tare
