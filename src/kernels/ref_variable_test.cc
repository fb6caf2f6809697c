// TF1's reference variables, whose ops no eager call can run, and what an assertion says.
#include <gtest/gtest.h>

#include "context/eager_context.h"
#include "op/op_def.h"
#include "resource/variable.h"

namespace tare {
namespace {

class RefVariableTest : public testing::Test {
 protected:
  // Runs one kernel on tensors, references included.
  Result<std::vector<Tensor>> Run(std::string_view op, std::vector<Tensor> inputs, std::vector<Attr> attrs,
                                  size_t outputs, std::string_view node = "node") {
    static constexpr OpDef kReadRef{.name = "_ReadRef"};
    const OpDef* def = context_.ops().Find(op);
    const KernelRow* row = context_.kernels().Find(op);
    if (!row) return NotFound("no kernel {}", op);
    TARE_ASSIGN_OR_RETURN(KernelPtr kernel, row->make(KernelInit{def ? *def : kReadRef, attrs}));
    std::vector<Tensor*> in;
    for (Tensor& t : inputs) in.push_back(&t);
    const bool last_use[8] = {};
    std::vector<Tensor> out(outputs);
    const RunContext run = context_.run_context();
    KernelCall call(run, in, {last_use, in.size()}, out, node);
    TARE_RETURN_IF_ERROR(kernel->Run(call));
    return out;
  }
  Tensor Floats(std::initializer_list<float> values) {
    Tensor t = *Tensor::Make(context_.account(), DType::kFloat, Shape{static_cast<int64_t>(values.size())});
    std::ranges::copy(values, t.mutable_data<float>());
    return t;
  }
  Result<std::vector<Tensor>> MakeVariable(std::string_view node) {
    static constexpr int64_t kDims[] = {2};
    return Run("VariableV2", {},
               {{"shape", AttrValue::OfShape({false, kDims})}, {"dtype", AttrValue::Type(DType::kFloat)}}, 1, node);
  }
  Result<std::vector<Tensor>> Update(std::string_view op, const Tensor& ref, const Tensor& value) {
    return Run(op, {ref, value}, {{"T", AttrValue::Type(DType::kFloat)}}, 1);
  }
  Result<std::vector<Tensor>> Read(const Tensor& ref) { return Run("_ReadRef", {ref}, {}, 1); }

