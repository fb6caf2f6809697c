#include "tensor/string_cell.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tare {
namespace {

const uint8_t* Raw(const StringCell& cell) { return reinterpret_cast<const uint8_t*>(&cell); }
uint64_t Word(const StringCell& cell, int at) {
  uint64_t v;
  std::memcpy(&v, Raw(cell) + at, 8);
  return v;
}
void Write(StringCell& cell, const void* bytes, size_t at, size_t n) {
  std::memcpy(reinterpret_cast<uint8_t*>(&cell) + at, bytes, n);
}

TEST(StringCell, AZeroedCellIsTheEmptyString) {
  StringCell cell;
  EXPECT_EQ(cell.view(), "");
  EXPECT_EQ(cell.size(), 0u);
  EXPECT_EQ(cell.heap_bytes(), 0u);
}

TEST(StringCell, UpTo22BytesLieInTheCellWithANul) {
  for (size_t n : {0, 1, 21, 22}) {
    StringCell cell;
    cell.Assign(std::string(n, 'a'));
    EXPECT_EQ(cell.view(), std::string(n, 'a'));
    EXPECT_EQ(Raw(cell)[0], n << 2);
    EXPECT_EQ(Raw(cell)[1 + n], 0);
    EXPECT_EQ(cell.heap_bytes(), 0u);
  }
}

TEST(StringCell, LongerOnesLieOnTheHeapAsCProgramsExpect) {
  for (size_t n : {23, 31, 32, 33, 1000, 1'000'000}) {
    StringCell cell;
    cell.Assign(std::string(n, 'b'));
    EXPECT_EQ(cell.view(), std::string(n, 'b'));
    EXPECT_EQ(Word(cell, 0), n << 2 | 1);
    EXPECT_EQ((Word(cell, 8) + 1) % 16, 0u) << "capacity and NUL fill whole units";
    EXPECT_GE(Word(cell, 8), n);
    EXPECT_EQ(reinterpret_cast<const char*>(Word(cell, 16))[n], 0);
    EXPECT_EQ(cell.heap_bytes(), Word(cell, 8) + 1);
  }
}

TEST(StringCell, BytesMayBeAnythingNulsIncluded) {
  StringCell cell;
  std::string_view s("a\0\xff\n", 4);
  cell.Assign(s);
  EXPECT_EQ(cell.view(), s);
}

TEST(StringCell, AssigningReplacesWhateverFormItHad) {
  StringCell cell;
  std::string small = "small", large(100, 'l');
  for (const std::string& from : {small, large}) {
    for (const std::string& to : {large, small, std::string()}) {
      cell.Assign(from);
      cell.Assign(to);
      EXPECT_EQ(cell.view(), to);
      cell.AssignView(from);
      cell.Assign(to);
      EXPECT_EQ(cell.view(), to);
    }
  }
}

TEST(StringCell, AssigningAPartOfItselfIsSafe) {
  StringCell cell;
  cell.Assign(std::string(50, 'x') + std::string(50, 'y'));
  cell.Assign(cell.view().substr(25, 50));
  EXPECT_EQ(cell.view(), std::string(25, 'x') + std::string(25, 'y'));
  cell.Assign(cell.view().substr(20, 10));
  EXPECT_EQ(cell.view(), "xxxxxyyyyy");
  cell.Assign(cell.view().substr(3, 4));
  EXPECT_EQ(cell.view(), "xxyy");
}

TEST(StringCell, AViewRefersAndOwnsNothing) {
  std::string bytes(100, 'v');
  StringCell cell;
  cell.AssignView(bytes);
  EXPECT_TRUE(cell.is_view());
  EXPECT_EQ(cell.view().data(), bytes.data());
  EXPECT_EQ(cell.size(), 100u);
  EXPECT_EQ(Word(cell, 16), 0u) << "no owner";
  cell.Clear();
  EXPECT_FALSE(cell.is_view());
  EXPECT_EQ(cell.size(), 0u);
}

TEST(StringCell, AViewWithAnOwnerGivesUpItsShareOnce) {
  struct Owner {
    void (*ref)(Owner*);
    bool (*unref)(Owner*);
    void* object;
  };
  int drops = 0;
  Owner owner{nullptr, [](Owner* o) { return ++*static_cast<int*>(o->object) > 0; }, &drops};
  const char* text = "owned by another";
  {
    StringCell cell;
    cell.AssignView(text);
    Owner* p = &owner;
    Write(cell, &p, 16, 8);
    EXPECT_EQ(cell.view(), text);
  }
  EXPECT_EQ(drops, 1);
}

TEST(StringCell, AnOffsetCellReadsBytesBehindItself) {
  struct {
    StringCell cell;
    char bytes[8] = {'b', 'e', 'h', 'i', 'n', 'd', '!', 0};
  } mapped;
  uint32_t words[2] = {7 << 2 | 2, sizeof(StringCell)};
  Write(mapped.cell, words, 0, sizeof words);
  EXPECT_EQ(mapped.cell.view(), "behind!");
  EXPECT_EQ(mapped.cell.size(), 7u);
  mapped.cell.Assign("own");
  EXPECT_EQ(mapped.cell.view(), "own");
}

TEST(StringCell, CellsMoveByMemcpy) {
  StringCell a;
  a.Assign(std::string(64, 'm'));
  StringCell b;
  std::memcpy(static_cast<void*>(&b), &a, sizeof a);
  std::memset(static_cast<void*>(&a), 0, sizeof a);
  EXPECT_EQ(b.view(), std::string(64, 'm'));
  EXPECT_EQ(a.view(), "");
}

}  // namespace
}  // namespace tare
