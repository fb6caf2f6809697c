#include "status/status.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

static_assert(sizeof(Status) == sizeof(void*));

TEST(Status, OkIsEmptyAndStaysOk) {
  Status s;
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(s.code(), Code::kOk);
  EXPECT_EQ(s.message(), "");
  EXPECT_EQ(s.ToString(), "OK");
  EXPECT_TRUE(OkStatus().At("file").ok());
  EXPECT_TRUE(OkStatus().AtNode("node").ok());
  EXPECT_TRUE(Status(Code::kOk, "ignored").ok());
}

TEST(Status, ErrorsFormatTheirMessageAndCarryTheirCode) {
  EXPECT_EQ(InvalidArgument("{} of {}", 3, "x").ToString(), "INVALID_ARGUMENT: 3 of x");
  EXPECT_EQ(Cancelled("c").code(), Code::kCancelled);
  EXPECT_EQ(DataLoss("d").code(), Code::kDataLoss);
  EXPECT_EQ(ResourceExhausted("r").code(), Code::kResourceExhausted);
}

TEST(Status, CodesHaveTheValuesAndNamesOfGrpc) {
  EXPECT_EQ(static_cast<int>(Code::kInvalidArgument), 3);
  EXPECT_EQ(static_cast<int>(Code::kUnimplemented), 12);
  EXPECT_EQ(static_cast<int>(Code::kUnauthenticated), 16);
  EXPECT_EQ(CodeName(Code::kUnauthenticated), "UNAUTHENTICATED");
  EXPECT_EQ(CodeName(Code::kFailedPrecondition), "FAILED_PRECONDITION");
  EXPECT_EQ(CodeName(static_cast<Code>(99)), "UNKNOWN");
  EXPECT_EQ(CodeName(static_cast<Code>(-1)), "UNKNOWN");
}

TEST(Status, ContextIsAddedOnTheWayUp) {
  EXPECT_EQ(NotFound("gone").At("index").At("model").message(), "model: index: gone");
  EXPECT_EQ(Internal("bad {}", "{x}").AtNode("a/b").message(), "bad {x}\n\t [[{{node a/b}}]]");
}

TEST(Status, CopiesAreIndependentAndMovesLeaveOk) {
  Status a = NotFound("one");
  Status b = a;
  a = std::move(a).At("two");
  EXPECT_EQ(b.message(), "one");
  EXPECT_EQ(a.message(), "two: one");
  Status c = std::move(b);
  EXPECT_TRUE(b.ok());  // NOLINT: moved-from is defined
  EXPECT_EQ(c.message(), "one");
  c = c;  // NOLINT
  EXPECT_EQ(c.message(), "one");
}

struct MoveOnly {
  explicit MoveOnly(int v) : value(v) {}
  MoveOnly(MoveOnly&&) = default;
  MoveOnly& operator=(MoveOnly&&) = default;
  int value;
};

Result<MoveOnly> Half(int v) {
  if (v % 2) return InvalidArgument("{} is odd", v);
  return MoveOnly(v / 2);
}

Result<int> Quarter(int v) {
  TARE_ASSIGN_OR_RETURN(MoveOnly half, Half(v));
  TARE_ASSIGN_OR_RETURN(auto quarter, Half(half.value));
  return quarter.value;
}

Status Check(int v) {
  TARE_RETURN_IF_ERROR(Quarter(v).status());
  return OkStatus();
}

TEST(Result, HoldsAValueOrTheReasonForNone) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "3 is odd");
  EXPECT_FALSE(Quarter(5).ok());
  EXPECT_TRUE(Check(8).ok());
  EXPECT_EQ(Check(7).code(), Code::kInvalidArgument);
  MoveOnly moved = *Half(10);
  EXPECT_EQ(moved.value, 5);
}

}  // namespace
}  // namespace tare
