// Every op by name, with what dispatching it needs. Looking one up takes no lock and no allocation.
#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <string_view>

#include "kernels/registry.h"
#include "op/fingerprint.h"

namespace tare {

struct IndexedOp {
  const OpDef* def;
  const KernelRow* row;   // null when Tare has no kernel for it
  Fingerprint identity;   // of the op on this device, before its attributes
  bool function = false;  // a function of the context, not an op
};

// Filled as ops are first asked for. Thread-safe.
class OpIndex {
 public:
  OpIndex(const OpRegistry& ops, const KernelRegistry& kernels, std::string_view device)
      : ops_(ops), kernels_(kernels), device_(FingerprintOf(device)) {}
  // Null for a name that is no op. Lives as long as the index.
  const IndexedOp* Find(std::string_view name);

 private:
  const IndexedOp* Add(std::string_view name, size_t slot);
  const OpRegistry& ops_;
  const KernelRegistry& kernels_;
  const Fingerprint device_;
  std::mutex mutex_;
  std::deque<IndexedOp> found_;  // guarded by mutex_
  // Open addressing; more than twice as many slots as there are ops.
  std::array<std::atomic<const IndexedOp*>, 4096> slots_{};
};

}  // namespace tare
