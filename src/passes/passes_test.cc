// Each pass on small graphs: what is left of them, and that they give the same.
#include "passes/passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "context/eager_context.h"
#include "kernels/fused.h"

namespace tare {
namespace {

// A graph of one float argument, `x`, written node by node, and the answers it gives.
class PassesTest : public testing::Test {
 protected:
  PassesTest() {
    FlatNode arg;
    arg.what = FlatNode::What::kArg;
    arg.name = "x";
    arg.types = {DType::kFloat};
    flat_.nodes.push_back(arg);
    flat_.args = {0};
  }

  Tensor Values(const Shape& shape, float first = -1, float step = 0.13f) {
    Tensor t = *Tensor::Make(context_.account(), DType::kFloat, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) t.mutable_data<float>()[i] = first + step * static_cast<float>(i % 23);
    return t;
  }
  Tensor Ints(std::vector<int32_t> values, Shape shape) {
    Tensor t = *Tensor::Make(context_.account(), DType::kInt32, shape);
    std::ranges::copy(values, t.mutable_data<int32_t>());
    return t;
  }
  Endpoint Constant(Tensor t) { return AddConstant(flat_, std::move(t)); }
  Endpoint Number(float f) { return Constant(Values(Shape{}, f)); }
  Endpoint Op(std::string_view op, std::vector<Endpoint> inputs, std::vector<Attr> attrs = {}) {
    FlatNode n;
    n.name = op;
    n.op = context_.ops().Find(op);
    n.row = context_.kernels().Find(op);
    EXPECT_TRUE(n.op && n.row) << op;
    for (std::string_view type : {"T", "Tshape"}) {
      if (n.op->FindAttrDef(type)) {
        attrs.push_back({type, AttrValue::Type(type == "T" ? flat_.type(inputs[0]) : DType::kInt32)});
      }
    }
    n.attrs = region_.CopyArray(std::span<const Attr>(attrs));
    n.types = {flat_.type(inputs[0])};
    if (op.starts_with("FusedBatchNorm")) n.types.resize(6, DType::kFloat);
    n.inputs = std::move(inputs);
    flat_.nodes.push_back(std::move(n));
    return {static_cast<int32_t>(flat_.nodes.size()) - 1, 0};
  }
  AttrValue List(std::initializer_list<int64_t> values) {
    std::vector<AttrValue> list;
    for (int64_t v : values) list.push_back(AttrValue::Int(v));
    return AttrValue::List(AttrKind::kInt, region_.CopyArray(std::span<const AttrValue>(list)));
  }
  Endpoint Conv(Endpoint from, const Shape& filter, std::string_view padding = "SAME", std::string_view op = "Conv2D") {
    return Op(op, {from, Constant(Values(filter, -0.5f))},
              {{"strides", List({1, 1, 1, 1})}, {"padding", AttrValue::String(padding)}});
  }
  Endpoint MatMul(Endpoint from, int64_t k, int64_t n) { return Op("MatMul", {from, Constant(Values({k, n}, -0.4f))}); }

  // The returned value for this argument, without a plan.
  Tensor Evaluate(const Tensor& x) {
    PassGraph g = graph();
    std::vector<Tensor> values(flat_.nodes.size());
    const std::vector<bool> reached = ReachedNodes(flat_);
    for (size_t i = 0; i < flat_.nodes.size(); ++i) {
      if (flat_.nodes[i].what == FlatNode::What::kConstant) values[i] = flat_.nodes[i].value;
    }
    values[0] = x;
    for (size_t i = 0; i < flat_.nodes.size(); ++i) {
      const FlatNode& n = flat_.nodes[i];
      if (!reached[i] || n.what != FlatNode::What::kOp) continue;
      std::vector<Tensor> in;
      for (Endpoint e : n.inputs) in.push_back(values[static_cast<size_t>(e.node)]);
      if (n.types.size() == 1) {
        values[i] = Compute(g, n, in);
      } else {
        values[i] = BatchNorm(n, in);
      }
      EXPECT_TRUE(values[i].valid()) << n.op->name;
    }
    return values[static_cast<size_t>(flat_.returns[0].node)];
  }
  Tensor BatchNorm(const FlatNode& n, std::vector<Tensor>& in) {
    auto kernel = n.row->make(KernelInit{*n.op, n.attrs, nullptr});
    std::vector<Tensor*> inputs;
    for (Tensor& t : in) inputs.push_back(&t);
    std::array<Tensor, 6> out;
    const std::array<bool, 5> kept{};
    const RunContext run = context_.run_context();
    KernelCall call(run, inputs, kept, out, "");
    EXPECT_TRUE((*kernel)->Run(call).ok());
    return out[0];
  }

  PassGraph graph() { return {flat_, context_.kernels(), functions_, &region_, settings_, nested_}; }

