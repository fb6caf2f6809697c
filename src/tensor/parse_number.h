// Numbers from text, as TensorFlow reads them: surrounding whitespace and a sign are allowed, integers are
// decimal and must fit, floats may be hexadecimal, inf or nan and round to zero or infinity.
#pragma once
#include <cstdint>
#include <string_view>

namespace tare {

// False, with `*out` unspecified, when `text` is not a whole number of that type.
bool ParseNumber(std::string_view text, float* out);
bool ParseNumber(std::string_view text, double* out);
bool ParseNumber(std::string_view text, int32_t* out);
bool ParseNumber(std::string_view text, int64_t* out);
bool ParseNumber(std::string_view text, uint32_t* out);
bool ParseNumber(std::string_view text, uint64_t* out);

// `text` without ASCII whitespace at its ends.
std::string_view StripSpace(std::string_view text);
inline bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace tare
