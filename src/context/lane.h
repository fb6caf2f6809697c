// What the threads of a context keep apart, so that ops of two threads write no memory in common: who is charged,
// and pins of the kernels used last. Which lane a thread takes follows from its identity; two may share one.
#pragma once
#include <array>
#include <atomic>

#include "cache/kernel_cache.h"

namespace tare {

class Lane {
 public:
  // The kernel's pin, if it was used here last; empty else. The caller gives it back after the run.
  KernelCache::Pin Take(const Fingerprint& key) {
    const Lock lock(busy_);
    Kept& k = kept_[key.low % kept_.size()];
    return k.key == key ? std::move(k.pin) : KernelCache::Pin();
  }
  void GiveBack(const Fingerprint& key, KernelCache::Pin pin) {
    const Lock lock(busy_);
    Kept& k = kept_[key.low % kept_.size()];
    k.key = key;
    std::swap(k.pin, pin);
  }
  // Drops the pins and the free blocks.
  void Clear() {
    {
      const Lock lock(busy_);
      for (Kept& k : kept_) k.pin = {};
    }
    if (made_.load(std::memory_order_acquire)) run_.account->Trim(false);
  }
  // A run charged to an account of the lane's own, made from the context's on first use.
  const RunContext& run(const RunContext& of_context, MemoryGate* gate) {
    if (made_.load(std::memory_order_acquire)) return run_;
    Ref<Account> account = MakeRef<Account>("eager context", kPool, gate);
    const Lock lock(busy_);
    if (!run_.account) {
      run_ = of_context;
      run_.account = std::move(account);
      made_.store(true, std::memory_order_release);
    }
    return run_;
  }
  ~Lane() {
    if (run_.account) run_.account->Trim(true);
  }

 private:
  // Free blocks a lane keeps for its next ops.
  static constexpr size_t kPool = size_t{16} << 20;
  // Held for a few instructions.
  class Lock {
   public:
    explicit Lock(std::atomic_flag& flag) : flag_(flag) {
      while (flag_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& flag_;
  };
  struct Kept {
    Fingerprint key;
    KernelCache::Pin pin;
  };
  alignas(128) std::atomic_flag busy_;
  std::atomic<bool> made_{false};
  RunContext run_{};  // constant once made_
  std::array<Kept, 8> kept_;
};

}  // namespace tare
