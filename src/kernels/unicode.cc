// Text encodings: strings to code points, back, and from one encoding to another.
#include <algorithm>
#include <atomic>
#include <limits>

#include "kernels/registry.h"
#include "kernels/text.h"

namespace tare {
namespace {

enum class Encoding { kUtf8, kUtf16, kUtf16Be, kUtf16Le, kUtf32, kUtf32Be, kUtf32Le, kLatin1, kAscii, kWindows1252 };

struct EncodingName {
  std::string_view name;
  Encoding encoding;
};
// Lower case, letters and digits only.
constexpr EncodingName kEncodings[] = {
    {"utf8", Encoding::kUtf8},           {"utf16", Encoding::kUtf16},     {"utf16be", Encoding::kUtf16Be},
    {"utf16le", Encoding::kUtf16Le},     {"utf32", Encoding::kUtf32},     {"utf32be", Encoding::kUtf32Be},
    {"utf32le", Encoding::kUtf32Le},     {"latin1", Encoding::kLatin1},   {"iso88591", Encoding::kLatin1},
    {"l1", Encoding::kLatin1},           {"usascii", Encoding::kAscii},   {"ascii", Encoding::kAscii},
    {"windows1252", Encoding::kWindows1252}, {"cp1252", Encoding::kWindows1252},
};

Encoding ReadEncoding(AttrReader& a, std::string_view attr) {
  const std::string name = a.String(attr);
  std::string plain;
  for (char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) plain += static_cast<char>(c | 32);
  }
  auto* found = std::ranges::find(kEncodings, plain, &EncodingName::name);
  if (found != std::end(kEncodings)) return found->encoding;
  a.Fail(InvalidArgument("Could not create converter for input encoding: {}", name));
  return Encoding::kUtf8;
}

Encoding ReadOutputEncoding(AttrReader& a) {
  const std::string name = a.String("output_encoding");
  if (name == "UTF-8") return Encoding::kUtf8;
  if (name == "UTF-16-BE") return Encoding::kUtf16Be;
  if (name != "UTF-32-BE") {
    a.Fail(InvalidArgument("Value for attr 'output_encoding' of \"{}\" is not in the list of allowed values: "
                           "\"UTF-8\", \"UTF-16-BE\", \"UTF-32-BE\"", name));
  }
  return Encoding::kUtf32Be;
}

// Windows-1252's characters from 0x80 to 0x9f; the rest of it is Latin 1.
constexpr char16_t kWindows[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

bool IsScalar(char32_t c) { return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff); }

// Fixed-width units in either byte order. A unit that is cut off is invalid.
class Units {
 public:
  Units(std::string_view s, size_t width, bool little) : s_(s), width_(width), little_(little) {}
  bool done() const { return at_ >= s_.size(); }
  size_t at() const { return at_; }
  char32_t Next() {
    if (s_.size() - at_ < width_) {
      at_ = s_.size();
      return kInvalid;
    }
    char32_t v = 0;
    for (size_t i = 0; i < width_; ++i) {
      v = v << 8 | static_cast<unsigned char>(s_[at_ + (little_ ? width_ - 1 - i : i)]);
    }
    at_ += width_;
    return v;
  }
  void Back() { at_ -= width_; }

 private:
  std::string_view s_;
  size_t width_, at_ = 0;
  bool little_;
};

template <class F>
void DecodeUtf16(std::string_view s, bool little, size_t skipped, F emit) {
  for (Units units(s, 2, little); !units.done();) {
    const size_t start = units.at() ? units.at() + skipped : 0;
    char32_t c = units.Next();
    if (c >= 0xd800 && c <= 0xdfff) {
      const bool high = c < 0xdc00;
      const bool more = high && s.size() - units.at() >= 2 && !units.done();
      const char32_t low = more ? units.Next() : 0;
      if (low >= 0xdc00 && low <= 0xdfff) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      } else {
        if (more) units.Back();
        c = kInvalid;
      }
    }
    emit(c, start);
  }
}

template <class F>
void DecodeUtf32(std::string_view s, bool little, size_t skipped, F emit) {
  for (Units units(s, 4, little); !units.done();) {
    const size_t start = units.at() ? units.at() + skipped : 0;
    const char32_t c = units.Next();
    emit(IsScalar(c) ? c : kInvalid, start);
  }
}

