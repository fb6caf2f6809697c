#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/string_cell.h"

namespace tare {
namespace {

TEST(DType, NamesGoBothWays) {
  for (int i = 1; i <= kMaxDType; ++i) {
    auto t = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(DTypeName(t)), t);
    EXPECT_GT(DTypeSize(t), 0u) << DTypeName(t);
  }
  EXPECT_EQ(DTypeFromName("invalid"), DType::kInvalid);
  EXPECT_EQ(DTypeFromName("float32"), DType::kInvalid);
  EXPECT_EQ(DTypeName(static_cast<DType>(200)), "unknown");
  EXPECT_EQ(DTypeSize(static_cast<DType>(200)), 0u);
  EXPECT_EQ(DTypeSize(DType::kInvalid), 0u);
}

TEST(DType, WireValuesLoseTheReferenceOffsetAndBadOnesAreInvalid) {
  EXPECT_EQ(DTypeFromWire(1), DType::kFloat);
  EXPECT_EQ(DTypeFromWire(101), DType::kFloat);
  EXPECT_EQ(DTypeFromWire(kMaxDType), DType::kFloat4E2m1fn);
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{kMaxDType + 1}, int64_t{100}, int64_t{100 + kMaxDType + 1},
                      int64_t{257}, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(DTypeFromWire(bad), DType::kInvalid) << bad;
  }
}

TEST(Half, EveryValueComesBackFromFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half h;
    h.bits = static_cast<uint16_t>(bits);
    _Float16 reference;
    std::memcpy(&reference, &h.bits, 2);
    float f = h;
    if (std::isnan(f)) {
      EXPECT_EQ(bits & 0x7c00, 0x7c00u);
      EXPECT_TRUE(std::isnan(static_cast<float>(Half(f))));
      continue;
    }
    ASSERT_EQ(f, static_cast<float>(reference)) << bits;
    ASSERT_EQ(Half(f).bits, bits);
  }
}

TEST(Half, RoundsToNearestEvenAsTheCompilerDoes) {
  // A walk over floats of every exponent, with the ties and their neighbours among them.
  for (uint64_t u = 0; u < 0x1'0000'0000; u += 0x0fff + (u % 3) - 1) {
    float f = std::bit_cast<float>(static_cast<uint32_t>(u));
    if (std::isnan(f)) continue;
    auto reference = static_cast<_Float16>(f);
    uint16_t bits;
    std::memcpy(&bits, &reference, 2);
    ASSERT_EQ(Half(f).bits, bits) << u;
  }
  EXPECT_EQ(Half(65519.f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.f).bits, 0x7c00);
  EXPECT_EQ(Half(1 + 0x1p-11f).bits, 0x3c00) << "a tie goes to even";
  EXPECT_EQ(Half(1 + 3 * 0x1p-11f).bits, 0x3c02);
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsInfinitiesAndNans) {
  EXPECT_EQ(BFloat16(1.f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1 + 0x1p-8f).bits, 0x3f80) << "a tie goes to even";
  EXPECT_EQ(BFloat16(1 + 3 * 0x1p-8f).bits, 0x3f82);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(static_cast<float>(BFloat16(-INFINITY)), -INFINITY);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    BFloat16 b;
    b.bits = static_cast<uint16_t>(bits);
    float f = b;
    if (std::isnan(f)) continue;
    ASSERT_EQ(BFloat16(f).bits, bits);
  }
}

TEST(ForType, CallsWithTheElementTypeOrNamesTheOneItLacks) {
  size_t size = 0;
  auto take = [&]<class T>() {
    size = sizeof(T);
    return OkStatus();
  };
  EXPECT_TRUE(ForType(Numbers{}, DType::kComplex128, take).ok());
  EXPECT_EQ(size, 16u);
  Status s = ForType(Floats{}, DType::kString, take);
  EXPECT_EQ(s.code(), Code::kUnimplemented);
  EXPECT_NE(s.message().find("string"), std::string::npos);
  EXPECT_EQ(ForType(Floats{}, DType::kFloat, []<class T>() { return Aborted("inside"); }).message(), "inside");
}

TEST(ForSize, CoversEveryPlainTypeAndRefusesStrings) {
  for (int i = 1; i <= kMaxDType; ++i) {
    auto t = static_cast<DType>(i);
    size_t size = 0;
    Status s = ForSize(t, [&]<class T>() {
      size = sizeof(T);
      return OkStatus();
    });
    EXPECT_EQ(s.ok(), t != DType::kString) << DTypeName(t);
    EXPECT_EQ(size, s.ok() ? DTypeSize(t) : 0);
  }
}

}  // namespace
}  // namespace tare
