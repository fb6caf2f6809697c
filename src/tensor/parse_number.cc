#include "tensor/parse_number.h"

#include <charconv>
#include <limits>

namespace tare {
namespace {

template <class T>
bool ParseInteger(std::string_view s, T* out) {
  s = StripSpace(s);
  if (s.starts_with('+')) {
    s.remove_prefix(1);
    if (s.starts_with('-')) return false;  // which from_chars would take
  }
  auto r = std::from_chars(s.data(), s.data() + s.size(), *out);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

// Whether a number too large or too small for a double, its sign and 0x gone, is too large.
bool IsHuge(std::string_view digits, bool hex) {
  int64_t magnitude = 0, exponent = 0;
  bool point = false, significant = false;
  size_t i = 0;
  for (; i < digits.size(); ++i) {
    const char c = digits[i];
    if (c == '.') {
      point = true;
    } else if (c == (hex ? 'p' : 'e') || c == (hex ? 'P' : 'E')) {
      break;
    } else {
      significant |= c != '0';
      magnitude += point ? -!significant : significant;
    }
  }
  if (i < digits.size()) {
    const bool minus = digits[++i] == '-';
    for (i += minus || digits[i] == '+'; i < digits.size(); ++i) {
      if (exponent < int64_t{1} << 40) exponent = exponent * 10 + (digits[i] - '0');
    }
    if (minus) exponent = -exponent;
  }
  return magnitude * (hex ? 4 : 1) + exponent > 0;
}

template <class T>
bool ParseFloat(std::string_view s, T* out) {
  s = StripSpace(s);
  const bool minus = s.starts_with('-');
  if (minus || s.starts_with('+')) s.remove_prefix(1);
  if (s.empty() || s[0] == '-' || s[0] == '+') return false;
  const bool hex = s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
  if (hex) s.remove_prefix(2);
  if (hex && s[0] == '-') return false;
  const char* end = s.data() + s.size();
  T value = 0;
  auto r = std::from_chars(s.data(), end, value, hex ? std::chars_format::hex : std::chars_format::general);
  if (r.ptr != end || r.ec == std::errc::invalid_argument) return false;
  if (r.ec == std::errc::result_out_of_range) {
    value = IsHuge(s, hex) ? std::numeric_limits<T>::infinity() : T{0};
  }
  *out = minus ? -value : value;
  return true;
}

}  // namespace

std::string_view StripSpace(std::string_view s) {
  while (!s.empty() && IsSpace(s.front())) s.remove_prefix(1);
  while (!s.empty() && IsSpace(s.back())) s.remove_suffix(1);
  return s;
}

bool ParseNumber(std::string_view text, float* out) { return ParseFloat(text, out); }
bool ParseNumber(std::string_view text, double* out) { return ParseFloat(text, out); }
bool ParseNumber(std::string_view text, int32_t* out) { return ParseInteger(text, out); }
bool ParseNumber(std::string_view text, int64_t* out) { return ParseInteger(text, out); }
bool ParseNumber(std::string_view text, uint32_t* out) { return ParseInteger(text, out); }
bool ParseNumber(std::string_view text, uint64_t* out) { return ParseInteger(text, out); }

}  // namespace tare
