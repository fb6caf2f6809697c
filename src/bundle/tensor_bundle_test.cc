#include "bundle/tensor_bundle.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bundle/test_bundle_writer.h"

namespace tare {
namespace {

using testing::BundleWriter;
using Mode = MappedFile::Mode;

TensorSlice Rows(int64_t start, int64_t length) {
  TensorSlice s = TensorSlice::Whole(2);
  s.extents[0] = {start, length};
  return s;
}

class TensorBundleTest : public ::testing::TestWithParam<Mode> {
 protected:
  ~TensorBundleTest() override { EXPECT_EQ(account_->total(), 0); }
  std::unique_ptr<TensorBundle> Open(const BundleWriter& w, bool verify = true) {
    w.Write(dir_ / "v");
    auto b = TensorBundle::Open(dir_ / "v", {GetParam(), verify}, account_);
    EXPECT_TRUE(b.ok()) << b.status().ToString();
    return b.ok() ? *std::move(b) : nullptr;
  }
  template <class T>
  static std::vector<T> Values(const Result<Tensor>& t) {
    EXPECT_TRUE(t.ok()) << t.status().ToString();
    if (!t.ok()) return {};
    auto s = t->template as<T>();
    return {s.begin(), s.end()};
  }
  static std::vector<std::string> Strings(const Result<Tensor>& t) {
    EXPECT_TRUE(t.ok()) << t.status().ToString();
    if (!t.ok()) return {};
    std::vector<std::string> v;
    for (const StringCell& c : t->as<StringCell>()) v.emplace_back(c.view());
    return v;
  }
  void ExpectError(const Status& s, Code code, std::string_view words) {
    EXPECT_EQ(s.code(), code) << s.ToString();
    EXPECT_NE(s.message().find(words), std::string_view::npos) << s.ToString();
    EXPECT_NE(s.message().find(dir_ / "v"), std::string_view::npos) << "names no file: " << s.ToString();
  }
  testing::TempDir dir_;
  Ref<Account> account_ = MakeRef<Account>("test", 0);
};
INSTANTIATE_TEST_SUITE_P(Modes, TensorBundleTest, ::testing::Values(Mode::kMap, Mode::kRead),
                         [](const auto& info) { return info.param == Mode::kMap ? "Map" : "Read"; });

TEST_P(TensorBundleTest, ReadsEveryTensorOfManyBlocksAndShards) {
  BundleWriter w(3);
  for (int i = 0; i < 300; ++i) w.Add<int64_t>(fmt::format("t{}", i), {2}, {i, -i}, i % 3);
  w.Write(dir_ / "v", 512);
  auto b = TensorBundle::Open(dir_ / "v", {GetParam()}, account_);
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(Values<int64_t>((*b)->Read(fmt::format("t{}", i), Kind::kWeights)), (std::vector<int64_t>{i, -i}));
  }
  EXPECT_EQ((*b)->entries()->size(), 300u);
}

TEST_P(TensorBundleTest, UsesAlignedTensorsInPlaceAndCopiesOthers) {
  BundleWriter w;
  w.Add<float>("aligned", {2}, {1, 2});
  w.Pad(1);
  w.Add<float>("odd", {2}, {3, 4});
  w.Add<std::complex<double>>("odd complex", {1}, {{5, 6}});
  auto b = Open(w);
  const int64_t before = account_->total();
  auto aligned = b->Read("aligned", Kind::kWeights), odd = b->Read("odd", Kind::kWeights);
  EXPECT_EQ(Values<float>(aligned), (std::vector<float>{1, 2}));
  EXPECT_EQ(Values<float>(odd), (std::vector<float>{3, 4}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(odd->raw()) % 4, 0u);
  EXPECT_EQ(Values<std::complex<double>>(b->Read("odd complex", Kind::kWeights))[0], std::complex<double>(5, 6));
  EXPECT_EQ(aligned->buffer()->owned(), GetParam() == Mode::kRead);
  EXPECT_TRUE(odd->buffer()->owned());
  EXPECT_GT(account_->total(), before);
}

TEST_P(TensorBundleTest, TensorsOutliveTheBundle) {
  BundleWriter w;
  w.Add<float>("w", {2}, {1, 2});
  w.AddStrings("s", {2}, {"short", std::string(100, 'x')});
  auto b = Open(w);
  auto t = b->Read("w", Kind::kWeights), s = b->Read("s", Kind::kWeights);
  b = nullptr;
  EXPECT_EQ(Values<float>(t), (std::vector<float>{1, 2}));
  EXPECT_EQ(Strings(s), (std::vector<std::string>{"short", std::string(100, 'x')}));
  EXPECT_GT(account_->total(), 0);
}

TEST_P(TensorBundleTest, ReadsEmptyTensorsScalarsAndStrings) {
  BundleWriter w;
  w.Add<float>("empty", {0, 3}, {});
  w.Add<double>("scalar", {}, {2.5});
  w.AddStrings("no strings", {0}, {});
  w.Add("no strings, no checksum", DType::kString, {0}, "");
  w.AddStrings("strings", {2, 2}, {"", "a", std::string(70'000, 'y'), std::string("nul\0nul", 7)});
  auto b = Open(w);
  EXPECT_EQ(b->Read("empty", Kind::kWeights)->shape(), (Shape{0, 3}));
  EXPECT_EQ(Values<double>(b->Read("scalar", Kind::kWeights))[0], 2.5);
  EXPECT_TRUE(Strings(b->Read("no strings", Kind::kWeights)).empty());
  EXPECT_TRUE(Strings(b->Read("no strings, no checksum", Kind::kWeights)).empty());
  EXPECT_EQ(Strings(b->Read("strings", Kind::kWeights)),
            (std::vector<std::string>{"", "a", std::string(70'000, 'y'), std::string("nul\0nul", 7)}));
}

TEST_P(TensorBundleTest, BoolsAreZeroOrOne) {
  BundleWriter w;
  w.Add("b", DType::kBool, {4}, std::string_view("\0\1\2\xff", 4));
  w.Add("good", DType::kBool, {2}, std::string_view("\0\1", 2));
  auto b = Open(w);
  EXPECT_EQ(std::memcmp(b->Read("b", Kind::kWeights)->raw(), "\0\1\1\1", 4), 0);
  EXPECT_EQ(std::memcmp(b->Read("good", Kind::kWeights)->raw(), "\0\1", 2), 0);
}

TEST_P(TensorBundleTest, PutsPartitionedTensorsTogether) {
  BundleWriter w(2);
  auto piece = [&](TensorSlice s, std::vector<float> v, int shard) {
    w.Add<float>(SliceKey("p/w", s), {static_cast<int64_t>(v.size() / 3), 3}, v, shard);
    return s;
  };
  TensorSlice a = piece(Rows(0, 2), {0, 1, 2, 10, 11, 12}, 1), c = piece(Rows(2, 1), {20, 21, 22}, 0);
  w.AddWhole("p/w", DType::kFloat, {3, 3}, {c, a});
  auto b = Open(w);
  EXPECT_EQ(Values<float>(b->Read("p/w", Kind::kWeights)), (std::vector<float>{0, 1, 2, 10, 11, 12, 20, 21, 22}));
  EXPECT_EQ(Values<float>(b->ReadSlice("p/w", "3 3 1,2:1,2", Kind::kWeights)), (std::vector<float>{11, 12, 21, 22}));
  auto own = b->ReadSlice("p/w", "3 3 2,1:-", Kind::kWeights);
  EXPECT_EQ(Values<float>(own), (std::vector<float>{20, 21, 22}));
  EXPECT_EQ(own->buffer()->owned(), GetParam() == Mode::kRead) << "a piece asked for as stored is used in place";
  EXPECT_EQ(b->entries()->size(), 1u);
  ThreadPool threads(1);
  std::string_view key = "p/w";
  EXPECT_TRUE(b->VerifyAll(threads, {&key, 1}).ok());
}

TEST_P(TensorBundleTest, SlicesWholeTensors) {
  BundleWriter w;
  std::vector<int32_t> v(12);
  std::iota(v.begin(), v.end(), 0);
  w.Add<int32_t>("w", {3, 4}, v);
  w.AddStrings("s", {2, 2}, {"a", "b", "c", std::string(50, 'd')});
  auto b = Open(w);
  EXPECT_EQ(Values<int32_t>(b->ReadSlice("w", "3 4 1,2:1,2", Kind::kWeights)), (std::vector<int32_t>{5, 6, 9, 10}));
  EXPECT_EQ(Values<int32_t>(b->ReadSlice("w", "3 4 -:-", Kind::kWeights)), v);
  EXPECT_EQ(Strings(b->ReadSlice("s", "2 2 -:1,1", Kind::kWeights)), (std::vector<std::string>{"b", std::string(50, 'd')}));
  ExpectError(b->ReadSlice("w", "4 3 -:-", Kind::kWeights).status(), Code::kInvalidArgument, "does not match the shape");
  ExpectError(b->ReadSlice("w", "3 4 2,2:-", Kind::kWeights).status(), Code::kInternal, "out of bounds");
  ExpectError(b->ReadSlice("w", "3 4", Kind::kWeights).status(), Code::kInvalidArgument, "key w");
}

TEST_P(TensorBundleTest, NamesWhatIsWrongWithSlices) {
  BundleWriter w;
  w.Add<float>(SliceKey("holes", Rows(0, 1)), {1, 2}, {1, 2});
  w.AddWhole("holes", DType::kFloat, {3, 2}, {Rows(0, 1)});
  w.AddWhole("lost", DType::kFloat, {3, 2}, {Rows(0, 3)});
  w.AddWhole("out", DType::kFloat, {3, 2}, {Rows(0, int64_t{1} << 40)});
  w.Add<float>(SliceKey("twice", Rows(0, 2)), {2, 2}, {1, 2, 3, 4});
  w.AddWhole("twice", DType::kFloat, {3, 2}, {Rows(0, 2), Rows(0, 2)});
  w.Add<double>(SliceKey("type", Rows(0, 3)), {3, 2}, {1, 2, 3, 4, 5, 6});
  w.AddWhole("type", DType::kFloat, {3, 2}, {Rows(0, 3)});
  auto b = Open(w);
  auto error = [&](std::string_view key) { return b->Read(key, Kind::kWeights).status(); };
  ExpectError(error("holes"), Code::kInvalidArgument, "Does not have sufficient slices for partitioned tensor holes");
  ExpectError(error("lost"), Code::kNotFound, "Key lost not found in checkpoint");
  ExpectError(error("out"), Code::kInternal, "Extent in dimension 0 out of bounds");
  ExpectError(error("twice"), Code::kDataLoss, "key twice: its slices overlap");
  ExpectError(error("type"), Code::kDataLoss, "key type");
}

TEST_P(TensorBundleTest, NamesWhatIsWrongWithEntries) {
  BundleWriter w;
  w.Add<float>("w", {2}, {1, 2});
  auto add = [&](const char* key) -> BundleWriter::Entry& { return w.Add<float>(key, {2}, {1, 2}); };
  add("bigger").shape = {int64_t{1} << 40, 1};
  add("overflow").shape = {int64_t{1} << 33, int64_t{1} << 33};
  add("negative").shape = {-1, 2};
  add("deep").shape = std::vector<int64_t>(300, 1);
  add("size").size = -8;
  add("before").offset = -64;
  add("wraps").offset = INT64_MAX - 4;
  add("beyond").offset = 1 << 20;
  add("shard").shard = 99;
  add("crc").crc ^= 1;
  add("resource").dtype = DType::kResource;
  w.AddStrings("many", {1}, {"a"}).shape = {int64_t{1} << 40};
  w.AddStrings("more", {3}, {"a", "b", "c"}).shape = {7};
  auto b = Open(w);
  auto error = [&](std::string_view key) { return b->Read(key, Kind::kWeights, DType::kInvalid).status(); };
  ExpectError(error("nothing"), Code::kNotFound, "Key nothing not found in checkpoint");
  ExpectError(b->Read("w", Kind::kWeights, DType::kInt32).status(), Code::kInvalidArgument,
              "tensor_name = w; expected dtype int32 does not equal original dtype float");
  ExpectError(error("bigger"), Code::kDataLoss, "Invalid size in bundle entry: key bigger; stored size 8; expected size 4398046511104");
  ExpectError(error("overflow"), Code::kDataLoss, "Invalid tensor shape: overflow");
  ExpectError(error("negative"), Code::kDataLoss, "Invalid tensor shape: negative");
  ExpectError(error("deep"), Code::kDataLoss, "Invalid tensor shape: deep");
  ExpectError(error("size"), Code::kDataLoss, "key size; stored size -8; expected size 8");
  ExpectError(error("before"), Code::kInvalidArgument, "Seeking to a negative position: -64");
  ExpectError(error("wraps"), Code::kInvalidArgument, "Invalid argument");
  ExpectError(error("beyond"), Code::kOutOfRange, "Read less bytes than requested");
  ExpectError(error("shard"), Code::kNotFound, "data-00099-of-00001; No such file or directory");
  ExpectError(error("crc"), Code::kDataLoss, "Checksum does not match: stored");
  ExpectError(error("resource"), Code::kUnimplemented, "key resource");
  ExpectError(error("many"), Code::kDataLoss, "key many; stored size 6; expected size is at least");
  ExpectError(error("more"), Code::kDataLoss, "key more");
  EXPECT_TRUE(b->Read("w", Kind::kWeights).ok()) << "the others do no harm";
}

TEST_P(TensorBundleTest, ChecksLengthsOfStrings) {
  BundleWriter w;
  w.AddStrings("s", {3}, {"aa", "b", "c"});
  w.data()[1] = 2;
  auto b = Open(w);
  ExpectError(b->Read("s", Kind::kWeights).status(), Code::kDataLoss, "The length checksum does not match: expected");
  b = Open(w, /*verify=*/false);
  ExpectError(b->Read("s", Kind::kWeights).status(), Code::kDataLoss, "key s");
  w.data()[1] = 1;
  w.data()[8] ^= 1;
  b = Open(w);
  ExpectError(b->Read("s", Kind::kWeights).status(), Code::kDataLoss, "Checksum does not match");
}

TEST_P(TensorBundleTest, VerifiesInPiecesWhereverTheDamageIs) {
  BundleWriter w;
  w.AddStrings("s", {2}, {"a", std::string(3000, 'b')});
  w.Add("w", DType::kInt8, {5'000'001}, std::string(5'000'001, 'w'));
  ThreadPool threads(2);
  const std::string_view keys[] = {"w", "s"};
  EXPECT_TRUE(Open(w)->VerifyAll(threads, keys).ok());
  for (size_t at : {4000u, 2'000'000u, 4'900'000u, 100u}) {
    w.data()[at] ^= 4;
    auto b = Open(w, /*verify=*/false);
    EXPECT_TRUE(b->Read("w", Kind::kWeights).ok()) << "not asked to verify";
    ExpectError(b->VerifyAll(threads, keys), Code::kDataLoss, "Checksum does not match");
    w.data()[at] ^= 4;
  }
}

TEST_P(TensorBundleTest, RefusesHeadersItMustNotRead) {
  auto open = [&](const std::string& header) {
    BundleWriter w;
    w.set_header(header);
    w.Write(dir_ / "v");
    return TensorBundle::Open(dir_ / "v", {GetParam()}, account_).status();
  };
  using testing::Field;
  EXPECT_TRUE(open(Field(1, 1)).ok());
  ExpectError(open(Field(1, 1) + Field(2, 1)), Code::kDataLoss, "big-endian");
  ExpectError(open(Field(1, -1)), Code::kDataLoss, "-1 shards");
  ExpectError(open("\x08"), Code::kDataLoss, "Unable to parse the header");
  ExpectError(open(Field(1, 1) + Field(3, Field(1, 2) + Field(2, 2))), Code::kInvalidArgument, "min consumer version 2");
  ExpectError(open(Field(1, 1) + Field(3, Field(1, 2) + Field(3, 1))), Code::kInvalidArgument, "disallows");
  ExpectError(open(Field(1, 1) + Field(3, Field(1, -1))), Code::kInvalidArgument, "below min producer");
  ExpectError(TensorBundle::Open(dir_ / "v0", {GetParam()}, account_).status(), Code::kNotFound, "v0.index");
}

}  // namespace
}  // namespace tare
