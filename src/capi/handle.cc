#include "capi/device.h"
#include "capi/eager.h"

using namespace tare;
using namespace tare::capi;

Result<Tensor> TFE_TensorHandle::Value() const {
  if (promise) return promise->Wait();
  return tensor;
}

namespace {

// Calls f(tensor) on the handle's value, once it is there.
template <class T, class F>
T OfValue(TFE_TensorHandle* h, TF_Status* status, T otherwise, F&& f) {
  return TryGet<T>(status, otherwise, [&]() -> Result<T> {
    TARE_CAPI_REQUIRE(h);
    if (!h->promise) return f(h->tensor);
    TARE_ASSIGN_OR_RETURN(Tensor value, h->Value());
    return f(value);
  });
}

}  // namespace

TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* t, TF_Status* status) {
  return TryGet<TFE_TensorHandle*>(status, nullptr, [&]() -> Result<TFE_TensorHandle*> {
    TARE_CAPI_REQUIRE(t);
    return new TFE_TensorHandle{t->tensor, nullptr};
  });
}

void TFE_DeleteTensorHandle(TFE_TensorHandle* h) { delete h; }

TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h) {
  return static_cast<TF_DataType>(h ? h->dtype() : DType::kInvalid);
}

int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status) {
  return OfValue<int>(h, status, -1, [](const Tensor& t) -> Result<int> { return t.rank(); });
}

int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) {
  return OfValue<int64_t>(h, status, -1, [](const Tensor& t) -> Result<int64_t> { return t.num_elements(); });
}

int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index, TF_Status* status) {
  return OfValue<int64_t>(h, status, -1, [&](const Tensor& t) -> Result<int64_t> {
    if (dim_index < 0 || dim_index >= t.rank()) {
      return InvalidArgument("dimension {} of a tensor of rank {}", dim_index, t.rank());
    }
    return t.dim(dim_index);
  });
}

const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  return OfValue<const char*>(h, status, nullptr, [](const Tensor&) -> Result<const char*> { return kDeviceName; });
}

const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  return TFE_TensorHandleDeviceName(h, status);
}

TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h, TF_Status* status) {
  return TryGet<TFE_TensorHandle*>(status, nullptr, [&]() -> Result<TFE_TensorHandle*> {
    TARE_CAPI_REQUIRE(h);
    return new TFE_TensorHandle(*h);
  });
}

TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h, TFE_Context*, const char* device_name,
                                               TF_Status* status) {
  return TryGet<TFE_TensorHandle*>(status, nullptr, [&]() -> Result<TFE_TensorHandle*> {
    TARE_CAPI_REQUIRE(h);
    TARE_RETURN_IF_ERROR(CheckDevice(device_name ? device_name : ""));
    return new TFE_TensorHandle(*h);
  });
}

TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) {
  return OfValue<TF_Tensor*>(h, status, nullptr, [](const Tensor& t) { return MakeSharedTensor(t); });
}
