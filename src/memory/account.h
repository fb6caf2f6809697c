// An Account says who holds how many bytes, by kind: one per loaded model, one for the eager context.
//
// Every tensor buffer, region, table and cached kernel is charged to exactly one account and released
// from it by the same owner. An account also keeps the large blocks its model's runs reuse, within a
// bound, so that a steady run asks the OS for nothing; Close() returns them. Buffers hold a reference
// to their account, so it outlives its model while a caller keeps an output.
//
// Thread-safe. Sizes are bytes.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "memory/ref.h"
#include "status/status.h"

namespace tare {

enum class Kind : uint8_t {
  kWeights,        // variables and constants in memory of our own
  kMappedWeights,  // the same, read in place from a mapped file
  kPackedWeights,  // copies made for the heavy kernels
  kActivations,    // tensors of a run
  kPooled,         // free blocks kept for the next run
  kTables,         // lookup tables
  kGraphs,         // graphs, functions, names
  kPlans,          // plans and their kernels
  kKernels,        // the kernel cache's kernels
  kCaller,         // outputs handed to the caller, who owns them now
  kCount
};
constexpr size_t kKindCount = static_cast<size_t>(Kind::kCount);
std::string_view KindName(Kind kind);

// Asked before an account takes a large block from the OS: the ceiling of a memory limit. Called on any thread,
// with no lock of an account held, so it may trim accounts. Outlives every account that knows it.
class MemoryGate {
 public:
  // An error where `bytes` more are too many.
  virtual Status Allows(size_t bytes) = 0;

 protected:
  ~MemoryGate() = default;
};

class Account final : public RefCounted {
 public:
  static constexpr size_t kPoolLimit = size_t{64} << 20;
  // Large free blocks are kept up to `pool_limit` bytes; `gate` may be null.
  explicit Account(std::string name, size_t pool_limit = kPoolLimit, MemoryGate* gate = nullptr);

  std::string_view name() const { return name_; }
  void Charge(Kind kind, size_t bytes);
  void Discharge(Kind kind, size_t bytes);
  void Move(Kind from, Kind to, size_t bytes);

  int64_t bytes(Kind kind) const;
  // Everything ever charged of a kind.
  int64_t charged(Kind kind) const;
  // All kinds.
  int64_t total() const;
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  // Memory for one tensor, 64-byte aligned, at least `bytes` long; `*capacity` is what Free needs back.
  // Blocks from 64 KiB up come from mmap and may be pooled. Charges nothing. ResourceExhausted when there is
  // none, or the gate's refusal.
  Result<void*> Allocate(size_t bytes, size_t* capacity);
  void Free(void* block, size_t capacity);
  // Returns the pooled blocks to the OS; with `close`, keeps none from now on.
  void Trim(bool close);

 private:
  ~Account() override;
  struct FreeBlock {
    void* data;
    size_t capacity;
  };
  struct Counter {
    std::atomic<int64_t> live{0};
    std::atomic<int64_t> charged{0};
  };
  const std::string name_;
  const size_t pool_limit_;
  MemoryGate* const gate_;
  std::array<Counter, kKindCount> counters_;
  std::atomic<int64_t> total_{0};
  std::atomic<int64_t> peak_{0};
  std::mutex mutex_;
  bool closed_ = false;            // guarded by mutex_
  size_t pooled_ = 0;              // guarded by mutex_
  std::vector<FreeBlock> blocks_;  // guarded by mutex_; most recently freed last
};

}  // namespace tare
