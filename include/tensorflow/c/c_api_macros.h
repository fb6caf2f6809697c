/* What every function of the C API is declared with. */
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#if defined(__GNUC__)
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#else
#define TF_CAPI_EXPORT
#endif

#ifdef __cplusplus
#define TF_Bool bool
#else
#include <stdbool.h>
#define TF_Bool bool
#endif

#endif /* TENSORFLOW_C_C_API_MACROS_H_ */
