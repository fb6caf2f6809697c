// What the string kernels share: mapping over string tensors, and UTF-8.
#pragma once
#include <string>
#include <string_view>

#include "kernels/kernel.h"

namespace tare {

// Output 0 is fn(string, scratch) of every string of input 0, in place where it may be. `fn` returns a view of
// its argument or of the scratch, a std::string it may use freely. `cost`: nanoseconds a string.
template <class F>
Status MapStrings(KernelCall& c, int64_t cost, F fn) {
  const Tensor& in = c.input(0);
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.OutputOver(0, {0}, DType::kString, in.shape()));
  const StringCell* from = in.data<StringCell>();
  StringCell* to = out->mutable_data<StringCell>();
  c.threads().ParallelFor(in.num_elements(), cost, [&](int64_t begin, int64_t end) {
    std::string scratch;
    for (int64_t i = begin; i < end; ++i) {
      const std::string_view was = from[i].view(), is = fn(was, scratch);
      if (to != from || is.data() != was.data() || is.size() != was.size()) to[i].Assign(is);
    }
  });
  return OkStatus();
}

// --- UTF-8 ---

constexpr char32_t kReplacement = 0xfffd;
constexpr char32_t kInvalid = ~char32_t{0};

inline bool IsTrailByte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The code point at `p`, which moves past it; kInvalid for bytes that are none, of which the longest prefix of
// a character counts as one. REQUIRES: p < end.
inline char32_t NextUtf8(const char*& p, const char* end) {
  const auto lead = static_cast<unsigned char>(*p++);
  if (lead < 0x80) return lead;
  if (lead < 0xc2 || lead > 0xf4) return kInvalid;
  const int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  char32_t c = lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if (p == end || !IsTrailByte(*p)) return kInvalid;
    const auto b = static_cast<unsigned char>(*p);
    // Overlong forms, surrogates and what lies beyond Unicode show in the second byte.
    if (i == 0 && ((lead == 0xe0 && b < 0xa0) || (lead == 0xed && b > 0x9f) || (lead == 0xf0 && b < 0x90) ||
                   (lead == 0xf4 && b > 0x8f))) {
      return kInvalid;
    }
    c = c << 6 | (b & 0x3f);
    ++p;
  }
  return c;
}

// REQUIRES: a Unicode scalar value.
inline void AppendUtf8(char32_t c, std::string* out) {
  auto put = [&](char32_t b) { out->push_back(static_cast<char>(b)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xe0 | c >> 12);
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3f));
    }
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

// Full case mapping in UTF-8 (special casing and final sigma included), no language's own rules; invalid bytes
// become U+FFFD.
void ToLowerUtf8(std::string_view s, std::string* out);
void ToUpperUtf8(std::string_view s, std::string* out);

}  // namespace tare
