#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

namespace tare {
namespace {

class Thing final : public Object {
 public:
  static constexpr std::string_view kTypeName = "Thing";
  explicit Thing(int* alive) : alive_(alive) { ++*alive_; }
  std::string_view type_name() const override { return kTypeName; }

 private:
  ~Thing() override { --*alive_; }
  int* alive_;
};
class Other final : public Object {
 public:
  static constexpr std::string_view kTypeName = "Other";
  std::string_view type_name() const override { return kTypeName; }
};

class TensorTest : public testing::Test {
 protected:
  ~TensorTest() override {
    account_->Trim(true);
    EXPECT_EQ(account_->total(), 0) << "a test left bytes in the ledger";
  }
  Tensor Counting(const Shape& shape) {
    Tensor t = *Tensor::Make(account_, DType::kInt32, shape);
    std::iota(t.mut<int32_t>().begin(), t.mut<int32_t>().end(), 0);
    return t;
  }
  Ref<Account> account_ = MakeRef<Account>("test");
};

TEST_F(TensorTest, MakesEveryDTypeAlignedAndCharged) {
  for (int i = 1; i <= kMaxDType; ++i) {
    auto t = Tensor::Make(account_, static_cast<DType>(i), Shape{3, 5});
    ASSERT_TRUE(t.ok());
    EXPECT_EQ(t->bytes(), 15 * DTypeSize(t->dtype()));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t->raw()) % 64, 0u);
    EXPECT_GE(account_->bytes(Kind::kActivations), static_cast<int64_t>(t->bytes()));
    EXPECT_TRUE(t->may_reuse());
  }
  EXPECT_EQ(account_->bytes(Kind::kActivations), 0);
}

TEST_F(TensorTest, EmptyTensorsAndScalarsAreTensors) {
  auto empty = Tensor::Make(account_, DType::kFloat, Shape{0, 7});
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->bytes(), 0u);
  EXPECT_TRUE(empty->as<float>().empty());
  EXPECT_TRUE(empty->Clone(account_).ok());
  Tensor scalar = Counting({});
  EXPECT_EQ(scalar.scalar<int32_t>(), 0);
  EXPECT_FALSE(Tensor().valid());
}

