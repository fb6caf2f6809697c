// Asynchronous execution: ops in order on one thread, values that come later.
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "memory/ref.h"
#include "tensor/tensor.h"

namespace tare::capi {

// An error that many may hold; null is none.
using SharedError = std::shared_ptr<const Status>;

// A tensor that an op still in a queue will give, or the error it failed with. Thread-safe.
class Promise final : public RefCounted {
 public:
  void Set(Tensor value) noexcept;
  void Fail(SharedError error) noexcept;
  // Waits for either.
  Result<Tensor> Wait() const;

 private:
  void Done() noexcept;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;  // guarded by mutex_; the rest is constant once it is set
  Tensor value_;
  SharedError error_;
};

// What an executor runs.
class Task {
 public:
  virtual ~Task() = default;
  // `before` is the error the executor is in: then nothing is to be done but to pass it on. Gives an error of its
  // own, `no_memory` where it cannot make one.
  virtual SharedError Run(const SharedError& before, const SharedError& no_memory) noexcept = 0;
};

// Thread-safe. After an error it runs nothing more until the error is cleared: each task is told of it instead.
class Executor final : public RefCounted {
 public:
  // `limit` > 0 bounds the tasks in the queue. Throws std::system_error where there is no thread to be had.
  Executor(bool async, size_t limit);
  bool async() const { return async_; }
  // REQUIRES: async.
  void Add(std::unique_ptr<Task> task);
  // Until nothing is queued; the first error since the last Clear.
  Status Wait();
  void ClearError();

 private:
  ~Executor() override;
  void Work() noexcept;

  const bool async_;
  const size_t limit_;
  const SharedError no_memory_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::unique_ptr<Task>> queue_;  // guarded by mutex_, as all below
  bool busy_ = false;
  bool stop_ = false;
  SharedError error_;
  std::thread thread_;
};

}  // namespace tare::capi
