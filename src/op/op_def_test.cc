#include "op/op_def.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(OpRegistry, EveryRowParsesAndIsSorted) {
  OpRegistry registry(MakeRef<Account>("test"));
  std::string_view last;
  for (const OpRow& row : OpTable()) {
    EXPECT_LT(last, row.name);
    last = row.name;
    const OpDef* op = registry.Find(row.name);
    ASSERT_NE(op, nullptr);
    for (auto args : {op->inputs, op->outputs}) {
      for (const ArgDef& a : args) {
        EXPECT_TRUE(a.type != DType::kInvalid || !a.type_attr.empty() || !a.type_list_attr.empty()) << row.name;
        for (auto attr : {a.type_attr, a.type_list_attr, a.number_attr}) {
          EXPECT_TRUE(attr.empty() || op->FindAttrDef(attr)) << row.name << " " << attr;
        }
      }
    }
    for (const AttrDef& a : op->attrs) EXPECT_NE(a.kind, AttrKind::kNone) << row.name << " " << a.name;
  }
  EXPECT_EQ(registry.Find("NoSuchOp"), nullptr);
}

TEST(OpRegistry, Conv2DHasItsDefaults) {
  OpRegistry registry(MakeRef<Account>("test"));
  const OpDef* op = registry.Find("Conv2D");
  EXPECT_EQ(ToString(*AttrOrDefault(*op, {}, "dilations")), "[1,1,1,1]");
  EXPECT_EQ(ToString(*AttrOrDefault(*op, {}, "data_format")), "\"NHWC\"");
  EXPECT_EQ(AttrOrDefault(*op, {}, "strides"), nullptr);
  EXPECT_EQ(op->FindAttrDef("padding")->allowed.size(), 3u);
}

}  // namespace
}  // namespace tare
