#include "tensor/buffer.h"

#include <atomic>
#include <cstring>

#include "tensor/object.h"
#include "tensor/string_cell.h"

namespace tare {

Result<Ref<Buffer>> Buffer::Allocate(Ref<Account> account, DType dtype, size_t count, Kind kind) {
  size_t bytes;
  if (__builtin_mul_overflow(count, DTypeSize(dtype), &bytes)) {
    return ResourceExhausted("{} elements of {} do not fit memory", count, DTypeName(dtype));
  }
  auto b = Ref<Buffer>::Adopt(new Buffer);
  size_t capacity;
  TARE_ASSIGN_OR_RETURN(b->data_, account->Allocate(bytes, &capacity));
  b->capacity_ = capacity;
  b->bytes_ = bytes;
  b->dtype_ = dtype;
  b->kind_ = kind;
  account->Charge(kind, b->capacity_);
  b->account_ = std::move(account);
  if (!IsPlain(dtype)) std::memset(b->data_, 0, bytes);
  return b;
}

Ref<Buffer> Buffer::Within(Ref<RefCounted> keeper, const void* data, size_t bytes) {
  auto b = Ref<Buffer>::Adopt(new Buffer);
  b->data_ = const_cast<void*>(data);
  b->bytes_ = bytes;
  b->keeper_ = std::move(keeper);
  return b;
}

Ref<Buffer> Buffer::Foreign(void* data, size_t bytes, ReleaseFn release, void* arg) {
  auto b = Ref<Buffer>::Adopt(new Buffer);
  b->data_ = data;
  b->bytes_ = bytes;
  b->release_ = release;
  b->release_arg_ = arg;
  return b;
}

void Buffer::HandOver() {
  if (!account_) return;
  // Several runs may hand over a tensor they share, at once.
  Kind before = std::atomic_ref(kind_).exchange(Kind::kCaller);
  if (before != Kind::kCaller) account_->Move(before, Kind::kCaller, capacity_);
}

Buffer::~Buffer() {
  if (release_) release_(data_, bytes_, release_arg_);
  if (!account_ || !data_) return;
  if (dtype_ == DType::kString) {
    auto* cells = static_cast<StringCell*>(data_);
    for (size_t i = 0; i < bytes_ / sizeof(StringCell); ++i) cells[i].Clear();
  } else if (!IsPlain(dtype_)) {
    auto* objects = static_cast<Ref<Object>*>(data_);
    for (size_t i = 0; i < bytes_ / sizeof(Ref<Object>); ++i) objects[i] = nullptr;
  }
  account_->Discharge(kind(), capacity_);
  account_->Free(data_, capacity_);
}

}  // namespace tare
