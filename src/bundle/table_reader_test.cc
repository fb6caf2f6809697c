#include "bundle/table_reader.h"

#include <gtest/gtest.h>

#include "bundle/snappy.h"
#include "bundle/test_bundle_writer.h"

namespace tare {
namespace {

using testing::Table;

class TableReader : public ::testing::Test {
 protected:
  Region region_{MakeRef<Account>("test"), Kind::kGraphs};
};

std::map<std::string, std::string> ManyEntries() {
  std::map<std::string, std::string> entries{{"", "header"}};
  for (int i = 0; i < 1000; ++i) entries[fmt::format("layer/{:04}/kernel", i)] = fmt::format("value {}", i);
  return entries;
}

TEST_F(TableReader, RebuildsKeysAcrossRestartsAndBlocks) {
  const auto entries = ManyEntries();
  for (size_t block : {64, 1000, 1 << 18}) {
    const std::string file = Table(entries, block);
    auto table = ReadTable(file, region_);
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    ASSERT_EQ(table->size(), entries.size());
    size_t i = 0;
    for (const auto& [key, value] : entries) {
      EXPECT_EQ((*table)[i].key, key);
      EXPECT_EQ((*table)[i++].value, value);
    }
  }
}

TEST_F(TableReader, RefusesEveryTruncationAndEveryFlippedByte) {
  const std::string file = Table({{"", "h"}, {"a", "1"}, {"ab", "2"}, {"b", "3"}}, 8);
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_FALSE(ReadTable(std::string_view(file).substr(0, n), region_).ok()) << n;
    EXPECT_FALSE(ReadTable(std::string_view(file).substr(n + 1), region_).ok() && n > 0) << n;
  }
  // Outside the footer's padding and the unread metaindex every byte counts.
  int accepted = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    std::string flipped = file;
    flipped[at] ^= 0x10;
    accepted += ReadTable(flipped, region_).ok();
  }
  EXPECT_LE(accepted, 60);
}

TEST_F(TableReader, RefusesKeysOutOfOrderAndKeysThatGrowWithoutBound) {
  auto block = [](std::string entries) {
    std::string b = entries + testing::Fixed32(0) + testing::Fixed32(1) + '\0';
    return b + testing::Fixed32(MaskCrc(Crc32c(b)));
  };
  auto file = [&](const std::string& entries) {
    std::string data = block(entries);
    std::string handle = testing::Varint(0) + testing::Varint(data.size() - 5);
    std::string index = block(std::string("\0\1", 2) + testing::Varint(handle.size()) + "z" + handle);
    std::string footer = testing::Varint(0) + testing::Varint(0) + testing::Varint(data.size()) +
                         testing::Varint(index.size() - 5);
    footer.resize(40);
    return data + index + footer + std::string("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
  };
  EXPECT_TRUE(ReadTable(file(std::string("\0\1\0a\0\1\0b", 8)), region_).ok());
  EXPECT_FALSE(ReadTable(file(std::string("\0\1\0b\0\1\0a", 8)), region_).ok());
  EXPECT_FALSE(ReadTable(file(std::string("\0\1\0a\0\1\0a", 8)), region_).ok());
  EXPECT_FALSE(ReadTable(file(std::string("\0\1\0a\2\1\0a", 8)), region_).ok()) << "shares more than there is";
  std::string growing = testing::Varint(0) + testing::Varint(20000) + testing::Varint(0) + std::string(20000, 'k');
  for (int i = 0; i < 20000; ++i) growing += testing::Varint(20000 + i) + "\1" + std::string(1, '\0') + "k";
  auto grown = ReadTable(file(growing), region_);
  EXPECT_EQ(grown.status().code(), Code::kDataLoss);
  EXPECT_LT(region_.bytes(), size_t{16} << 20);
}

TEST_F(TableReader, UnpacksSnappy) {
  using namespace std::string_view_literals;
  EXPECT_EQ(*Unsnappy("\x05\x10hello"sv, region_), "hello");
  EXPECT_EQ(*Unsnappy("\x0a\x04" "ab\x11\x02"sv, region_), "ababababab") << "a copy that overlaps itself";
  EXPECT_EQ(*Unsnappy("\x06\x04" "ab\x0e\x02\x00"sv, region_), "ababab");
  EXPECT_EQ(*Unsnappy("\x00"sv, region_), "");
  for (std::string_view bad : {""sv, "\x05"sv, "\x05\x10hell"sv, "\x04\x10hello"sv, "\x0a\x04" "ab\x11\x03"sv,
                               "\x0a\x04" "ab\x11\x00"sv, "\x09\x04" "ab\x11\x02"sv, "\xff\xff\xff\xff\x0f\x10hello"sv,
                               "\x05\xfc\xff\xff\xff\xffhello"sv, "\x0a\x04" "ab\x12\x02"sv}) {
    EXPECT_EQ(Unsnappy(bad, region_).status().code(), Code::kDataLoss);
  }
}

}  // namespace
}  // namespace tare
