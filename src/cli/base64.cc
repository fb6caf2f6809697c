#include "cli/base64.h"

#include <array>
#include <cstdint>

namespace tare {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> kValues = [] {
  std::array<int8_t, 256> v;
  v.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    v[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return v;
}();

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

Result<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0)
    return InvalidArgument("base64 text of {} characters is not whole", text.size());
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    int value = i >= text.size() - padding ? 0 : kValues[static_cast<uint8_t>(text[i])];
    if (value < 0) return InvalidArgument("not base64 at character {}", i);
    group = group << 6 | static_cast<uint32_t>(value);
    if (i % 4 == 3) {
      for (int shift = 16; shift >= 0; shift -= 8) out += static_cast<char>(group >> shift & 255);
      group = 0;
    }
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace tare
