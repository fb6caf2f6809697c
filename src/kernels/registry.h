// Every op Tare can run. A family not listed in registry.cc does not exist: no registration macros, no
// static constructors. The registry is a value that the context makes once.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace tare {

using KernelFamily = std::span<const KernelRow>;

class KernelRegistry {
 public:
  KernelRegistry();
  // Null when Tare has no kernel for the op.
  const KernelRow* Find(std::string_view op) const;
  std::span<const KernelRow* const> rows() const { return rows_; }

 private:
  std::vector<const KernelRow*> rows_;  // sorted by op
};

}  // namespace tare
