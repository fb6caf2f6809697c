// Asynchronous execution: ops in order on one thread, values that come later.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "memory/ref.h"
#include "tensor/tensor.h"

namespace tare::capi {

// A tensor that an op still in a queue will give, or the error it failed with. Thread-safe.
class Promise final : public RefCounted {
 public:
  void Set(Result<Tensor> value);
  // Waits. The value belongs to the promise.
  const Result<Tensor>& Wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable done_;
  std::optional<Result<Tensor>> value_;  // guarded by mutex_ until it is set, then constant
};

// Thread-safe. After an error it runs nothing more until the error is cleared: each op is dropped instead, with
// the error.
class Executor final : public RefCounted {
 public:
  // `limit` > 0 bounds the ops in the queue. Throws std::system_error where there is no thread to be had.
  Executor(bool async, size_t limit);
  bool async() const { return async_; }
  // Queues `run`, which is called with the error the executor is in, OK if none, and gives its own.
  // REQUIRES: async.
  void Add(std::function<Status(const Status&)> run);
  // Until nothing is queued; the first error since the last Clear.
  Status Wait();
  void ClearError();

 private:
  ~Executor() override;
  void Work();

  const bool async_;
  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<Status(const Status&)>> queue_;  // guarded by mutex_, as all below
  bool busy_ = false;
  bool stop_ = false;
  Status error_;
  std::thread thread_;
};

}  // namespace tare::capi
