#include "tensorflow/c/tf_buffer.h"

#include "capi/buffer.h"

namespace tare::capi {
namespace {

void FreeBytes(void* data, size_t) { std::free(data); }

}  // namespace

Status Fill(TF_Buffer* buffer, std::string_view bytes) {
  if (buffer->data) return InvalidArgument("Passing non-empty TF_Buffer is invalid.");
  void* copy = std::malloc(bytes.size() ? bytes.size() : 1);
  if (!copy) throw std::bad_alloc();
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  *buffer = {copy, bytes.size(), FreeBytes};
  return OkStatus();
}

}  // namespace tare::capi

using namespace tare::capi;

TF_Buffer* TF_NewBuffer() { return TryNew<TF_Buffer>(); }

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len) {
  TF_Buffer* buffer = TF_NewBuffer();
  if (!buffer) return nullptr;
  if (Try(nullptr, [&] { return Fill(buffer, {static_cast<const char*>(proto), proto_len}); })) return buffer;
  TF_DeleteBuffer(buffer);
  return nullptr;
}

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (!buffer) return;
  if (buffer->data_deallocator) buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
  delete buffer;
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) { return buffer ? *buffer : TF_Buffer{}; }
