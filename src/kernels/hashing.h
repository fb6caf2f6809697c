// The hashes that ops name: values must equal TensorFlow's bit for bit.
#pragma once
#include <farmhash.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tare {

inline uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

inline uint64_t Farm64(std::string_view s) { return util::Fingerprint64(s.data(), s.size()); }

// A fingerprint of two, in that order.
inline uint64_t JoinFingerprints(uint64_t a, uint64_t b) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  auto mixed = [](uint64_t v) { return v ^ v >> 47; };
  const uint64_t joined = (a ^ kMul ^ mixed(b * kMul) * kMul) * kMul;
  return mixed(mixed(joined) * kMul);
}

// SipHash-2-4.
inline uint64_t SipHash(uint64_t k0, uint64_t k1, std::string_view s) {
  uint64_t v0 = k0 ^ 0x736f6d6570736575, v1 = k1 ^ 0x646f72616e646f6d;
  uint64_t v2 = k0 ^ 0x6c7967656e657261, v3 = k1 ^ 0x7465646279746573;
  auto rounds = [&](int n) {
    for (; n > 0; --n) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  };
  auto add = [&](uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  uint64_t last = uint64_t{s.size()} << 56;
  for (; s.size() >= 8; s.remove_prefix(8)) add(Load64(s.data()));
  for (size_t i = 0; i < s.size(); ++i) last |= uint64_t{static_cast<uint8_t>(s[i])} << (8 * i);
  add(last);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace tare