// Calls emit(code point or kInvalid, its first byte) for each character; a byte order mark belongs to the first.
template <class F>
void Decode(Encoding encoding, std::string_view s, F emit) {
  using enum Encoding;
  auto starts = [&](std::string_view mark) { return s.starts_with(mark); };
  switch (encoding) {
    case kUtf8:
      for (const char *p = s.data(), *end = p + s.size(); p < end;) {
        const auto start = static_cast<size_t>(p - s.data());
        emit(NextUtf8(p, end), start);
      }
      return;
    case kUtf16Be:
    case kUtf16Le: return DecodeUtf16(s, encoding == kUtf16Le, 0, emit);
    case kUtf32Be:
    case kUtf32Le: return DecodeUtf32(s, encoding == kUtf32Le, 0, emit);
    case kUtf16: {
      const bool little = starts("\xff\xfe"), marked = little || starts("\xfe\xff");
      return DecodeUtf16(s.substr(marked ? 2 : 0), little, marked ? 2 : 0, emit);
    }
    case kUtf32: {
      const bool little = starts(std::string_view("\xff\xfe\0\0", 4));
      const bool marked = little || starts(std::string_view("\0\0\xfe\xff", 4));
      return DecodeUtf32(s.substr(marked ? 4 : 0), little, marked ? 4 : 0, emit);
    }
    case kLatin1:
    case kAscii:
    case kWindows1252:
      for (size_t i = 0; i < s.size(); ++i) {
        const auto c = static_cast<unsigned char>(s[i]);
        if (encoding == kWindows1252 && c >= 0x80 && c < 0xa0) emit(char32_t{kWindows[c - 0x80]}, i);
        else emit(encoding == kAscii && c >= 0x80 ? kInvalid : char32_t{c}, i);
      }
  }
}

void Encode(Encoding encoding, char32_t c, std::string* out) {
  auto unit = [&](char32_t v, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(v >> (8 * i)));
  };
  if (encoding == Encoding::kUtf8) return AppendUtf8(c, out);
  if (encoding == Encoding::kUtf32Be) return unit(c, 4);
  if (c < 0x10000) return unit(c, 2);
  unit(0xd800 + ((c - 0x10000) >> 10), 2);
  unit(0xdc00 + ((c - 0x10000) & 0x3ff), 2);
}

// What becomes of characters that are none.
struct ErrorPolicy {
  explicit ErrorPolicy(AttrReader& a) {
    const std::string errors = a.String("errors");
    strict = errors == "strict";
    ignore = errors == "ignore";
    if (!strict && !ignore && errors != "replace") {
      a.Fail(InvalidArgument("Value for attr 'errors' of \"{}\" is not in the list of allowed values: \"strict\", "
                             "\"replace\", \"ignore\"", errors));
    }
    const int64_t c = a.Int("replacement_char");
    if (c < 0 || c > 0x10ffff) a.Fail(InvalidArgument("replacement_char out of unicode codepoint range"));
    replacement = static_cast<char32_t>(c);
  }
  bool strict, ignore;
  char32_t replacement;
};

Status BadInput() { return InvalidArgument("Invalid formatting on input string"); }

template <bool kOffsets>
struct UnicodeDecode {
  explicit UnicodeDecode(AttrReader& a)
      : policy(a), encoding(ReadEncoding(a, "input_encoding")),
        replace_control(a.Bool("replace_control_characters")), splits_type(a.Type("Tsplits")) {}

