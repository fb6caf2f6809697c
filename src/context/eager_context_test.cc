#include "context/eager_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "resource/variable.h"

namespace tare {
namespace {

TEST(EagerContext, AssignsAndReadsAVariable) {
  EagerContext context({.threads = 1});
  auto handle_op = EagerOp::Make(context, "VarHandleOp");
  ASSERT_TRUE(handle_op.ok());
  handle_op->SetAttr("dtype", AttrValue::Type(DType::kFloat));
  handle_op->SetAttr("shape", AttrValue::OfShape({}));
  handle_op->SetAttr("shared_name", AttrValue::String("v"));
  auto handle = handle_op->Execute();
  ASSERT_TRUE(handle.ok()) << handle.status().ToString();
  Tensor value = *Tensor::Make(context.account(), DType::kFloat, Shape{2});
  value.mutable_data<float>()[0] = 1;
  value.mutable_data<float>()[1] = 2;
  auto assign = EagerOp::Make(context, "AssignVariableOp");
  ASSERT_TRUE(assign->AddInput((*handle)[0]).ok());
  ASSERT_TRUE(assign->AddInput(value).ok());
  ASSERT_TRUE(assign->Execute().ok());
  auto read = EagerOp::Make(context, "ReadVariableOp");
  read->SetAttr("dtype", AttrValue::Type(DType::kFloat));
  ASSERT_TRUE(read->AddInput((*handle)[0]).ok());
  auto got = read->Execute();
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].as<float>()[1], 2);
  EXPECT_EQ(EagerOp::Make(context, "NoSuchOp").status().code(), Code::kNotFound);
  EXPECT_FALSE(read->AddInput(value).ok() && read->AddInput(value).ok());
}

Tensor Filled(EagerContext& context, Shape shape, float value) {
  Tensor t = *Tensor::Make(context.account(), DType::kFloat, shape);
  std::ranges::fill(t.mut<float>(), value);
  return t;
}

TEST(EagerContext, FindsKernelsOfEqualOpsInTheCache) {
  EagerContext context({.threads = 1});
  for (int i = 0; i < 5; ++i) {
    auto op = EagerOp::Make(context, "AddV2");
    ASSERT_TRUE(op->AddInput(Filled(context, {2, 2}, 1)).ok());
    ASSERT_TRUE(op->AddInput(Filled(context, {2, 1 + i % 2}, 2)).ok());
    auto sum = op->Execute();
    ASSERT_TRUE(sum.ok()) << sum.status().ToString();
    EXPECT_EQ((*sum)[0].as<float>()[3], 3);
  }
  const KernelCacheStats s = context.kernel_cache().stats();
  EXPECT_EQ(s.entries, 1u);
  EXPECT_EQ(s.hits, 4u);
  EXPECT_EQ(s.misses, 1u);
  context.ClearCaches();
  EXPECT_EQ(context.kernel_cache().stats().entries, 0u);
}

TEST(EagerContext, ExecutesIntoTheCallersTensors) {
  EagerContext context({.threads = 1});
  auto op = EagerOp::Make(context, "AddV2");
  for (float value : {1.0f, 2.0f}) ASSERT_TRUE(op->AddInput(Filled(context, {2}, value)).ok());
  EXPECT_EQ(context.Execute(*op, context.run_context(), {}).status().code(), Code::kInvalidArgument);
  Tensor outputs[2];
  auto n = context.Execute(*op, context.run_context(), outputs);
  ASSERT_TRUE(n.ok()) << n.status().ToString();
  EXPECT_EQ(*n, 1u);
  EXPECT_EQ(outputs[0].as<float>()[1], 3);
  EXPECT_FALSE(outputs[1].valid());
}

TEST(EagerContext, RefusesInputsThatDoNotFitTheDefinition) {
  EagerContext context({.threads = 1});
  auto op = EagerOp::Make(context, "AddV2");
  ASSERT_TRUE(op->AddInput(Filled(context, {2}, 1)).ok());
  EXPECT_EQ(op->Execute().status().code(), Code::kInvalidArgument) << "one input short";
  ASSERT_TRUE(op->AddInput(*Tensor::Make(context.account(), DType::kInt32, Shape{2})).ok());
  const Status s = op->Execute().status();
  EXPECT_EQ(s.message(),
            "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor");
  op->Reset();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(op->AddInput(*Tensor::Make(context.account(), DType::kInt32, Shape{0})).ok());
  }
  EXPECT_TRUE(op->Execute().ok()) << "as new after Reset";
}

TEST(EagerContext, TakesManyInputsAndAttributes) {
  EagerContext context({.threads = 1});
  std::vector<Tensor> list;
  for (int i = 0; i < 40; ++i) list.push_back(Filled(context, {1}, static_cast<float>(i)));
  auto op = EagerOp::Make(context, "Pack");
  ASSERT_TRUE(op->AddInputList(list).ok());
  for (int i = 0; i < 50; ++i) {
    op->SetAttr(fmt::format("_an_attribute_no_kernel_reads_{}", i), AttrValue::String(std::string(i, 'v')));
  }
  auto packed = op->Execute();
  ASSERT_TRUE(packed.ok()) << packed.status().ToString();
  EXPECT_EQ((*packed)[0].shape(), (Shape{40, 1}));
  EXPECT_EQ((*packed)[0].as<float>()[39], 39);
}

TEST(OpIndex, GivesOneEntryAnOpToAllThreads) {
  EagerContext context({.threads = 1});
  OpIndex index(context.ops(), context.kernels(), "CPU:0");
  std::vector<std::vector<const IndexedOp*>> found(4);
  std::vector<std::thread> threads;
  for (auto& mine : found) {
    threads.emplace_back([&] {
      for (const OpRow& row : OpTable()) mine.push_back(index.Find(row.name));
    });
  }
  for (std::thread& t : threads) t.join();
  for (size_t i = 0; i < OpTable().size(); ++i) {
    ASSERT_EQ(found[0][i]->def->name, OpTable()[i].name);
    for (const auto& other : found) ASSERT_EQ(other[i], found[0][i]);
  }
  EXPECT_EQ(index.Find("NoSuchOp"), nullptr);
}

}  // namespace
}  // namespace tare
