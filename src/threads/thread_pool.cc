#include "threads/thread_pool.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>

namespace tare {
namespace {

constexpr int64_t kSerialNanos = 20'000;
// Longer than what a model computes serially between two parallel pieces: to wake a sleeping thread takes 25 us or more.
constexpr std::chrono::microseconds kSpinTime(250);
thread_local bool t_in_parallel_for = false;

}  // namespace

// Lives on the caller's stack. `holders` counts workers that still look at it.
struct ThreadPool::Job {
  const RangeFunction* fn;
  int64_t n, piece;
  std::atomic<int64_t> next{0};
  std::atomic<int> holders{0};
};

ThreadPool::ThreadPool(int threads) {
  const int processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (threads <= 0) threads = processors;
  spins_ = threads <= processors;
  // A machine that refuses a thread gets a smaller pool: the caller alone can do all work.
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    posted_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  for (std::thread& t : workers_) t.join();
}

bool ThreadPool::RunPieces(Job& job) {
  bool any = false;
  for (;;) {
    int64_t begin = job.next.fetch_add(job.piece, std::memory_order_relaxed);
    if (begin >= job.n) return any;
    (*job.fn)(begin, std::min(job.n, begin + job.piece));
    any = true;
  }
}

void ThreadPool::ParallelFor(int64_t n, int64_t cost, RangeFunction fn) {
  if (n <= 0) return;
  if (workers_.empty() || t_in_parallel_for || n == 1 ||
      static_cast<double>(n) * static_cast<double>(std::max<int64_t>(cost, 1)) < kSerialNanos) {
    return fn(0, n);
  }
  // A few pieces a thread, so that a slow one does not hold up the rest.
  int64_t pieces = std::min<int64_t>(n, int64_t{4} * threads());
  Job job{&fn, n, (n + pieces - 1) / pieces};
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    posted_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  t_in_parallel_for = true;
  RunPieces(job);
  t_in_parallel_for = false;
  {
    std::lock_guard lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  }
  while (job.holders.load(std::memory_order_acquire) != 0) _mm_pause();
}

bool ThreadPool::SpinUntilPosted(uint64_t seen) const {
  constexpr int kPausesBetweenLooksAtTheClock = 64;
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesBetweenLooksAtTheClock; ++i) {
      if (posted_.load(std::memory_order_acquire) != seen) return true;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

void ThreadPool::Work() {
  FlushDenormals flush;
  t_in_parallel_for = true;
  for (;;) {
    Job* job = nullptr;
    uint64_t seen;
    {
      std::lock_guard lock(mutex_);
      for (Job* j : jobs_) {
        if (j->next.load(std::memory_order_relaxed) < j->n) job = j;
      }
      if (!job && stop_) return;
      seen = posted_.load(std::memory_order_relaxed);
      if (job) job->holders.fetch_add(1, std::memory_order_relaxed);
    }
    if (job) {
      RunPieces(*job);
      job->holders.fetch_sub(1, std::memory_order_release);
    } else if (!spins_ || !SpinUntilPosted(seen)) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return posted_.load(std::memory_order_relaxed) != seen; });
    }
  }
}

// MXCSR bits 15 (flush to zero) and 6 (denormals are zero).
FlushDenormals::FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
FlushDenormals::~FlushDenormals() { _mm_setcsr(saved_); }

}  // namespace tare