  Status Run(KernelCall& c) const {
    std::vector<int32_t> values;
    std::vector<int64_t> starts, ends = {0};
    bool valid = true;
    for (const StringCell& s : c.input(0).as<StringCell>()) {
      Decode(encoding, s.view(), [&](char32_t v, size_t start) {
        valid &= v != kInvalid;
        if (v == kInvalid || (replace_control && v < 0x20)) {
          if (policy.ignore) return;
          v = policy.replacement;
        }
        values.push_back(static_cast<int32_t>(v));
        if (kOffsets) starts.push_back(static_cast<int64_t>(start));
      });
      if (policy.strict && !valid) return BadInput();
      ends.push_back(static_cast<int64_t>(values.size()));
    }
    const Shape count{static_cast<int64_t>(values.size())};
    TARE_ASSIGN_OR_RETURN(Tensor* splits, c.Output(0, splits_type, {static_cast<int64_t>(ends.size())}));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(1, DType::kInt32, count));
    std::ranges::copy(values, out->mutable_data<int32_t>());
    if (kOffsets) {
      TARE_ASSIGN_OR_RETURN(Tensor* offsets, c.Output(2, DType::kInt64, count));
      std::ranges::copy(starts, offsets->mutable_data<int64_t>());
    }
    return ForType(Indexes(), splits_type, [&]<class T>() -> Status {
      if (ends.back() > std::numeric_limits<T>::max()) return InvalidArgument("too many characters for their splits");
      std::ranges::transform(ends, splits->mutable_data<T>(), [](int64_t e) { return static_cast<T>(e); });
      return OkStatus();
    });
  }
  ErrorPolicy policy;
  Encoding encoding;
  bool replace_control;
  DType splits_type;
};

struct UnicodeEncode {
  explicit UnicodeEncode(AttrReader& a) : policy(a), encoding(ReadOutputEncoding(a)) {}

  Status Run(KernelCall& c) const {
    if (c.input(0).rank() != 1 || c.input(1).rank() != 1) {
      return InvalidArgument("Both the input_tensor and input_splits should be of rank 1. ");
    }
    return ForType(Indexes(), c.input(1).dtype(), [&]<class T>() { return Make<T>(c); });
  }

  template <class T>
  Status Make(KernelCall& c) const {
    std::span<const int32_t> values = c.input(0).as<int32_t>();
    std::span<const T> splits = c.input(1).as<T>();
    if (splits.empty()) {
      return InvalidArgument("Input_splits should contain elements, but given input_values has 0 elements");
    }
    if (splits[0] != 0) return InvalidArgument("First value in input_splits must be zero.");
    if (splits.back() != static_cast<int64_t>(values.size())) {
      return InvalidArgument("Last value in input_splits must be equal to length of input_tensor.");
    }
    if (!std::ranges::is_sorted(splits)) {
      return InvalidArgument("Values in input_splits must be equal or in ascending order.");
    }
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, {static_cast<int64_t>(splits.size()) - 1}));
    StringCell* to = out->mutable_data<StringCell>();
    std::string text;
    for (size_t row = 1; row < splits.size(); ++row) {
      text.clear();
      for (T i = splits[row - 1]; i < splits[row]; ++i) {
        auto v = static_cast<char32_t>(values[static_cast<size_t>(i)]);
        if (!IsScalar(v)) {
          if (policy.strict) {
            return InvalidArgument("Code point is out of range for Unicode, or is a surrogate.");
          }
          if (policy.ignore) continue;
          v = policy.replacement;
        }
        Encode(encoding, v, &text);
      }
      (to++)->Assign(text);
    }
    return OkStatus();
  }
  ErrorPolicy policy;
  Encoding encoding;
};

struct UnicodeTranscode {
  explicit UnicodeTranscode(AttrReader& a)
      : policy(a), from(ReadEncoding(a, "input_encoding")), to(ReadOutputEncoding(a)),
        replace_control(a.Bool("replace_control_characters")) {}

  Status Run(KernelCall& c) const {
    std::atomic<bool> valid = true;
    TARE_RETURN_IF_ERROR(MapStrings(c, 500, [&](std::string_view s, std::string& text) -> std::string_view {
      text.clear();
      Decode(from, s, [&](char32_t v, size_t) {
        if (v == kInvalid || (replace_control && v < 0x20)) {
          if (policy.strict) valid = false;
          if (policy.ignore) return;
          v = policy.replacement;
        }
        Encode(to, v, &text);
      });
      return text;
    }));
    return valid ? OkStatus() : BadInput();
  }
  ErrorPolicy policy;
  Encoding from, to;
  bool replace_control;
};

constexpr KernelRow kRows[] = {
    Op<UnicodeDecode<false>>("UnicodeDecode"),
    Op<UnicodeDecode<true>>("UnicodeDecodeWithOffsets"),
    Op<UnicodeEncode>("UnicodeEncode"),
    Op<UnicodeTranscode>("UnicodeTranscode"),
};

}  // namespace
extern constinit const KernelFamily kUnicodeKernels = kRows;
}  // namespace tare
