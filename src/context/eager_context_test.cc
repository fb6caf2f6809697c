#include "context/eager_context.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tare
