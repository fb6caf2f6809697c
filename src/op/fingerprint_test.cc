#include "op/fingerprint.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tare {
namespace {

Fingerprint Of(Attrs attrs) { return FingerprintOf("Op", "CPU:0", attrs); }

TEST(Fingerprint, DoesNotDependOnTheOrderOfAttributes) {
  const Attr a{"T", AttrValue::Type(DType::kFloat)}, b{"N", AttrValue::Int(3)}, c{"s", AttrValue::String("x")};
  EXPECT_EQ(Of(std::vector{a, b, c}), Of(std::vector{c, a, b}));
  EXPECT_NE(Of(std::vector{a, b, c}), Of(std::vector{a, b}));
}

TEST(Fingerprint, TellsOpDeviceNameKindAndValueApart) {
  const int64_t dims23[] = {2, 3}, dims32[] = {3, 2}, dim6[] = {6};
  const AttrValue one = AttrValue::Int(1), two = AttrValue::Int(2);
  const std::vector<AttrValue> l1{one}, l12{one, two}, l21{two, one};
  const FunctionRef f{"f", {}}, g{"g", {}};
  const Attr inner[] = {{"T", AttrValue::Int(1)}};
  const FunctionRef f_of{"f", inner};
  const std::vector<AttrValue> values = {
      AttrValue(), AttrValue::Int(0), one, two, AttrValue::Int(-1), AttrValue::Bool(false), AttrValue::Bool(true),
      AttrValue::Type(DType::kFloat), AttrValue::Type(DType::kInt32), AttrValue::Float(0), AttrValue::Float(-0.0f),
      AttrValue::Float(1), AttrValue::String(""), AttrValue::String("a"), AttrValue::String("aa"),
      AttrValue::String("1"), AttrValue::Placeholder("a"), AttrValue::OfShape({}), AttrValue::OfShape({false, {}}),
      AttrValue::OfShape({false, dims23}), AttrValue::OfShape({false, dims32}), AttrValue::OfShape({false, dim6}),
      AttrValue::OfFunction(&f), AttrValue::OfFunction(&g), AttrValue::OfFunction(&f_of),
      AttrValue::List(AttrKind::kInt, {}), AttrValue::List(AttrKind::kInt, l1), AttrValue::List(AttrKind::kInt, l12),
      AttrValue::List(AttrKind::kInt, l21), AttrValue::List(AttrKind::kBool, {})};
  std::set<Fingerprint> seen;
  size_t made = 0;
  for (std::string_view name : {"T", "N"}) {
    for (const AttrValue& v : values) {
      Attr a{name, v};
      for (std::string_view op : {"Op", "Po"}) {
        for (std::string_view device : {"CPU:0", "CPU:1"}) {
          seen.insert(FingerprintOf(op, device, {&a, 1}));
          ++made;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), made);
}

TEST(Fingerprint, CountsTensorsByContent) {
  auto account = MakeRef<Account>("test");
  auto tensor = [&](Shape shape, int32_t value) {
    Tensor t = *Tensor::Make(account, DType::kInt32, shape);
    std::ranges::fill(t.mut<int32_t>(), value);
    return t;
  };
  const Tensor a = tensor({2, 3}, 7), same = tensor({2, 3}, 7), reshaped = tensor({3, 2}, 7), other = tensor({2, 3}, 8);
  auto of = [](const Tensor& t) { return FingerprintOf(AttrValue::OfTensor(&t)); };
  EXPECT_EQ(of(a), of(same));
  EXPECT_NE(of(a), of(reshaped));
  EXPECT_NE(of(a), of(other));
}

// Each bit of the input should change about half of each lane's bits.
TEST(Fingerprint, SpreadsEveryBitOverBothLanes) {
  for (int size : {1, 3, 4, 7, 8, 13, 16, 17, 40}) {
    const std::string base(size, 'k');
    const Fingerprint f = FingerprintOf(base);
    for (int bit = 0; bit < 8 * size; ++bit) {
      std::string flipped = base;
      flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
      const Fingerprint g = FingerprintOf(flipped);
      for (uint64_t difference : {f.low ^ g.low, f.high ^ g.high}) {
        EXPECT_GT(std::popcount(difference), 10) << size << " " << bit;
        EXPECT_LT(std::popcount(difference), 54) << size << " " << bit;
      }
    }
  }
}

TEST(Fingerprint, HasNoCollisionAmongManySmallValues) {
  std::set<uint64_t> low, high;
  for (int64_t i = -50'000; i < 50'000; ++i) {
    Attr a{"N", AttrValue::Int(i)};
    Fingerprint f = Of({&a, 1});
    low.insert(f.low);
    high.insert(f.high);
  }
  EXPECT_EQ(low.size(), 100'000u);
  EXPECT_EQ(high.size(), 100'000u);
}

}  // namespace
}  // namespace tare
