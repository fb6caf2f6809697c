#include "op/attr.h"

#include <gtest/gtest.h>

#include <vector>

namespace tare {
namespace {

TEST(Attr, IsFoundByName) {
  const Attr attrs[] = {{"T", AttrValue::Type(DType::kInt32)}, {"N", AttrValue::Int(3)}};
  EXPECT_EQ(FindAttr(attrs, "N")->i, 3);
  EXPECT_EQ(FindAttr(attrs, "T")->type(), DType::kInt32);
  EXPECT_EQ(FindAttr(attrs, "t"), nullptr);
  EXPECT_EQ(FindAttr({}, "T"), nullptr);
}

TEST(Attr, IsSpelledForPeople) {
  const int64_t dims[] = {-1, 3};
  const std::vector<AttrValue> list{AttrValue::Int(1), AttrValue::Int(2)};
  const FunctionRef function{"__inference_f_1", {}};
  auto account = MakeRef<Account>("test");
  const Tensor tensor = *Tensor::Make(account, DType::kFloat, Shape{2});
  EXPECT_EQ(ToString(AttrValue()), "<none>");
  EXPECT_EQ(ToString(AttrValue::String("VALID")), "\"VALID\"");
  EXPECT_EQ(ToString(AttrValue::Int(-4)), "-4");
  EXPECT_EQ(ToString(AttrValue::Float(0.5f)), "0.5");
  EXPECT_EQ(ToString(AttrValue::Bool(true)), "true");
  EXPECT_EQ(ToString(AttrValue::Type(DType::kFloat)), "float");
  EXPECT_EQ(ToString(AttrValue::OfShape({false, dims})), "[?,3]");
  EXPECT_EQ(ToString(AttrValue::OfTensor(&tensor)), "tensor<float [2]>");
  EXPECT_EQ(ToString(AttrValue::OfFunction(&function)), "__inference_f_1");
  EXPECT_EQ(ToString(AttrValue::Placeholder("T")), "$T");
  EXPECT_EQ(ToString(AttrValue::List(AttrKind::kInt, list)), "[1,2]");
  EXPECT_EQ(ToString(AttrValue::List(AttrKind::kInt, {})), "[]");
}

}  // namespace
}  // namespace tare
