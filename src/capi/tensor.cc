#include "capi/tensor.h"

#include <algorithm>
#include <memory>

namespace tare::capi {
namespace {

constexpr size_t kAlignment = 64;

bool Aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % kAlignment == 0; }

// Memory of TF_AllocateTensor, and of copies: strings in it are the tensor's.
void FreePlain(void* data, size_t, void*) { std::free(data); }
void FreeStrings(void* data, size_t bytes, void*) {
  auto* strings = static_cast<TF_TString*>(data);
  for (size_t i = 0; i < bytes / sizeof(TF_TString); ++i) TF_TString_Dealloc(&strings[i]);
  std::free(data);
}

void* Allocate(size_t bytes) {
  if (bytes > SIZE_MAX - kAlignment) return nullptr;
  const size_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return std::aligned_alloc(kAlignment, rounded);
}

// The shape, where type and dimensions can be a TF_Tensor's and `bytes` hold it.
Result<Shape> CheckShape(DType dtype, const int64_t* dims, int num_dims, size_t bytes) {
  if (dtype == DType::kInvalid || dtype == DType::kResource || dtype == DType::kVariant) {
    return InvalidArgument("no tensor of that type");
  }
  if (num_dims < 0 || (num_dims > 0 && !dims)) return InvalidArgument("no dimensions");
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make({dims, static_cast<size_t>(num_dims)}));
  size_t needed;
  if (__builtin_mul_overflow(static_cast<size_t>(shape.num_elements()), DTypeSize(dtype), &needed) ||
      needed > bytes) {
    return InvalidArgument("{} bytes are too short for {} {}", bytes, DTypeName(dtype), shape.ToString());
  }
  return shape;
}

// A foreign buffer that runs its deallocator exactly once, also when making it fails.
Ref<Buffer> MakeForeign(void* data, size_t bytes, Buffer::ReleaseFn release, void* arg) {
  try {
    return Buffer::Foreign(data, bytes, release, arg);
  } catch (...) {
    release(data, bytes, arg);
    throw;
  }
}

Result<Ref<Buffer>> MakeOwn(DType dtype, size_t bytes) {
  void* data = Allocate(bytes);
  if (!data) return ResourceExhausted("no memory for {} bytes", bytes);
  const bool strings = dtype == DType::kString;
  if (strings) std::memset(data, 0, bytes);
  return MakeForeign(data, bytes, strings ? FreeStrings : FreePlain, nullptr);
}

// For callers who give no deallocator: the memory is not ours to free.
void FreeNothing(void*, size_t, void*) {}

}  // namespace

DType FromC(const TF_DataType& type) {
  int value;  // not as the enumeration: numbers outside it are undefined there
  static_assert(sizeof value == sizeof type);
  std::memcpy(&value, &type, sizeof value);
  return value > 0 && value <= kMaxDType ? static_cast<DType>(value) : DType::kInvalid;
}

Result<TF_Tensor*> MakeTensor(const Tensor& value) {
  if (!value.valid()) return InvalidArgument("there is no value");
  if (value.dtype() == DType::kResource || value.dtype() == DType::kVariant) {
    return Unimplemented("a {} has no bytes that a tensor could hold", DTypeName(value.dtype()));
  }
  return new TF_Tensor{value, value.bytes(), false};
}

Result<TF_Tensor*> MakeSharedTensor(const Tensor& value) {
  if (value.dtype() != DType::kString || value.buffer()->unique()) return MakeTensor(value);
  TARE_ASSIGN_OR_RETURN(Ref<Buffer> buffer, MakeOwn(DType::kString, value.bytes()));
  CopyElements(DType::kString, value.raw(), buffer->data(), static_cast<size_t>(value.num_elements()));
  return new TF_Tensor{Tensor(DType::kString, value.shape(), std::move(buffer)), value.bytes(), true};
}

}  // namespace tare::capi

using namespace tare;
using namespace tare::capi;

