#include "tensor/workspace.h"

#include <algorithm>

namespace tare {
namespace {

// A block this much larger than what is asked for is left for a larger tensor; small ones always do.
constexpr size_t kSlack = 2, kSmall = 4096;
// Beyond this many blocks, more are not kept.
constexpr size_t kMaxBlocks = 1024;

}  // namespace

Workspace::~Workspace() {
  for (Block& b : blocks_) LetGo(b);
}

void Workspace::LetGo(Block& block) {
  // In this order, so that who holds the buffer never takes it for its own too early.
  block.buffer->in_workspace_.store(false, std::memory_order_relaxed);
  block.buffer = nullptr;
}

Result<Tensor> Workspace::Make(const Ref<Account>& account, DType dtype, const Shape& shape) {
  if (!IsPlain(dtype)) return Tensor::Make(account, dtype, shape);
  const auto count = static_cast<size_t>(shape.num_elements());
  size_t bytes;
  if (__builtin_mul_overflow(count, DTypeSize(dtype), &bytes)) return Tensor::Make(account, dtype, shape);
  const size_t most = std::max(bytes * kSlack, kSmall);
  auto at = std::ranges::lower_bound(blocks_, bytes, {}, &Block::capacity);
  for (auto b = at; b != blocks_.end() && b->capacity <= most; ++b) {
    if (!b->buffer->unique()) continue;
    b->last_run = run_;
    return Tensor(dtype, shape, b->buffer);
  }
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, dtype, shape));
  if (blocks_.size() < kMaxBlocks) {
    const size_t capacity = t.buffer()->capacity_;
    at = std::ranges::lower_bound(blocks_, capacity, {}, &Block::capacity);
    blocks_.insert(at, {capacity, t.buffer(), run_});
    t.buffer()->in_workspace_.store(true, std::memory_order_relaxed);
  }
  return t;
}

void Workspace::EndRun() {
  for (Block& b : blocks_) {
    if (!b.buffer->unique() || run_ - b.last_run >= kIdleRuns) LetGo(b);
  }
  std::erase_if(blocks_, [](const Block& b) { return !b.buffer; });
  ++run_;
}

size_t Workspace::bytes() const {
  size_t sum = 0;
  for (const Block& b : blocks_) sum += b.capacity;
  return sum;
}

}  // namespace tare
