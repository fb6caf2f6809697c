// 128-bit fingerprints: the identity of an op with its attributes, as the kernel cache keys it.
#pragma once
#include <compare>
#include <cstdint>
#include <string_view>

#include "op/attr.h"

namespace tare {

struct Fingerprint {
  uint64_t low = 0, high = 0;
  auto operator<=>(const Fingerprint&) const = default;
};

// FarmHash's 128-bit fingerprint of the bytes.
Fingerprint FingerprintOf(std::string_view bytes);
// Depends on the order of a and b.
Fingerprint Combine(Fingerprint a, Fingerprint b);
// Of op, device and every attribute, whatever the order they were set in. Tensors count by content,
// functions by name.
Fingerprint FingerprintOf(std::string_view op, std::string_view device, Attrs attrs);

}  // namespace tare
