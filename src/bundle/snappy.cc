#include "bundle/snappy.h"

#include <algorithm>

#include "bundle/byte_reader.h"

namespace tare {
namespace {

// The densest element is a copy of 64 bytes in 3.
constexpr size_t kMaxGrowth = 22;

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

// One element: `length` bytes that follow as they are, or that were written `offset` bytes ago.
struct Element {
  bool literal;
  uint64_t length;
  uint64_t offset;
};

Element ReadElement(ByteReader& in) {
  const uint64_t tag = LittleEndian(in.Bytes(1)), upper = tag >> 2;
  switch (tag & 3) {
    case 0: return {true, 1 + (upper < 60 ? upper : LittleEndian(in.Bytes(upper - 59))), 0};
    case 1: return {false, 4 + (upper & 7), (tag >> 5) << 8 | LittleEndian(in.Bytes(1))};
    case 2: return {false, 1 + upper, LittleEndian(in.Bytes(2))};
    default: return {false, 1 + upper, LittleEndian(in.Bytes(4))};
  }
}

}  // namespace

Result<std::string_view> Unsnappy(std::string_view block, Region& region) {
  ByteReader in(block);
  const uint32_t size = in.Varint32();
  if (!in.ok() || size > block.size() * kMaxGrowth) return DataLoss("bad length of a snappy block");
  auto out = region.AllocateArray<char>(size);
  size_t at = 0;
  while (!in.done()) {
    const Element e = ReadElement(in);
    if (!in.ok() || e.length > size - at) return DataLoss("bad element in a snappy block");
    if (e.literal) {
      std::string_view bytes = in.Bytes(e.length);
      if (!in.ok()) return DataLoss("a snappy block ends within a literal");
      std::ranges::copy(bytes, out.begin() + at);
    } else {
      if (e.offset == 0 || e.offset > at) return DataLoss("bad offset in a snappy block");
      // Source and target may overlap: that is how runs are written.
      for (size_t i = at; i < at + e.length; ++i) out[i] = out[i - e.offset];
    }
    at += e.length;
  }
  if (at != size) return DataLoss("a snappy block of {} bytes ends after {}", size, at);
  return std::string_view(out.data(), out.size());
}

}  // namespace tare