TEST_F(TensorTest, WhatCannotBeHadIsAnErrorThatNamesTheTensor) {
  auto too_large = Tensor::Make(account_, DType::kFloat, Shape{int64_t{1} << 58});
  EXPECT_EQ(too_large.status().code(), Code::kResourceExhausted);
  EXPECT_NE(too_large.status().message().find("[288230376151711744]"), std::string::npos);
  auto overflow = Tensor::Make(account_, DType::kString, Shape{int64_t{1} << 62});
  EXPECT_EQ(overflow.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(Tensor::Make(account_, DType::kInvalid, Shape{2}).status().code(), Code::kInvalidArgument);
}

TEST_F(TensorTest, CopiesShareBytesAndClonesDoNot) {
  Tensor a = Counting({4});
  Tensor b = a;
  EXPECT_EQ(a.raw(), b.raw());
  EXPECT_FALSE(a.may_reuse());
  Tensor c = *a.Clone(account_, Kind::kWeights);
  EXPECT_NE(a.raw(), c.raw());
  EXPECT_EQ(c.as<int32_t>()[3], 3);
  EXPECT_GT(account_->bytes(Kind::kWeights), 0);
  b = Tensor();
  EXPECT_TRUE(a.may_reuse());
}

TEST_F(TensorTest, RowsAndReshapesAreViewsOfTheSameBytes) {
  Tensor a = Counting({4, 3});
  Tensor rows = a.Rows(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(rows.as<int32_t>()[0], 3);
  EXPECT_EQ(rows.as<int32_t>()[5], 8);
  EXPECT_EQ(rows.Reshaped({6}).as<int32_t>()[5], 8);
  EXPECT_EQ(a.Rows(4, 4).num_elements(), 0);
  EXPECT_EQ(rows.Rows(1, 2).as<int32_t>()[0], 6);
  EXPECT_EQ(rows.Clone(account_)->as<int32_t>()[0], 3);
}

TEST_F(TensorTest, StringsBelongToTheirTensorAndAreClonedWithTheirBytes) {
  Tensor clone;
  {
    Tensor t = *Tensor::Make(account_, DType::kString, Shape{3});
    EXPECT_EQ(t.as<StringCell>()[1].view(), "");
    t.mut<StringCell>()[0].Assign("short");
    t.mut<StringCell>()[2].Assign(std::string(100, 'x'));
    clone = *t.Clone(account_);
  }
  EXPECT_EQ(clone.as<StringCell>()[0].view(), "short");
  EXPECT_EQ(clone.as<StringCell>()[2].view(), std::string(100, 'x'));
}

TEST_F(TensorTest, ReferencesKeepTheirObjectsAlive) {
  int alive = 0;
  {
    Tensor t = *Tensor::Make(account_, DType::kVariant, Shape{2});
    EXPECT_FALSE(t.objects()[0]);
    t.mutable_objects()[1] = MakeRef<Thing>(&alive);
    Tensor clone = *t.Clone(account_);
    t = Tensor();
    EXPECT_EQ(alive, 1);
    EXPECT_NE(clone.objects()[1]->As<Thing>(), nullptr);
    EXPECT_EQ(clone.objects()[1]->As<Other>(), nullptr);
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(TensorTest, HandingOverMovesTheChargeToTheCallerOnce) {
  Tensor t = Counting({100});
  int64_t bytes = account_->bytes(Kind::kActivations);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([t] { t.buffer()->HandOver(); });
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(account_->bytes(Kind::kActivations), 0);
  EXPECT_EQ(account_->bytes(Kind::kCaller), bytes);
  EXPECT_EQ(t.buffer()->kind(), Kind::kCaller);
  t = Tensor();
  EXPECT_EQ(account_->bytes(Kind::kCaller), 0);
}

TEST_F(TensorTest, ABufferOutlivesTheOwnersOfItsAccount) {
  Tensor kept = Counting({100'000});
  Account* account = account_.get();
  account->AddRef();
  account_ = MakeRef<Account>("another");
  account->Unref();
  EXPECT_EQ(kept.as<int32_t>()[99'999], 99'999);
  kept = Tensor();
}

TEST_F(TensorTest, BytesWithinAnotherKeepItAliveAndAreNeverReused) {
  Tensor whole = Counting({10});
  Ref<RefCounted> keeper = Ref<RefCounted>::Share(whole.buffer().get());
  Tensor part(DType::kInt32, Shape{4}, Buffer::Within(keeper, whole.data<int32_t>() + 3, 16));
  keeper = nullptr;
  int64_t bytes = account_->total();
  whole = Tensor();
  EXPECT_EQ(account_->total(), bytes);
  EXPECT_EQ(part.as<int32_t>()[0], 3);
  EXPECT_FALSE(part.may_reuse());
  part.buffer()->HandOver();
  part = Tensor();
  EXPECT_EQ(account_->total(), 0);
}

TEST_F(TensorTest, ForeignMemoryIsReleasedOnceByTheLastHolder) {
  int released = 0;
  int32_t data[3] = {7, 8, 9};
  {
    Tensor t(DType::kInt32, Shape{3}, Buffer::Foreign(data, sizeof data, [](void*, size_t bytes, void* arg) {
               EXPECT_EQ(bytes, sizeof data);
               ++*static_cast<int*>(arg);
             }, &released));
    Tensor copy = t.Reshaped({3, 1});
    EXPECT_FALSE(t.may_reuse());
    EXPECT_EQ(released, 0);
    EXPECT_EQ(copy.as<int32_t>()[2], 9);
  }
  EXPECT_EQ(released, 1);
}

TEST_F(TensorTest, IntValuesWidensInt32AndRefusesTheRest) {
  int64_t space[4];
  Tensor narrow = Counting({4});
  EXPECT_EQ((*IntValues(narrow, space))[3], 3);
  EXPECT_FALSE(IntValues(Counting({5}), space).ok());
  Tensor wide = *Tensor::Make(account_, DType::kInt64, Shape{100});
  EXPECT_EQ(IntValues(wide, space)->size(), 100u) << "int64 is not copied, so any number fits";
  EXPECT_EQ(IntValues(*Tensor::Make(account_, DType::kFloat, {}), space).status().code(), Code::kInvalidArgument);
}

TEST(Buffer, AnInvalidDTypeIsHarmless) {
  auto account = MakeRef<Account>("test");
  auto b = Buffer::Allocate(account, DType::kInvalid, 5, Kind::kWeights);
  if (b.ok()) *b = nullptr;
  EXPECT_EQ(account->total(), 0);
}

}  // namespace
}  // namespace tare
