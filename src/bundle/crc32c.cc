#include "bundle/crc32c.h"

#include <array>
#include <cstring>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace tare {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // bit-reflected: the highest bit is x^0

// a * b modulo the polynomial.
constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int i = 0; i < 32; ++i) {
    product ^= b & -(a >> 31);
    a <<= 1;
    b = (b >> 1) ^ (kPolynomial & -(b & 1));
  }
  return product;
}

// x^(8 * bytes): multiplying a checksum register by it appends that many zero bytes.
constexpr uint32_t ShiftBy(uint64_t bytes) {
  uint32_t power = 0x00800000, shift = 0x80000000;  // x^8 and 1
  for (; bytes; bytes >>= 1) {
    if (bytes & 1) shift = Multiply(shift, power);
    power = Multiply(power, power);
  }
  return shift;
}

constexpr auto kTable = [] {
  std::array<std::array<uint32_t, 256>, 4> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (kPolynomial & -(c & 1));
    t[0][i] = c;
  }
  for (size_t k = 1; k < 4; ++k) {
    for (size_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 255];
  }
  return t;
}();

#ifdef __SSE4_2__
uint64_t Load(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

// Three streams at once hide the instruction's latency; their registers are joined at the end of a block.
template <size_t kBlock>
const char* ThreeStreams(const char* p, const char* end, uint32_t& crc) {
  static constexpr uint32_t kShift = ShiftBy(kBlock);
  for (; static_cast<size_t>(end - p) >= 3 * kBlock; p += 3 * kBlock) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < kBlock; i += 8) {
      a = _mm_crc32_u64(a, Load(p + i));
      b = _mm_crc32_u64(b, Load(p + i + kBlock));
      c = _mm_crc32_u64(c, Load(p + i + 2 * kBlock));
    }
    uint32_t ab = Multiply(static_cast<uint32_t>(a), kShift) ^ static_cast<uint32_t>(b);
    crc = Multiply(ab, kShift) ^ static_cast<uint32_t>(c);
  }
  return p;
}
#endif

}  // namespace

uint32_t internal::PortableCrc32c(std::string_view bytes, uint32_t crc) {
  crc = ~crc;
  const char* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 4; n -= 4, p += 4) {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= uint32_t{static_cast<uint8_t>(p[i])} << 8 * i;
    crc ^= word;
    crc = kTable[3][crc & 255] ^ kTable[2][crc >> 8 & 255] ^ kTable[1][crc >> 16 & 255] ^ kTable[0][crc >> 24];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ kTable[0][(crc ^ static_cast<uint8_t>(*p)) & 255];
  return ~crc;
}

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
#ifdef __SSE4_2__
  crc = ~crc;
  const char *p = bytes.data(), *end = p + bytes.size();
  p = ThreeStreams<16384>(p, end, crc);
  p = ThreeStreams<1024>(p, end, crc);
  for (; end - p >= 8; p += 8) crc = static_cast<uint32_t>(_mm_crc32_u64(crc, Load(p)));
  for (; p < end; ++p) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*p));
  return ~crc;
#else
  return internal::PortableCrc32c(bytes, crc);
#endif
}

uint32_t ConcatCrc32c(uint32_t a, uint32_t b, uint64_t b_bytes) { return Multiply(a, ShiftBy(b_bytes)) ^ b; }

}  // namespace tare