  // The ops that are left, in order; runs the passes, and expects the same answer as before.
  std::string Left(Endpoint result, const Tensor& x, std::string_view passes = "all") {
    flat_.returns = {result};
    settings_.options = *PassOptions::Parse(passes);
    const Tensor before = Evaluate(x);
    PassGraph g = graph();
    EXPECT_TRUE(RunPasses(g).ok());
    const Tensor after = Evaluate(x);
    EXPECT_EQ(before.shape(), after.shape());
    for (int64_t i = 0; i < before.num_elements(); ++i) {
      const float a = before.as<float>()[static_cast<size_t>(i)], b = after.as<float>()[static_cast<size_t>(i)];
      EXPECT_NEAR(a, b, 1e-5f * std::max(1.0f, std::abs(a))) << i;
      if (HasFailure()) break;
    }
    std::string ops;
    const std::vector<bool> reached = ReachedNodes(flat_);
    for (size_t i = 0; i < flat_.nodes.size(); ++i) {
      const FlatNode& n = flat_.nodes[i];
      if (reached[i] && n.what == FlatNode::What::kOp) ops += fmt::format("{}{}", ops.empty() ? "" : " ", n.op->name);
    }
    return ops;
  }

  EagerContext context_{{.threads = 1}};
  Region region_{context_.account(), Kind::kPlans};
  std::mutex mutex_;
  wire::TensorStore tensors_{context_.account(), nullptr};
  FunctionLibrary functions_{ImportContext{&context_.ops(), &region_, &tensors_, &mutex_}};
  PassSettings settings_{.options = {}, .run = context_.run_context(), .guard = MakeRef<FreezeGuard>()};
  FlatGraph flat_;
  const Endpoint x_{0, 0};
  bool nested_ = false;
};

TEST(PassOptions, ReadsLists) {
  EXPECT_TRUE(PassOptions::Parse("")->fold);
  EXPECT_FALSE(PassOptions::Parse("none")->fold);
  PassOptions o = *PassOptions::Parse("none,fold");
  EXPECT_TRUE(o.fold);
  EXPECT_FALSE(o.affine);
  o = *PassOptions::Parse("-fold,-pad");
  EXPECT_FALSE(o.fold || o.pad);
  EXPECT_TRUE(o.affine);
  EXPECT_FALSE(PassOptions::Parse("fuse").ok());
  EXPECT_FALSE(PassOptions::Parse("all,,").ok() && PassOptions::Parse("-").ok());
}

TEST_F(PassesTest, ConstantsAreFolded) {
  const Endpoint scale = Op("Rsqrt", {Op("AddV2", {Constant(Values({4}, 1)), Number(0.001f)})});
  EXPECT_EQ(Left(Op("Mul", {x_, scale}), Values({2, 4})), "Mul");
}

TEST_F(PassesTest, WhatIsLargeIsNotFolded) {
  const Endpoint large = Constant(Values({600, 600}));
  EXPECT_EQ(Left(Op("Mul", {x_, Op("Neg", {large})}), Values({600, 600})), "Neg Mul");
}

TEST_F(PassesTest, ABodyOfControlFlowComputesLittleAhead) {
  nested_ = true;
  const Endpoint middling = Constant(Values({200, 200}));
  EXPECT_EQ(Left(Op("Mul", {x_, Op("Neg", {middling})}), Values({200, 200})), "Neg Mul");
}

TEST_F(PassesTest, IdentitiesGo) {
  const Endpoint y = Op("Identity", {Op("Neg", {Op("StopGradient", {x_})})});
  EXPECT_EQ(Left(y, Values({3})), "Neg");
}

TEST_F(PassesTest, ControlEdgesFromPureNodesGo) {
  const Endpoint unused = Op("Exp", {x_});
  const Endpoint y = Op("Neg", {x_});
  flat_.nodes[static_cast<size_t>(y.node)].controls = {unused.node};
  EXPECT_EQ(Left(y, Values({3})), "Neg");
}

TEST_F(PassesTest, APadBecomesPadding) {
  const Endpoint padded = Op("Pad", {x_, Constant(Ints({0, 0, 0, 1, 2, 1, 0, 0}, {4, 2}))},
                             {{"Tpaddings", AttrValue::Type(DType::kInt32)}});
  EXPECT_EQ(Left(Conv(padded, {3, 3, 2, 3}, "VALID"), Values({1, 5, 4, 2})), "Conv2D");
}

TEST_F(PassesTest, APadOfChannelsOrOneReadTwiceStays) {
  const Attr type{"Tpaddings", AttrValue::Type(DType::kInt32)};
  const Endpoint channels = Op("Pad", {x_, Constant(Ints({0, 0, 0, 0, 0, 0, 1, 0}, {4, 2}))}, {type});
  const Endpoint twice = Op("Pad", {x_, Constant(Ints({0, 0, 1, 1, 1, 1, 0, 0}, {4, 2}))}, {type});
  const Endpoint sum = Op("Sum", {twice, Constant(Ints({0, 1, 2, 3}, {4}))}, {{"Tidx", AttrValue::Type(DType::kInt32)}});
  const Endpoint y = Op("Mul", {Conv(channels, {1, 1, 3, 2}, "VALID"), Conv(twice, {3, 3, 2, 2}, "VALID")});
  EXPECT_EQ(Left(Op("Mul", {y, sum}), Values({1, 5, 4, 2})), "Pad Pad Sum Conv2D Conv2D Mul Mul");
}

TEST_F(PassesTest, BatchNormAndRelu6JoinAConvolution) {
  const Endpoint y = Op("FusedBatchNormV3",
                        {Conv(x_, {3, 3, 2, 4}), Constant(Values({4}, 0.5f)), Constant(Values({4}, -2)),
                         Constant(Values({4}, 0.2f)), Constant(Values({4}, 0.9f))},
                        {{"U", AttrValue::Type(DType::kFloat)}, {"is_training", AttrValue::Bool(false)}});
  EXPECT_EQ(Left(Op("Relu6", {y}), Values({2, 5, 4, 2})), "Conv2D");
}

TEST_F(PassesTest, BatchNormInTrainingStays) {
  const Endpoint y = Op("FusedBatchNormV3",
                        {Conv(x_, {1, 1, 2, 4}), Constant(Values({4}, 0.5f)), Constant(Values({4}, -2)),
                         Constant(Values({0})), Constant(Values({0}))},
                        {{"U", AttrValue::Type(DType::kFloat)}, {"is_training", AttrValue::Bool(true)}});
  EXPECT_EQ(Left(y, Values({2, 5, 4, 2})), "Conv2D FusedBatchNormV3");
}

// As Keras 3 writes a batch norm, behind a depthwise convolution, and a HardSwish after it.
TEST_F(PassesTest, ADepthwiseConvolutionTakesThemToo) {
  Endpoint y = Conv(x_, {3, 3, 4, 2}, "SAME", "DepthwiseConv2dNative");
  const Endpoint scale = Op("Rsqrt", {Op("AddV2", {Constant(Values({8}, 1)), Number(0.001f)})});
  y = Op("AddV2", {Op("Mul", {y, scale}), Op("Sub", {Constant(Values({8})), Op("Mul", {Constant(Values({8})), scale})})});
  const Endpoint gate = Op("Relu6", {Op("AddV2", {y, Number(3)})});
  EXPECT_EQ(Left(Op("Mul", {Op("Mul", {y, gate}), Number(1.0f / 6)}), Values({1, 6, 5, 4})), "DepthwiseConv2dNative");
}

TEST_F(PassesTest, EveryOrderOfOperandsIsUnderstood) {
  Endpoint y = Conv(x_, {1, 1, 2, 3});
  y = Op("Sub", {Constant(Values({1, 1, 1, 3}, 2)), y});
  y = Op("Sub", {Op("Mul", {Number(1.5f), y}), Constant(Values({3}))});
  y = Op("RealDiv", {y, Constant(Values({1, 3}, 3))});
  y = Op("BiasAdd", {y, Constant(Values({3}))});
  EXPECT_EQ(Left(Op("Minimum", {Op("Maximum", {y, Number(-1)}), Number(0.5f)}), Values({1, 3, 3, 2})), "Conv2D");
}

TEST_F(PassesTest, WhatBroadcastsOtherwiseStays) {
  EXPECT_EQ(Left(Op("AddV2", {Conv(x_, {1, 1, 2, 3}), Constant(Values({1, 1, 1, 1, 3}))}), Values({1, 3, 3, 2})), "Conv2D AddV2");
}

TEST_F(PassesTest, AConstantOfEveryPixelStays) {
  EXPECT_EQ(Left(Op("Mul", {Conv(x_, {1, 1, 2, 3}), Constant(Values({3, 3, 3}))}), Values({1, 3, 3, 2})), "Conv2D Mul");
}

TEST_F(PassesTest, AResidualIsAddedBeforeItsActivation) {
  const Endpoint first = Op("Relu", {Conv(x_, {1, 1, 2, 3})});
  const Endpoint second = Conv(Op("Relu", {Conv(first, {3, 3, 3, 3})}), {3, 3, 3, 3});
  EXPECT_EQ(Left(Op("Relu", {Op("AddV2", {second, first})}), Values({2, 4, 5, 2})), "Conv2D Conv2D Conv2D");
}

TEST_F(PassesTest, ASumThatBroadcastsGivesWhatItGave) {
  const Endpoint row = Op("Mean", {x_, Constant(Ints({1, 2}, {2}))},
                          {{"Tidx", AttrValue::Type(DType::kInt32)}, {"keep_dims", AttrValue::Bool(true)}});
  EXPECT_EQ(Left(Op("Sigmoid", {Op("AddV2", {row, Conv(x_, {3, 3, 3, 3})})}), Values({2, 4, 5, 3})), "Mean Conv2D");
}

TEST_F(PassesTest, WhatIsReadTwiceOrReturnedStays) {
  const Endpoint conv = Conv(x_, {1, 1, 2, 3});
  EXPECT_EQ(Left(Op("Mul", {Op("Relu", {conv}), Op("Tanh", {conv})}), Values({1, 3, 3, 2})), "Conv2D Relu Tanh Mul");
}

TEST_F(PassesTest, PassesCanBeLeftOut) {
  const Endpoint y = Op("Relu", {Op("BiasAdd", {Conv(x_, {1, 1, 2, 3}), Constant(Values({3}))})});
  EXPECT_EQ(Left(y, Values({1, 3, 3, 2}), "-activation"), "Conv2D Relu");
}

TEST_F(PassesTest, NoneLeavesAll) {
  const Endpoint y = Op("Relu", {Op("Identity", {Op("BiasAdd", {Conv(x_, {1, 1, 2, 3}), Constant(Values({3}))})})});
  EXPECT_EQ(Left(y, Values({1, 3, 3, 2}), "none"), "Conv2D BiasAdd Identity Relu");
}

// A dense layer over the last of three dimensions: the bias comes after a Reshape.
TEST_F(PassesTest, ABiasAndGeluPassAReshape) {
  Endpoint y = Op("Reshape", {MatMul(x_, 4, 8), Constant(Ints({2, -1, 8}, {3}))});
  y = Op("AddV2", {y, Constant(Values({8}))});
  const Endpoint erfc = Op("Erfc", {Op("Mul", {Op("Neg", {y}), Number(0.70710678f)})});
  EXPECT_EQ(Left(Op("Mul", {Op("Mul", {Number(0.5f), y}), erfc}), Values({6, 4})), "MatMul Reshape");
}

TEST_F(PassesTest, ABiasDoesNotPassAReshapeOfTheChannels) {
  const Endpoint y = Op("Reshape", {MatMul(x_, 4, 8), Constant(Ints({-1, 4, 2}, {3}))});
  EXPECT_EQ(Left(Op("AddV2", {y, Constant(Values({2}))}), Values({6, 4})), "MatMul Reshape AddV2");
}

TEST_F(PassesTest, ActivationsAreKnownByWhatTheyGive) {
  const Endpoint y = MatMul(x_, 4, 64);
  // tanh's Gelu: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  const Endpoint cube = Op("Mul", {Number(0.044715f), Op("Pow", {y, Number(3)})});
  const Endpoint inner = Op("Tanh", {Op("Mul", {Op("AddV2", {y, cube}), Number(0.7978846f)})});
  EXPECT_EQ(Left(Op("Mul", {y, Op("Mul", {Number(0.5f), Op("AddV2", {Number(1), inner})})}), Values({30, 4}, -3)), "MatMul");
}

TEST_F(PassesTest, WhatIsNearlyAnActivationIsNone) {
  const Endpoint y = MatMul(x_, 4, 64);
  // The sigmoid approximation of Gelu.
  EXPECT_EQ(Left(Op("Mul", {y, Op("Sigmoid", {Op("Mul", {y, Number(1.702f)})})}), Values({30, 4}, -3)), "MatMul Mul Sigmoid Mul");
}

TEST_F(PassesTest, SwishAndAResidualOfADenseLayer) {
  const Endpoint y = MatMul(x_, 4, 4);
  EXPECT_EQ(Left(Op("AddV2", {Op("Mul", {Op("Sigmoid", {y}), y}), x_}), Values({3, 4})), "MatMul AddV2");
}

// A file may carry the attributes that passes write: the kernel checks the operands they promise.
TEST_F(PassesTest, AttributesOfAFileDoNoHarm) {
  for (std::string_view flag : {"_scale", "_bias", "_add"}) {
    auto op = EagerOp::Make(context_, "MatMul");
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(op->AddInput(Values({3, 3})).ok());
    op->SetAttr(flag, AttrValue::Bool(true));
    EXPECT_EQ(op->Execute().status().code(), Code::kInvalidArgument) << flag;
  }
  auto op = EagerOp::Make(context_, "MatMul");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(op->AddInput(Values({3, 3})).ok());
  op->SetAttr("_activation", AttrValue::Int(99));
  EXPECT_FALSE(op->Execute().ok());
}

}  // namespace
}  // namespace tare
