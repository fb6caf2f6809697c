#include "memory/account.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <utility>

namespace tare {
namespace {

constexpr size_t kLargeBlock = 64 << 10;
constexpr size_t kAlignment = 64;
// Up to here malloc keeps freed blocks at hand, a thread its own; aligned_alloc never takes from those.
constexpr size_t kSmallBlock = 1024 - kAlignment;
constexpr size_t kPooledBlocks = 256;

// Rounds up to an eighth of a power of two, so that blocks of nearly equal sizes fit one another.
size_t LargeCapacity(size_t bytes) {
  size_t step = std::max<size_t>(std::bit_floor(bytes) / 8, 4096);
  return (bytes + step - 1) / step * step;
}

// A block inside one of malloc's; the byte before it says how far inside.
void* AllocateSmall(size_t capacity) {
  auto* base = static_cast<uint8_t*>(std::malloc(capacity + kAlignment));
  if (!base) return nullptr;
  const size_t into = kAlignment - reinterpret_cast<uintptr_t>(base) % kAlignment;
  base[into - 1] = static_cast<uint8_t>(into);
  return base + into;
}

void FreeSmall(void* block) {
  auto* bytes = static_cast<uint8_t*>(block);
  std::free(bytes - bytes[-1]);
}

}  // namespace

std::string_view KindName(Kind kind) {
  static constexpr std::string_view kNames[] = {"weights", "mapped_weights", "packed_weights",
                                                "activations", "pooled", "tables", "graphs",
                                                "plans", "kernels", "caller"};
  static_assert(std::size(kNames) == kKindCount);
  return kNames[static_cast<size_t>(kind)];
}

Account::Account(std::string name, size_t pool_limit, MemoryGate* gate)
    : name_(std::move(name)), pool_limit_(pool_limit), gate_(gate) {
  // Free, which destructors call, must not allocate.
  if (pool_limit_ > 0) blocks_.reserve(kPooledBlocks);
}

Account::~Account() { Trim(true); }

void Account::Charge(Kind kind, size_t bytes) {
  Counter& c = counters_[static_cast<size_t>(kind)];
  c.live.fetch_add(bytes, std::memory_order_relaxed);
  c.charged.fetch_add(bytes, std::memory_order_relaxed);
  int64_t now = total_.fetch_add(bytes, std::memory_order_relaxed) + static_cast<int64_t>(bytes);
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void Account::Discharge(Kind kind, size_t bytes) {
  counters_[static_cast<size_t>(kind)].live.fetch_sub(bytes, std::memory_order_relaxed);
  total_.fetch_sub(bytes, std::memory_order_relaxed);
}

void Account::Move(Kind from, Kind to, size_t bytes) {
  counters_[static_cast<size_t>(from)].live.fetch_sub(bytes, std::memory_order_relaxed);
  Counter& c = counters_[static_cast<size_t>(to)];
  c.live.fetch_add(bytes, std::memory_order_relaxed);
  c.charged.fetch_add(bytes, std::memory_order_relaxed);
}

int64_t Account::bytes(Kind kind) const {
  return counters_[static_cast<size_t>(kind)].live.load(std::memory_order_relaxed);
}
int64_t Account::charged(Kind kind) const {
  return counters_[static_cast<size_t>(kind)].charged.load(std::memory_order_relaxed);
}
int64_t Account::total() const { return total_.load(std::memory_order_relaxed); }

Result<void*> Account::Allocate(size_t bytes, size_t* capacity) {
  const auto none = [&] { return ResourceExhausted("cannot allocate {} bytes for {}", bytes, name_); };
  // Free tells the two sorts apart by capacity: what would round up to kLargeBlock must be large already.
  if (bytes <= kLargeBlock - kAlignment) {
    *capacity = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    void* p = *capacity <= kSmallBlock ? AllocateSmall(*capacity) : std::aligned_alloc(kAlignment, *capacity);
    if (!p) return none();
    return p;
  }
  if (bytes > SIZE_MAX / 2) return none();
  *capacity = LargeCapacity(bytes);
  {
    std::lock_guard lock(mutex_);
    for (size_t i = blocks_.size(); i-- > 0;) {
      if (blocks_[i].capacity != *capacity) continue;
      void* data = blocks_[i].data;
      blocks_.erase(blocks_.begin() + i);
      pooled_ -= *capacity;
      Discharge(Kind::kPooled, *capacity);
      return data;
    }
  }
  if (gate_) TARE_RETURN_IF_ERROR(gate_->Allows(*capacity));
  void* p = mmap(nullptr, *capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return none();
  return p;
}

void Account::Free(void* block, size_t capacity) {
  if (capacity <= kSmallBlock) return FreeSmall(block);
  if (capacity < kLargeBlock) return std::free(block);
  {
    std::lock_guard lock(mutex_);
    if (!closed_ && pooled_ + capacity <= pool_limit_ && blocks_.size() < blocks_.capacity()) {
      blocks_.push_back({block, capacity});
      pooled_ += capacity;
      Charge(Kind::kPooled, capacity);
      return;
    }
  }
  munmap(block, capacity);
}

void Account::Trim(bool close) {
  std::lock_guard lock(mutex_);
  closed_ = closed_ || close;
  for (const FreeBlock& b : blocks_) munmap(b.data, b.capacity);
  blocks_.clear();
  if (closed_) std::vector<FreeBlock>().swap(blocks_);
  Discharge(Kind::kPooled, std::exchange(pooled_, 0));
}

}  // namespace tare
