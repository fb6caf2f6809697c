#include "bundle/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tare {
namespace {

std::string Bytes(size_t n) {
  std::string s(n, '\0');
  for (size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * 131 + (i >> 8) * 7);
  return s;
}

TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32c, InstructionsAndTablesAgreeAtEverySizeAndSeam) {
  const std::string all = Bytes(3 * 16384 * 2 + 5000);
  for (size_t n : {0, 1, 7, 8, 9, 63, 3071, 3072, 3073, 6143, 6200, 49151, 49152, 49153, 60000, 103000}) {
    std::string_view part = std::string_view(all).substr(3, n);
    EXPECT_EQ(Crc32c(part, 17), internal::PortableCrc32c(part, 17)) << n;
  }
}

TEST(Crc32c, PiecesComputedApartConcatenate) {
  const std::string all = Bytes(100'000);
  for (size_t cut : {0, 1, 4096, 99'999, 100'000}) {
    std::string_view a = std::string_view(all).substr(0, cut), b = std::string_view(all).substr(cut);
    EXPECT_EQ(Crc32c(b, Crc32c(a)), Crc32c(all));
    EXPECT_EQ(ConcatCrc32c(Crc32c(a), Crc32c(b), b.size()), Crc32c(all));
  }
}

TEST(Crc32c, MaskIsInvertible) {
  EXPECT_EQ(MaskCrc(0), 2726488792u);
  for (uint32_t c : {0u, 1u, 0xe3069283u, 0xffffffffu}) EXPECT_EQ(UnmaskCrc(MaskCrc(c)), c);
}

}  // namespace
}  // namespace tare
