// The objects of eager execution: a thin skin over EagerContext and EagerOp.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capi/executor.h"
#include "capi/tensor.h"
#include "context/eager_context.h"
#include "tensorflow/c/eager/c_api_experimental.h"

struct TFE_ContextOptions {
  int threads = 0;
  bool async = false;
};

struct TFE_Executor {
  tare::Ref<tare::capi::Executor> executor;
};

struct TFE_Op;

struct TFE_Context {
  explicit TFE_Context(int threads) : context(tare::EagerContext::Options{.threads = threads}) {}
  // The executor that runs this thread's ops; null: they run at once.
  tare::Ref<tare::capi::Executor> ExecutorOfThread();

  // An op that was deleted and may serve again, one a lane of threads; null when there is none.
  std::unique_ptr<TFE_Op> TakeSpare();
  void KeepSpare(std::unique_ptr<TFE_Op> op);
  ~TFE_Context();

  tare::EagerContext context;
  struct alignas(64) Spare {
    std::atomic<TFE_Op*> op{nullptr};
  };
  std::array<Spare, tare::EagerContext::kLanes> spares;
  // Whether any op may have to be queued; false is the fast path.
  std::atomic<bool> may_queue{false};
  std::mutex mutex;
  tare::Ref<tare::capi::Executor> executor;                                    // guarded by mutex
  std::map<std::thread::id, tare::Ref<tare::capi::Executor>> thread_executors;  // guarded by mutex
};

// A value, or the promise of one. Immutable once made, but for what the promise gets.
struct TFE_TensorHandle {
  // While promised, only the dtype is known.
  tare::DType dtype() const { return tensor.dtype(); }
  // Waits for a promised value.
  tare::Result<tare::Tensor> Value() const;

  tare::Tensor tensor;
  tare::Ref<tare::capi::Promise> promise;
};

struct TFE_Op {
  TFE_Context* context;
  tare::EagerOp op;
  // Inputs that are still promised, by their place.
  std::vector<std::pair<size_t, tare::Ref<tare::capi::Promise>>> promised;
};
