/* Tensors: a type, a shape and bytes that may be shared with handles and sessions.
   Bytes are row-major; a TF_STRING tensor is an array of TF_TString (tf_tstring.h). Who gave a tensor to a
   handle or a run may delete it at once, and must not change the bytes while those may read them. Functions may be
   called from any thread, one at a time per object. */
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Tensor TF_Tensor;

/* A tensor over memory of the caller's, which is taken over in every case: `deallocator(data, len, arg)` is
   called once, when the last holder of the bytes goes. Bytes not aligned to TF_TensorDefaultAlignment() are
   copied and freed at once. NULL when `len` is too short for the shape, when a dimension is negative, when
   there are more than 10 dimensions, for TF_RESOURCE and TF_VARIANT, or when memory is exhausted. Strings in
   `data` are freed by the deallocator, not by the tensor. */
TF_CAPI_EXPORT extern TF_Tensor* TF_NewTensor(TF_DataType dtype, const int64_t* dims, int num_dims, void* data,
                                              size_t len, void (*deallocator)(void* data, size_t len, void* arg),
                                              void* deallocator_arg);
/* A tensor with memory of its own, aligned to TF_TensorDefaultAlignment(): `len` uninitialised bytes, or empty
   strings. NULL as above. */
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims, int num_dims, size_t len);
/* A tensor with the same bytes, the argument deleted, when nobody else holds memory from TF_AllocateTensor;
   else NULL and the argument untouched. */
TF_CAPI_EXPORT extern TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);
/* NULL is passed over. */
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor* tensor);

TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor* tensor);
/* -1 when there is no such dimension. */
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern void* TF_TensorData(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor* tensor);
/* Another shape of as many elements; any other is passed over. */
TF_CAPI_EXPORT extern void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);
/* Makes `to` share the bytes of `from` as another type and shape of the same size. */
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to,
                                                const int64_t* new_dims, int num_new_dims, TF_Status* status);
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor* tensor);
TF_CAPI_EXPORT extern size_t TF_TensorDefaultAlignment(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_TF_TENSOR_H_ */
