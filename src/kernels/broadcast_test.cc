#include "kernels/broadcast.h"

#include <gtest/gtest.h>

#include <numeric>

#include "context/eager_context.h"

namespace tare {
namespace {

Tensor Counting(EagerContext& context, const Shape& shape, float first = 0) {
  Tensor t = *Tensor::Make(context.account(), DType::kFloat, shape);
  std::iota(t.mut<float>().begin(), t.mut<float>().end(), first);
  return t;
}

Tensor RunOp(EagerContext& context, std::string_view name, std::vector<Tensor> inputs) {
  EagerOp op = *EagerOp::Make(context, name);
  for (Tensor& t : inputs) EXPECT_TRUE(op.AddInput(std::move(t)).ok());
  auto out = op.Execute();
  EXPECT_TRUE(out.ok()) << out.status().ToString();
  return (*out)[0];
}

// The element of `t` that output element `at` of `out` reads.
float Read(const Tensor& t, const Shape& out, int64_t at) {
  int64_t offset = 0, stride = 1;
  for (int d = out.rank() - 1, own = t.rank() - 1; own >= 0; --d, --own) {
    int64_t i = at % out[d];
    at /= out[d];
    if (t.dim(own) != 1) offset += i * stride;
    stride *= t.dim(own);
  }
  return t.as<float>()[offset];
}

TEST(Broadcast, AgreesWithIndexArithmeticOverBlocksAndThreads) {
  EagerContext context({.threads = 3});
  const std::pair<Shape, Shape> kShapes[] = {
      {{1000, 130}, {130}},     {{1000, 130}, {1000, 1}}, {{70000}, {}},           {{}, {70000}},
      {{300, 1}, {1, 300}},     {{40, 50, 60}, {50, 1}},  {{40, 50, 60}, {60}},    {{40, 1, 60}, {50, 1}},
      {{7, 1, 5, 1, 900}, {1, 3, 1, 2, 1}}, {{513}, {513}}, {{2, 513}, {513}},     {{20000, 3}, {3}},
      {{20000, 3}, {20000, 1}},
  };
  for (const auto& [a, b] : kShapes) {
    Tensor x = Counting(context, a), y = Counting(context, b, 0.5f);
    Tensor z = RunOp(context, "Sub", {x, y});
    Shape shape = *BroadcastShape(a, b);
    ASSERT_EQ(z.shape(), shape);
    for (int64_t i = 0; i < z.num_elements(); ++i) {
      ASSERT_EQ(z.as<float>()[i], Read(x, shape, i) - Read(y, shape, i)) << shape.ToString() << " at " << i;
    }
  }
}

TEST(Broadcast, MergesDimensionsThatWalkTogether) {
  Shape out{4, 5, 6}, row{6}, column{4, 5, 1};
  EXPECT_EQ(BroadcastPlan({&out, &out}, out).rank, 1);
  BroadcastPlan plan({&out, &row}, out);
  EXPECT_EQ(plan.rank, 2);
  EXPECT_EQ(plan.dims[1], 20);
  EXPECT_EQ(plan.strides[1][1], 0);
  EXPECT_EQ(BroadcastPlan({&column, &row}, out).rank, 2);
}

TEST(Reduce, AgreesWithPlainSumsWhateverTheShape) {
  EagerContext context({.threads = 3});
  const Shape kShapes[] = {{100000}, {3, 40000}, {40000, 3}, {200, 300}, {20, 30, 100}, {2, 50000, 2}, {50, 1500, 2}};
  for (const Shape& shape : kShapes) {
    Tensor x = *Tensor::Make(context.account(), DType::kFloat, shape);
    for (int64_t i = 0; float& v : x.mut<float>()) v = static_cast<float>(i++ % 7) - 2;
    for (int mask = 1; mask < 1 << shape.rank(); ++mask) {
      std::vector<int32_t> axes;
      Shape kept;
      for (int d = 0; d < shape.rank(); ++d) {
        if (mask >> d & 1) axes.push_back(d);
        else kept.Append(shape[d]);
      }
      Tensor axes_tensor = *Tensor::Make(context.account(), DType::kInt32, {static_cast<int64_t>(axes.size())});
      std::ranges::copy(axes, axes_tensor.mut<int32_t>().begin());
      std::vector<float> want(kept.num_elements());
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        int64_t rest = i, at = 0, stride = 1;
        for (int d = shape.rank() - 1; d >= 0; --d) {
          if (!(mask >> d & 1)) {
            at += rest % shape[d] * stride;
            stride *= shape[d];
          }
          rest /= shape[d];
        }
        want[at] += x.as<float>()[i];
      }
      Tensor got = RunOp(context, "Sum", {x, axes_tensor});
      ASSERT_EQ(got.shape(), kept);
      for (int64_t i = 0; i < got.num_elements(); ++i) ASSERT_EQ(got.as<float>()[i], want[i]) << shape.ToString();
    }
  }
}

}  // namespace
}  // namespace tare