  EagerContext context_{{.threads = 1}};
};

TEST_F(RefVariableTest, IsFoundByItsNodesName) {
  auto a = MakeVariable("w"), b = MakeVariable("w"), c = MakeVariable("other");
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ((*a)[0].objects()[0].get(), (*b)[0].objects()[0].get());
  EXPECT_NE((*a)[0].objects()[0].get(), (*c)[0].objects()[0].get());
}

TEST_F(RefVariableTest, ReadingBeforeAssigningNamesIt) {
  auto v = MakeVariable("scope/w");
  auto read = Read((*v)[0]);
  EXPECT_EQ(read.status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(read.status().message(), "Attempting to use uninitialized value scope/w");
  EXPECT_EQ(Update("AssignAdd", (*v)[0], Floats({1, 2})).status().message(),
            "Attempting to use uninitialized value scope/w");
}

TEST_F(RefVariableTest, AssignPassesTheReferenceOn) {
  auto v = MakeVariable("w");
  auto assigned = Update("Assign", (*v)[0], Floats({1, 2}));
  ASSERT_TRUE(assigned.ok()) << assigned.status().ToString();
  auto added = Update("AssignAdd", (*assigned)[0], Floats({10, 20}));
  ASSERT_TRUE(added.ok()) << added.status().ToString();
  auto read = Read((*added)[0]);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)[0].as<float>()[1], 22);
  ASSERT_TRUE(Update("AssignSub", (*v)[0], Floats({1, 1})).ok());
  EXPECT_EQ((*read)[0].as<float>()[1], 22) << "what was read does not change";
  EXPECT_EQ((*Read((*v)[0]))[0].as<float>()[1], 21);
}

TEST_F(RefVariableTest, AssignChecksTheDeclaredShape) {
  auto v = MakeVariable("w");
  auto assigned = Update("Assign", (*v)[0], Floats({1, 2, 3}));
  EXPECT_EQ(assigned.status().message(),
            "Assign requires shapes of both tensors to match. lhs shape= [2] rhs shape= [3]");
  EXPECT_TRUE(Run("Assign", {(*v)[0], Floats({1, 2, 3})},
                  {{"T", AttrValue::Type(DType::kFloat)}, {"validate_shape", AttrValue::Bool(false)}}, 1)
                  .ok());
}

TEST_F(RefVariableTest, TemporariesGoWithTheirReference) {
  static constexpr int64_t kDims[] = {2};
  auto v = Run("TemporaryVariable", {},
               {{"shape", AttrValue::OfShape({false, kDims})}, {"dtype", AttrValue::Type(DType::kFloat)}}, 1);
  ASSERT_TRUE(v.ok()) << v.status().ToString();
  EXPECT_EQ(context_.resources().size(), 0u);
  ASSERT_TRUE(Update("AssignAdd", (*v)[0], Floats({1, 2})).ok());
  auto last = Run("DestroyTemporaryVariable", {(*v)[0]},
                  {{"T", AttrValue::Type(DType::kFloat)}, {"var_name", AttrValue::String("")}}, 1);
  ASSERT_TRUE(last.ok()) << last.status().ToString();
  EXPECT_EQ((*last)[0].as<float>()[1], 2);
}

TEST_F(RefVariableTest, AHandleThatOutlivesItsScopeIsRefused) {
  auto v = MakeVariable("w");
  ASSERT_TRUE(Update("Assign", (*v)[0], Floats({1, 2})).ok());
  context_.resources().Clear();
  EXPECT_EQ(Read((*v)[0]).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(Update("Assign", (*v)[0], Floats({1, 2})).status().code(), Code::kFailedPrecondition);
}

TEST_F(RefVariableTest, AssertionsShowTheirData) {
  auto assertion = [&](const Tensor& data, int64_t summarize) {
    Tensor no = *Tensor::Make(context_.account(), DType::kBool, Shape{});
    *no.mutable_data<bool>() = false;
    static const AttrValue kTypes[] = {AttrValue::Type(DType::kFloat)};
    return std::string(Run("Assert", {no, data},
                           {{"T", AttrValue::List(AttrKind::kType, kTypes)}, {"summarize", AttrValue::Int(summarize)}}, 0)
                           .status()
                           .message());
  };
  EXPECT_EQ(assertion(Floats({1, 2, 3, 4}), 3), "assertion failed: [1 2 3...]");
  EXPECT_EQ(assertion(Floats({0.1f, 1e-7f, 1 / 3.0f}), -1), "assertion failed: [0.1 1e-07 0.333333343]");
  Tensor matrix = Floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Reshaped({3, 4});
  EXPECT_EQ(assertion(matrix, 3), "assertion failed: [[0 1 2...]...]");
  EXPECT_EQ(assertion(matrix, 4), "assertion failed: [[0 1 2 3]...]");
  EXPECT_EQ(assertion(matrix, 5), "assertion failed: [[0 1 2 3][4...]...]");
  EXPECT_EQ(assertion(matrix, -1), "assertion failed: [[0 1 2 3][4 5 6 7][8 9 10 11]]");
  EXPECT_EQ(assertion(matrix.Reshaped({3, 2, 2}), 5), "assertion failed: [[[0 1][2 3]][[4...]]...]");
  EXPECT_EQ(assertion(matrix.Reshaped({3, 2, 2}), 3), "assertion failed: [[[0 1][2...]]...]");
  EXPECT_EQ(assertion(matrix, 0), "assertion failed: [...]");
}

}  // namespace
}  // namespace tare
