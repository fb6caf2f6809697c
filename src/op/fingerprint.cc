#include "op/fingerprint.h"

#include <farmhash.h>

namespace tare {
namespace {

template <class T>
std::string_view BytesOf(const T& v) {
  return {reinterpret_cast<const char*>(&v), sizeof v};
}

Fingerprint OfValue(const AttrValue& v) {
  const uint64_t kind = static_cast<uint64_t>(v.kind) * 2 + v.is_list;
  Fingerprint f{kind, ~kind};
  if (v.is_list) {
    for (const AttrValue& e : v.list) f = Combine(f, OfValue(e));
    return f;
  }
  switch (v.kind) {
    case AttrKind::kString:
    case AttrKind::kPlaceholder: return Combine(f, FingerprintOf(v.s));
    case AttrKind::kFloat: return Combine(f, FingerprintOf(BytesOf(v.f)));
    case AttrKind::kShape:
      if (v.shape.unknown_rank) return f;
      return Combine(f, FingerprintOf({reinterpret_cast<const char*>(v.shape.dims.data()),
                                       v.shape.dims.size_bytes()}));
    case AttrKind::kTensor: {
      const Tensor& t = *v.tensor;
      f = Combine(f, FingerprintOf(DTypeName(t.dtype())));
      for (int64_t d : t.shape().dims()) f = Combine(f, {static_cast<uint64_t>(d), 1});
      if (t.dtype() == DType::kString) {
        for (const StringCell& c : t.as<StringCell>()) f = Combine(f, FingerprintOf(c.view()));
        return f;
      }
      return Combine(f, FingerprintOf({static_cast<const char*>(t.raw()), t.bytes()}));
    }
    case AttrKind::kFunction: {
      f = Combine(f, FingerprintOf(v.function->name));
      for (const Attr& a : v.function->attrs) {
        f = Combine(f, Combine(FingerprintOf(a.name), OfValue(a.value)));
      }
      return f;
    }
    default: return Combine(f, FingerprintOf(BytesOf(v.i)));
  }
}

}  // namespace

Fingerprint FingerprintOf(std::string_view bytes) {
  auto h = NAMESPACE_FOR_HASH_FUNCTIONS::Fingerprint128(bytes.data(), bytes.size());
  return {NAMESPACE_FOR_HASH_FUNCTIONS::Uint128Low64(h), NAMESPACE_FOR_HASH_FUNCTIONS::Uint128High64(h)};
}

Fingerprint Combine(Fingerprint a, Fingerprint b) {
  const uint64_t words[] = {a.low, a.high, b.low, b.high};
  return FingerprintOf(BytesOf(words));
}

Fingerprint FingerprintOf(std::string_view op, std::string_view device, Attrs attrs) {
  Fingerprint sum;
  for (const Attr& a : attrs) {
    Fingerprint f = Combine(FingerprintOf(a.name), OfValue(a.value));
    sum.low += f.low;
    sum.high += f.high;
  }
  return Combine(Combine(FingerprintOf(op), FingerprintOf(device)), sum);
}

}  // namespace tare
