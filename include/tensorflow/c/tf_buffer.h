/* A block of bytes, usually a serialized message, and how to free it. */
#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The layout is part of the ABI. A function that fills a buffer wants an empty one, allocates `data` and sets
   the deallocator; TF_DeleteBuffer then frees both. */
typedef struct TF_Buffer {
  const void* data;
  size_t length;
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

/* An empty buffer; NULL when memory is exhausted. */
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBuffer(void);
/* A buffer with a copy of the bytes; NULL when memory is exhausted. */
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len);
/* Frees the data, by its deallocator, and the buffer. NULL is passed over. */
TF_CAPI_EXPORT extern void TF_DeleteBuffer(TF_Buffer* buffer);
/* What the buffer points to, which stays its own. */
TF_CAPI_EXPORT extern TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_TF_BUFFER_H_ */
