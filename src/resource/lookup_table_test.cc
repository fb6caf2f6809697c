#include "resource/lookup_table.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "resource/table_file.h"

namespace tare {
namespace {

class LookupTableTest : public testing::Test {
 protected:
  Tensor Strings(std::initializer_list<std::string_view> values) {
    Tensor t = *Tensor::Make(account_, DType::kString, Shape{static_cast<int64_t>(values.size())});
    size_t i = 0;
    for (std::string_view v : values) t.mut<StringCell>()[i++].Assign(v);
    return t;
  }
  Tensor Ints(std::initializer_list<int64_t> values) {
    Tensor t = *Tensor::Make(account_, DType::kInt64, Shape{static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.mutable_data<int64_t>());
    return t;
  }
  Ref<LookupTable> Table(LookupTable::Form form) {
    return *LookupTable::Make("t", {.form = form, .key_dtype = DType::kString, .value_dtype = DType::kInt64}, account_);
  }
  int64_t Find(LookupTable& table, std::string_view key) {
    Tensor out = Ints({0}), missing = Ints({-1}).Reshaped(Shape{});
    Status s = table.Find(Strings({key}), missing, out, threads_);
    return s.ok() ? *out.data<int64_t>() : -100 - static_cast<int>(s.code());
  }
  std::string WriteFile(std::string_view text) {
    std::string name = testing::TempDir() + "/table_file.txt";
    std::ofstream(name, std::ios::binary) << text;
    return name;
  }
  Status FromFile(LookupTable& table, std::string_view text, int64_t vocab_size = -1) {
    return InitializeFromFile(table, {.filename = WriteFile(text), .vocab_size = vocab_size});
  }
  int64_t table_bytes() const { return account_->bytes(Kind::kTables); }

  Ref<Account> account_ = MakeRef<Account>("test");
  ThreadPool threads_{1};
};

TEST_F(LookupTableTest, ManyKeysStayFoundAcrossGrowthAndRemoval) {
  auto table = Table(LookupTable::Form::kMutable);
  constexpr int64_t kCount = 20'000;
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(table->Insert(Strings({fmt::format("key number {}", i)}), Ints({i})).ok());
  }
  for (int64_t i = 0; i < kCount; i += 2) {
    ASSERT_TRUE(table->Remove(Strings({fmt::format("key number {}", i)})).ok());
  }
  EXPECT_EQ(*table->size(), kCount / 2);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(Find(*table, fmt::format("key number {}", i)), i % 2 ? i : -1);
  }
}

TEST_F(LookupTableTest, SteadyChangeIsBounded) {
  auto table = Table(LookupTable::Form::kMutable);
  int64_t early = 0;
  for (int64_t i = 0; i < 50'000; ++i) {
    ASSERT_TRUE(table->Insert(Strings({fmt::format("a rather long key with the number {}", i)}), Ints({i})).ok());
    if (i >= 100) {
      ASSERT_TRUE(table->Remove(Strings({fmt::format("a rather long key with the number {}", i - 100)})).ok());
    }
    if (i == 5'000) early = table_bytes();
  }
  EXPECT_EQ(*table->size(), 100);
  EXPECT_LE(table_bytes(), early * 2);
}

TEST_F(LookupTableTest, ClosingGivesBackEveryByteAtOnce) {
  auto table = Table(LookupTable::Form::kStatic);
  ASSERT_TRUE(table->Initialize(Strings({"a", "b"}), Ints({1, 2})).ok());
  EXPECT_GT(table_bytes(), 0);
  EXPECT_EQ(Find(*table, "b"), 2);
  table->Close();
  EXPECT_EQ(table_bytes(), 0);
  EXPECT_EQ(Find(*table, "b"), -100 - static_cast<int>(Code::kFailedPrecondition));
  EXPECT_EQ(table->size().status().code(), Code::kFailedPrecondition);
}

TEST_F(LookupTableTest, ReadsAFileALineARow) {
  for (std::string_view text : {"a\nb\nc\n", "a\nb\nc", "a\r\nb\r\nc\r\n"}) {
    auto table = Table(LookupTable::Form::kStatic);
    ASSERT_TRUE(FromFile(*table, text).ok());
    EXPECT_EQ(*table->size(), 3);
    EXPECT_EQ(Find(*table, "c"), 2);
    EXPECT_EQ(Find(*table, "d"), -1);
  }
}

TEST_F(LookupTableTest, RefusesFilesAsTensorFlowDoes) {
  auto code = [&](std::string_view text, int64_t vocab_size = -1) {
    return FromFile(*Table(LookupTable::Form::kStatic), text, vocab_size).code();
  };
  EXPECT_EQ(code("a\n\nc\n"), Code::kInvalidArgument);
  EXPECT_EQ(code("a\nb\na\n"), Code::kFailedPrecondition);
  EXPECT_EQ(code(""), Code::kOutOfRange);
  EXPECT_EQ(code("a\nb\n", 0), Code::kOutOfRange);
  EXPECT_EQ(code("a\nb\n", 3), Code::kInvalidArgument);
  EXPECT_EQ(code("a\nb\n", 1), Code::kOk);
  EXPECT_EQ(InitializeFromFile(*Table(LookupTable::Form::kStatic), {.filename = "/no/such/file"}).code(),
            Code::kNotFound);
}

TEST_F(LookupTableTest, ReadsColumns) {
  TableFile file{.filename = WriteFile("x, 7 \ny,8,more\n"), .delimiter = ',', .key_index = 0, .value_index = 1};
  auto table = Table(LookupTable::Form::kStatic);
  ASSERT_TRUE(InitializeFromFile(*table, file).ok());
  EXPECT_EQ(Find(*table, "x"), 7);
  EXPECT_EQ(Find(*table, "y"), 8);
  file.filename = WriteFile("x,7\ny\n");
  EXPECT_EQ(InitializeFromFile(*Table(LookupTable::Form::kStatic), file).code(), Code::kInvalidArgument);
  file.filename = WriteFile("x,7up\n");
  EXPECT_EQ(InitializeFromFile(*Table(LookupTable::Form::kStatic), file).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tare
