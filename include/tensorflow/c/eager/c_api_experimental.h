/* Eager execution, the parts that are newer: reusable ops and executors. */
#ifndef TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_

#include <stdbool.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the op another one of the same context, without inputs and attributes: cheaper than a new one. */
TF_CAPI_EXPORT extern void TFE_OpReset(TFE_Op* op_to_reset, const char* op_or_function_name,
                                       const char* raw_device_name, TF_Status* status);

/* Where ops run: at once, or in order on a thread of the executor's. After an error an asynchronous executor runs
   nothing more until the error is cleared. Thread-safe. */
typedef struct TFE_Executor TFE_Executor;

/* `enable_streaming_enqueue` concerns remote workers, of which there are none. With a limit above 0, an op that
   would be one too many in the queue waits for room. NULL when memory or threads are exhausted. */
TF_CAPI_EXPORT extern TFE_Executor* TFE_NewExecutor(bool is_async, bool enable_streaming_enqueue,
                                                    int in_flight_nodes_limit);
/* Waits for what is queued. Contexts that still use the executor keep it. */
TF_CAPI_EXPORT extern void TFE_DeleteExecutor(TFE_Executor* executor);
TF_CAPI_EXPORT extern bool TFE_ExecutorIsAsync(TFE_Executor* executor);
/* Waits until nothing is queued; gives the first error since it was cleared. */
TF_CAPI_EXPORT extern void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ExecutorClearError(TFE_Executor* executor);
/* Which executor runs the ops of the calling thread in this context; NULL for the context's own again. */
TF_CAPI_EXPORT extern void TFE_ContextSetExecutorForThread(TFE_Context* ctx, TFE_Executor* executor);
/* A handle of the same executor, to be deleted by the caller. */
TF_CAPI_EXPORT extern TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx);
/* Waits for every op of the context; gives the first error. */
TF_CAPI_EXPORT extern void TFE_ContextAsyncWait(TFE_Context* ctx, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_ */
