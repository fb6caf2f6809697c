// The one pool of a context. Work runs on the caller and on `threads - 1` workers, which spin for a
// fraction of a millisecond for the next piece and then sleep. Several callers may use one pool; no thread belongs to a model.
// Workers run with denormals flushed to zero, as TensorFlow's do.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace tare {

// A borrowed callable of the range [begin, end): no allocation, valid while the call that takes it runs.
class RangeFunction {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, RangeFunction>)
  RangeFunction(F&& f)  // NOLINT: callables convert
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* object, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(object))(begin, end);
        }) {}
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t);
};

class ThreadPool {
 public:
  // Threads that work at once, callers included; 0 means one per core. 1 starts no thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls fn(begin, end) over pieces of [0, n) that together cover it once, in any order, and returns
  // when all are done. `cost` is about how many nanoseconds one item takes: work under some 20 us
  // in all runs on the caller alone. fn must not throw and may itself call ParallelFor (it runs serially).
  void ParallelFor(int64_t n, int64_t cost, RangeFunction fn);

 private:
  struct Job;
  void Work();
  // Whether posted_ moved on from `seen` within the time that a worker spins.
  bool SpinUntilPosted(uint64_t seen) const;
  static bool RunPieces(Job& job);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job*> jobs_;  // guarded by mutex_
  std::atomic<uint64_t> posted_{0};  // jobs so far, and the order to stop; written under mutex_
  bool stop_ = false;  // guarded by mutex_
  bool spins_ = true;  // not where the threads are more than the processors
  std::vector<std::thread> workers_;
};

// Flushes denormals to zero on this thread while it lives, as kernels expect.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();

 private:
  unsigned saved_;
};

}  // namespace tare
