#include "context/op_index.h"

namespace tare {

const IndexedOp* OpIndex::Find(std::string_view name) {
  for (size_t slot = FingerprintOf(name).low;; ++slot) {
    const IndexedOp* op = slots_[slot % slots_.size()].load(std::memory_order_acquire);
    if (!op) return Add(name, slot);
    if (op->def->name == name) return op;
  }
}

const IndexedOp* OpIndex::Add(std::string_view name, size_t slot) {
  const OpDef* def = ops_.Find(name);
  if (!def) return nullptr;
  std::lock_guard lock(mutex_);
  for (;; ++slot) {
    std::atomic<const IndexedOp*>& at = slots_[slot % slots_.size()];
    const IndexedOp* op = at.load(std::memory_order_relaxed);
    if (op && op->def == def) return op;  // another thread was first
    if (op) continue;
    op = &found_.emplace_back(def, kernels_.Find(name), Combine(FingerprintOf(name), device_), false);
    at.store(op, std::memory_order_release);
    return op;
  }
}

}  // namespace tare
