#include "cli/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "cli/base64.h"
#include "cli/npz.h"

namespace tare {
namespace {

const Ref<Account> account = MakeRef<Account>("test");

// What a value becomes and how it reads again.
std::string Round(std::string_view text, DType dtype, PartialShape shape = {}) {
  auto t = TensorFromText(account, text, dtype, shape);
  return t.ok() ? t->shape().ToString() + TensorToText(*t) : std::string(t.status().message());
}

TEST(Values, NumbersAreReadBack) {
  EXPECT_EQ(Round("[[1,2],[3,4.5]]", DType::kFloat), "[2,2][[1.0,2.0],[3.0,4.5]]");
  EXPECT_EQ(Round("0.1", DType::kFloat), "[]0.1");
  EXPECT_EQ(Round("[0.5]", DType::kHalf), "[1][0.5]");
  EXPECT_EQ(Round("[-2]", DType::kBfloat16), "[1][-2.0]");
  EXPECT_EQ(Round("9223372036854775807", DType::kInt64), "[]9223372036854775807");
  EXPECT_EQ(Round("18446744073709551615", DType::kUint64), "[]18446744073709551615");
  EXPECT_EQ(Round("[true,false]", DType::kBool), "[2][true,false]");
  EXPECT_EQ(Round("[\"NaN\",\"-Infinity\"]", DType::kDouble), "[2][\"NaN\",\"-Infinity\"]");
  EXPECT_EQ(Round("[\"1.5-2j\",\"1e-3j\",3]", DType::kComplex64),
            "[3][\"1.5-2j\",\"0+0.001j\",\"3+0j\"]");
}

TEST(Values, StringsAreReadBack) {
  EXPECT_EQ(Round("[\"a\",\"\\u00e9\"]", DType::kString), "[2][\"a\",\"\xc3\xa9\"]");
  EXPECT_EQ(Round("{\"b64\":\"/w==\"}", DType::kString), "[]{\"b64\":\"/w==\"}");
  EXPECT_EQ(Round("no json", DType::kString), "[]\"no json\"");
}

TEST(Values, EmptyListsTakeTheWantedShape) {
  const int64_t dims[] = {-1, 3};
  EXPECT_EQ(Round("[]", DType::kFloat, {false, dims}), "[0,3][]");
  EXPECT_EQ(Round("[]", DType::kFloat), "[0][]");
  EXPECT_EQ(Round("[[],[]]", DType::kFloat), "[2,0][[],[]]");
}

TEST(Values, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(Round("[[1],[300]]", DType::kUint8), "[1][0]: 300 does not fit uint8");
  EXPECT_EQ(Round("[1.5]", DType::kInt32), "[0]: 1.5 is not a value of int32");
  EXPECT_EQ(Round("[[1],[1,2]]", DType::kInt32), "[1]: a list of 2 where the first has 1");
  EXPECT_EQ(Round("[[1],2]", DType::kInt32), "[1]: 2 where a list was to be");
  EXPECT_EQ(Round("[1,[2]]", DType::kInt32), "[1]: a list is not a value of int32");
  EXPECT_EQ(Round("[1", DType::kInt32), "not JSON: [1");
  EXPECT_EQ(Round("1", DType::kBool), "1 is not a value of bool");
  EXPECT_EQ(Round("null", DType::kFloat), "null is not a value of float");
  EXPECT_EQ(Round("{\"b64\":\"?\"}", DType::kString), "base64 text of 1 characters is not whole");
  const int64_t dims[] = {-1, 2};
  EXPECT_EQ(Round("[[1,2,3]]", DType::kInt32, {false, dims}), "shape [1,3] is not [?,2]");
  EXPECT_EQ(Round(std::string(100000, '['), DType::kInt32).substr(0, 8), "not JSON");
  EXPECT_EQ(Round(std::string(11, '[') + std::string(11, ']'), DType::kInt32),
            "lists are nested deeper than 10");
}

TEST(Values, FilesMustHoldWhatIsWanted) {
  const std::string path = ::testing::TempDir() + "/tare_value.npy";
  Tensor t = *Tensor::Make(account, DType::kInt32, Shape{1});
  t.mutable_data<int32_t>()[0] = 7;
  ASSERT_TRUE(WriteNpyFile(path, t).ok());
  EXPECT_EQ(Round("@" + path, DType::kInt32), "[1][7]");
  EXPECT_EQ(Round("@" + path, DType::kFloat), path + " holds int32, not float");
  std::remove(path.c_str());
}

TEST(Base64, IsReadBack) {
  for (std::string s : {"", "a", "ab", "abc", "abcd"}) EXPECT_EQ(*DecodeBase64(EncodeBase64(s)), s);
  EXPECT_EQ(EncodeBase64("ab"), "YWI=");
  for (const char* bad : {"a", "====", "a=bc", "ab=c", "a b="})
    EXPECT_FALSE(DecodeBase64(bad).ok()) << bad;
}

}  // namespace
}  // namespace tare
