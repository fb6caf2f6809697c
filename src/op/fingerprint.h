// 128-bit fingerprints: the identity of an op with its attributes, as the kernel cache keys it.
//
// Two lanes of multiply-and-fold mixing, a few nanoseconds an attribute; long byte strings go through
// FarmHash. Values hold within a process: nothing stores them. Not against an adversary.
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

Fingerprint FingerprintOf(std::string_view bytes);
// Of an attribute's value. Tensors count by content, functions by name and attributes.
Fingerprint FingerprintOf(const AttrValue& value);
// Depends on the order of a and b.
Fingerprint Combine(Fingerprint a, Fingerprint b);
// `base` (of what the attributes belong to) with every attribute, whatever the order they were set in.
Fingerprint WithAttrs(Fingerprint base, Attrs attrs);
// Of op, device and attributes.
Fingerprint FingerprintOf(std::string_view op, std::string_view device, Attrs attrs);

}  // namespace tare
