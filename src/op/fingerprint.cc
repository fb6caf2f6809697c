#include "op/fingerprint.h"

#include <farmhash.h>

#include <cstring>

namespace tare {
namespace {

// Odd constants with as many ones as zeros.
constexpr uint64_t kSalt[] = {0xa0761d6478bd642full, 0xe7037ed1a0b428dbull, 0x8ebc6af09c88c6e3ull,
                              0x589965cc75374cc3ull, 0x1d8e4e27c47d124full, 0xeb44accab455d165ull};

uint64_t Fold(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Four words to two. The second fold of a lane sees the first's result, so that order counts.
Fingerprint Mix(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return {Fold(Fold(a ^ kSalt[0], b ^ kSalt[1]) ^ c, d ^ kSalt[2]),
          Fold(Fold(c ^ kSalt[3], a ^ kSalt[4]) ^ d, b ^ kSalt[5])};
}

uint64_t Load(const char* p, size_t n) {
  uint64_t word = 0;
  std::memcpy(&word, p, n);
  return word;
}

// What a value that is neither list nor string holds, in one word.
Fingerprint OfWord(uint64_t kind, uint64_t word) { return Mix(kind, word, kind + 1, ~word); }

Fingerprint OfTensor(Fingerprint f, const Tensor& t) {
  f = Combine(f, OfWord(static_cast<uint64_t>(t.dtype()), static_cast<uint64_t>(t.rank())));
  for (int64_t d : t.shape().dims()) f = Combine(f, OfWord(1, static_cast<uint64_t>(d)));
  if (t.dtype() == DType::kString) {
    for (const StringCell& c : t.as<StringCell>()) f = Combine(f, FingerprintOf(c.view()));
    return f;
  }
  // A resource or variant is the object it refers to.
  return Combine(f, FingerprintOf({static_cast<const char*>(t.raw()), t.bytes()}));
}

}  // namespace

Fingerprint FingerprintOf(std::string_view bytes) {
  const size_t n = bytes.size();
  const char* p = bytes.data();
  if (n > 16) {
    auto h = NAMESPACE_FOR_HASH_FUNCTIONS::Fingerprint128(p, n);
    return {NAMESPACE_FOR_HASH_FUNCTIONS::Uint128Low64(h), NAMESPACE_FOR_HASH_FUNCTIONS::Uint128High64(h)};
  }
  if (n >= 8) return Mix(Load(p, 8), Load(p + n - 8, 8), n, 8);
  // Both halves overlap where there are fewer bytes than words hold.
  if (n >= 4) return Mix(Load(p, 4), Load(p + n - 4, 4), n, 4);
  return n == 0 ? Mix(0, 0, 0, 0) : Mix(Load(p, 1), Load(p + n / 2, 1) << 8 | Load(p + n - 1, 1), n, 1);
}

Fingerprint Combine(Fingerprint a, Fingerprint b) { return Mix(a.low, b.low, a.high, b.high); }

Fingerprint FingerprintOf(const AttrValue& v) {
  const uint64_t kind = static_cast<uint64_t>(v.kind) * 2 + v.is_list;
  if (v.is_list) {
    Fingerprint f = OfWord(kind, v.list.size());
    for (const AttrValue& e : v.list) f = Combine(f, FingerprintOf(e));
    return f;
  }
  switch (v.kind) {
    case AttrKind::kString:
    case AttrKind::kPlaceholder: return Combine(OfWord(kind, 0), FingerprintOf(v.s));
    case AttrKind::kFloat: return OfWord(kind, std::bit_cast<uint32_t>(v.f));
    case AttrKind::kShape: {
      Fingerprint f = OfWord(kind, v.shape.unknown_rank ? UINT64_MAX : v.shape.dims.size());
      if (v.shape.unknown_rank) return f;
      for (int64_t d : v.shape.dims) f = Combine(f, OfWord(kind, static_cast<uint64_t>(d)));
      return f;
    }
    case AttrKind::kTensor: return OfTensor(OfWord(kind, 0), *v.tensor);
    case AttrKind::kFunction: return WithAttrs(Combine(OfWord(kind, 0), FingerprintOf(v.function->name)), v.function->attrs);
    default: return OfWord(kind, static_cast<uint64_t>(v.i));
  }
}

Fingerprint WithAttrs(Fingerprint base, Attrs attrs) {
  // A sum does not depend on the order.
  Fingerprint sum;
  for (const Attr& a : attrs) {
    Fingerprint f = Combine(FingerprintOf(a.name), FingerprintOf(a.value));
    sum.low += f.low;
    sum.high += f.high;
  }
  return Combine(base, sum);
}

Fingerprint FingerprintOf(std::string_view op, std::string_view device, Attrs attrs) {
  return WithAttrs(Combine(FingerprintOf(op), FingerprintOf(device)), attrs);
}

}  // namespace tare
