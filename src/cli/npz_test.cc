#include "cli/npz.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "cli/npy.h"
#include "cli/zip.h"

namespace tare {
namespace {

const Ref<Account> account = MakeRef<Account>("test");

std::string Npy(std::string_view header, std::string_view data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out.append(header).append(data);
}

template <class T>
Tensor Make(const Shape& shape, std::vector<T> values) {
  Tensor t = *Tensor::Make(account, DTypeOf<T>::value, shape);
  if (!values.empty()) std::memcpy(t.mutable_raw(), values.data(), t.bytes());
  return t;
}

Tensor MakeStrings(const Shape& shape, std::vector<std::string> values) {
  Tensor t = *Tensor::Make(account, DType::kString, shape);
  for (size_t i = 0; i < values.size(); ++i) t.mut<StringCell>()[i].Assign(values[i]);
  return t;
}

std::string TemporaryFile(const char* name) { return ::testing::TempDir() + "/tare_" + name; }

TEST(Npy, EncodedArraysAreReadBack) {
  auto npy = EncodeNpy(Make<int16_t>({2, 3}, {1, -2, 3, 4, 5, 6}));
  ASSERT_TRUE(npy.ok());
  EXPECT_EQ(npy->size(), 128 + 12);
  auto t = DecodeNpy(account, *npy);
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  EXPECT_EQ(t->dtype(), DType::kInt16);
  EXPECT_EQ(t->shape(), (Shape{2, 3}));
  EXPECT_EQ(t->as<int16_t>()[1], -2);
}

TEST(Npy, ScalarsAndEmptyArraysAreReadBack) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 0, 2}, Shape{1}}) {
    auto t = DecodeNpy(account, *EncodeNpy(*Tensor::Make(account, DType::kBool, shape)));
    ASSERT_TRUE(t.ok()) << t.status().ToString();
    EXPECT_EQ(t->shape(), shape);
  }
}

TEST(Npy, FortranOrderIsTransposed) {
  auto t = DecodeNpy(account, Npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n",
                                  std::string_view("\1\4\2\5\3\6", 6)));
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(t->as<uint8_t>()[i], i + 1);
}

TEST(Npy, BigEndianIsSwapped) {
  auto t = DecodeNpy(account, Npy("{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }\n",
                                  std::string_view("\0\0\1\2", 4)));
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  EXPECT_EQ(t->as<int32_t>()[0], 258);
}

TEST(Npy, StringArraysBecomeStrings) {
  auto s = DecodeNpy(account, Npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }\n",
                                  std::string_view("ab\0xyz", 6)));
  ASSERT_TRUE(s.ok()) << s.status().ToString();
  EXPECT_EQ(s->as<StringCell>()[0].view(), "ab");
  auto u = DecodeNpy(account, Npy("{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }\n",
                                  std::string_view("\xe9\0\0\0\x42\x30\0\0", 8)));
  ASSERT_TRUE(u.ok()) << u.status().ToString();
  EXPECT_EQ(u->as<StringCell>()[0].view(), "\xc3\xa9\xe3\x81\x82");
}

TEST(Npy, DamagedFilesAreRefused) {
  const std::string good = *EncodeNpy(Make<float>({4}, {1, 2, 3, 4}));
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(DecodeNpy(account, good.substr(0, n)).ok());
  for (const char* header :
       {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (99999999999,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'shape': (1,), }", "{'descr': '<f4'", "", "[]", "{'shape': (1 2)}"}) {
    EXPECT_FALSE(DecodeNpy(account, Npy(header, "abcd")).ok()) << header;
  }
}

TEST(Npz, EveryDtypeIsReadBack) {
  const std::string path = TemporaryFile("all.npz");
  NpzArrays in = {
      {"in/strings", MakeStrings({2, 2}, {"", std::string("a\0", 2), "\xff", "\xc3\xa9"})},
      {"in/text", MakeStrings({}, {"x"})},
      {"out/bf16", Make<BFloat16>({2}, {1.5f, -2.f})},
      {"out/c", Make<std::complex<float>>({1}, {{1, 2}})},
      {"out/half", Make<Half>({1}, {0.5f})},
      {"out/none", Make<double>({0, 2}, {})},
  };
  ASSERT_TRUE(WriteNpzFile(path, in).ok());
  auto out = ReadNpzFile(account, path);
  std::remove(path.c_str());
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ASSERT_EQ(out->size(), in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor &a = in[i].second, &b = (*out)[i].second;
    EXPECT_EQ(in[i].first, (*out)[i].first);
    ASSERT_EQ(a.dtype(), b.dtype());
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t k = 0; a.dtype() == DType::kString && k < a.num_elements(); ++k) {
      EXPECT_EQ(a.as<StringCell>()[k].view(), b.as<StringCell>()[k].view());
    }
    if (IsPlain(a.dtype()) && a.bytes()) {
      EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.bytes()), 0);
    }
  }
}

TEST(Npz, MissingFilesAreNamed) {
  Status status = ReadNpzFile(account, "/nowhere/x.npz").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("/nowhere/x.npz"), std::string_view::npos);
}

TEST(Zip, DamagedArchivesAreRefused) {
  ZipWriter writer(/*deflate=*/true);
  ASSERT_TRUE(writer.Add("a", std::string(1000, 'x')).ok());
  const std::string good = writer.Finish();
  auto unpack = [](std::string_view archive) -> Result<std::string> {
    TARE_ASSIGN_OR_RETURN(auto entries, ReadZip(archive));
    if (entries.empty()) return DataLoss("no entry");
    return Unpack(entries[0], 2000);
  };
  ASSERT_TRUE(unpack(good).ok());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(unpack(good.substr(0, n)).ok());
  // Any byte may be anything: no crash, and never other contents.
  for (size_t i = 0; i < good.size(); ++i) {
    for (int flip : {1, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      EXPECT_EQ(unpack(bad).ok() ? *unpack(bad) : std::string(1000, 'x'), std::string(1000, 'x'));
    }
  }
  auto entries = ReadZip(good);
  EXPECT_EQ(Unpack((*entries)[0], 999).status().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace tare