TF_Tensor* TF_NewTensor(TF_DataType dtype, const int64_t* dims, int num_dims, void* data, size_t len,
                        void (*deallocator)(void* data, size_t len, void* arg), void* deallocator_arg) {
  if (!deallocator) deallocator = FreeNothing;
  return TryGet<TF_Tensor*>(nullptr, nullptr, [&]() -> Result<TF_Tensor*> {
    Ref<Buffer> buffer = MakeForeign(data, len, deallocator, deallocator_arg);
    const DType type = FromC(dtype);
    TARE_ASSIGN_OR_RETURN(Shape shape, CheckShape(type, dims, num_dims, len));
    if (!data && shape.num_elements() > 0) return InvalidArgument("data is NULL");
    // Strings cannot be moved by copying bytes: an offset counts from where it stands.
    if (!Aligned(data) && type != DType::kString) {
      TARE_ASSIGN_OR_RETURN(Ref<Buffer> copy, MakeOwn(type, len));
      std::memcpy(copy->data(), data, len);
      buffer = std::move(copy);
    }
    return new TF_Tensor{Tensor(type, shape, std::move(buffer)), len, false};
  });
}

TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims, int num_dims, size_t len) {
  return TryGet<TF_Tensor*>(nullptr, nullptr, [&]() -> Result<TF_Tensor*> {
    const DType type = FromC(dtype);
    TARE_ASSIGN_OR_RETURN(Shape shape, CheckShape(type, dims, num_dims, len));
    TARE_ASSIGN_OR_RETURN(Ref<Buffer> buffer, MakeOwn(type, len));
    return new TF_Tensor{Tensor(type, shape, std::move(buffer)), len, true};
  });
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* t) {
  if (!t || !t->tensor.buffer()->unique()) return nullptr;
  if (!t->allocated && !t->tensor.may_reuse()) return nullptr;
  TF_Tensor* moved = TryNew<TF_Tensor>(*t);
  if (moved) delete t;
  return moved;
}

void TF_DeleteTensor(TF_Tensor* t) { delete t; }

TF_DataType TF_TensorType(const TF_Tensor* t) { return static_cast<TF_DataType>(t ? t->tensor.dtype() : DType{}); }
int TF_NumDims(const TF_Tensor* t) { return t ? t->tensor.rank() : -1; }
int64_t TF_Dim(const TF_Tensor* t, int i) { return t && i >= 0 && i < t->tensor.rank() ? t->tensor.dim(i) : -1; }
size_t TF_TensorByteSize(const TF_Tensor* t) { return t ? t->bytes : 0; }
void* TF_TensorData(const TF_Tensor* t) { return t ? const_cast<void*>(t->tensor.raw()) : nullptr; }
int64_t TF_TensorElementCount(const TF_Tensor* t) { return t ? t->tensor.num_elements() : 0; }
bool TF_TensorIsAligned(const TF_Tensor* t) { return t && Aligned(t->tensor.raw()); }
size_t TF_TensorDefaultAlignment() { return kAlignment; }

void TF_SetShape(TF_Tensor* t, const int64_t* dims, int num_dims) {
  if (!t) return;
  Try(nullptr, [&]() -> Status {
    TARE_ASSIGN_OR_RETURN(Shape shape, CheckShape(t->tensor.dtype(), dims, num_dims, t->bytes));
    if (shape.num_elements() == t->tensor.num_elements()) t->tensor = t->tensor.Reshaped(shape);
    return OkStatus();
  });
}

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to, const int64_t* new_dims,
                          int num_new_dims, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(from);
    TARE_CAPI_REQUIRE(to);
    const DType dtype = FromC(type);
    TARE_ASSIGN_OR_RETURN(Shape shape, CheckShape(dtype, new_dims, num_new_dims, from->bytes));
    if (!IsPlain(dtype) || !IsPlain(from->tensor.dtype())) return InvalidArgument("strings cannot be bitcast");
    if (static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype) != from->tensor.bytes()) {
      return InvalidArgument("{} {} has {} bytes, {} {} another number", DTypeName(from->tensor.dtype()),
                             from->tensor.shape().ToString(), from->tensor.bytes(), DTypeName(dtype),
                             shape.ToString());
    }
    *to = {Tensor(dtype, shape, from->tensor.buffer(), const_cast<void*>(from->tensor.raw())), from->bytes,
           from->allocated};
    return OkStatus();
  });
}

size_t TF_DataTypeSize(TF_DataType dt) {
  const DType type = FromC(dt);
  return type == DType::kInvalid || !IsPlain(type) ? 0 : DTypeSize(type);
}

const char* TF_Version() { return "2.21.0"; }
