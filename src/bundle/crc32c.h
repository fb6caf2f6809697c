// CRC-32C (Castagnoli), as checkpoints use it, by the processor's instruction where it has one.
#pragma once
#include <cstdint>
#include <string_view>

namespace tare {

// The checksum of `bytes` appended to bytes whose checksum is `crc`.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);
// The checksum of A followed by B from those of A and B: pieces can be computed apart.
uint32_t ConcatCrc32c(uint32_t a, uint32_t b, uint64_t b_bytes);

// Stored checksums are masked, so that a checksum over bytes that hold checksums stays a good one.
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
constexpr uint32_t UnmaskCrc(uint32_t masked) {
  uint32_t rotated = masked - 0xa282ead8u;
  return (rotated << 15) | (rotated >> 17);
}

namespace internal {
// By tables, for any processor.
uint32_t PortableCrc32c(std::string_view bytes, uint32_t crc);
}  // namespace internal

}  // namespace tare
