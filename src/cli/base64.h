// Base64 (RFC 4648, with padding).
#pragma once
#include <string>
#include <string_view>

#include "status/status.h"

namespace tare {

std::string EncodeBase64(std::string_view bytes);
// InvalidArgument for anything but well-formed base64.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace tare
