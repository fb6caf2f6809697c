// Buffers as functions fill and read them.
#pragma once
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "capi/common.h"

namespace tare::capi {

// Copies the bytes into an empty buffer. InvalidArgument for one that has data. Throws std::bad_alloc.
Status Fill(TF_Buffer* buffer, std::string_view bytes);
// What a buffer holds; null is empty.
inline std::string_view View(const TF_Buffer* buffer) {
  if (!buffer || !buffer->data) return {};
  return {static_cast<const char*>(buffer->data), buffer->length};
}

}  // namespace tare::capi
