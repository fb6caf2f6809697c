#include "capi/executor.h"

#include "capi/eager.h"

namespace tare::capi {

void Promise::Set(Tensor value) noexcept {
  value_ = std::move(value);
  Done();
}

void Promise::Fail(SharedError error) noexcept {
  error_ = std::move(error);
  Done();
}

void Promise::Done() noexcept {
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
}

Result<Tensor> Promise::Wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
  if (error_) return Status(*error_);
  return value_;
}

Executor::Executor(bool async, size_t limit)
    : async_(async), limit_(limit), no_memory_(std::make_shared<const Status>(ResourceExhausted("out of memory"))) {
  if (async) thread_ = std::thread([this] { Work(); });
}

Executor::~Executor() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Executor::Add(std::unique_ptr<Task> task) {
  std::unique_lock lock(mutex_);
  if (limit_ > 0) idle_.wait(lock, [&] { return queue_.size() < limit_; });
  queue_.push_back(std::move(task));
  wake_.notify_one();
}

Status Executor::Wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return queue_.empty() && !busy_; });
  return error_ ? Status(*error_) : OkStatus();
}

void Executor::ClearError() {
  std::lock_guard lock(mutex_);
  error_ = nullptr;
}

void Executor::Work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return !queue_.empty() || stop_; });
    if (queue_.empty()) return;
    std::unique_ptr<Task> task = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    const SharedError before = error_;
    lock.unlock();
    SharedError error = task->Run(before, no_memory_);
    task = nullptr;  // what it holds goes before anyone is told that it is done
    lock.lock();
    busy_ = false;
    if (!error_) error_ = std::move(error);
    idle_.notify_all();
  }
}

}  // namespace tare::capi

using namespace tare;
using namespace tare::capi;

TFE_Executor* TFE_NewExecutor(bool is_async, bool, int in_flight_nodes_limit) {
  return TryGet<TFE_Executor*>(nullptr, nullptr, [&]() -> Result<TFE_Executor*> {
    const size_t limit = in_flight_nodes_limit > 0 ? static_cast<size_t>(in_flight_nodes_limit) : 0;
    auto executor = std::make_unique<TFE_Executor>();
    executor->executor = MakeRef<Executor>(is_async, limit);
    return executor.release();
  });
}

void TFE_DeleteExecutor(TFE_Executor* executor) {
  if (!executor) return;
  TryQuietly([&] { (void)executor->executor->Wait(); });
  delete executor;
}

bool TFE_ExecutorIsAsync(TFE_Executor* executor) { return executor && executor->executor->async(); }

void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(executor);
    return executor->executor->Wait();
  });
}

void TFE_ExecutorClearError(TFE_Executor* executor) {
  if (executor) executor->executor->ClearError();
}
