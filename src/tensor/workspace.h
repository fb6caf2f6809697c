// Memory that a run's tensors take and give back: blocks stay from run to run, so that a steady run asks
// nobody for memory, and a block that became free is taken while it is still in the cache.
//
// A block is free when nobody but the workspace holds its buffer. There is no plan that could be wrong: a
// tensor that lives on (an output, a variable's new value) keeps its block, which the workspace lets go at
// the end of the run. One run at a time; blocks may be released on any thread. Blocks are charged to the
// account of the run that made them.
#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace tare {

class Workspace {
 public:
  Workspace() = default;
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // As Tensor::Make, from a free block where one fits; elements that own memory always get fresh memory.
  Result<Tensor> Make(const Ref<Account>& account, DType dtype, const Shape& shape);
  // Lets go of blocks that others hold, and of those that the last kIdleRuns runs did not need.
  void EndRun();
  // Of all blocks.
  size_t bytes() const;
  size_t num_blocks() const { return blocks_.size(); }

  static constexpr uint32_t kIdleRuns = 4;

 private:
  struct Block {
    size_t capacity;
    Ref<Buffer> buffer;
    uint32_t last_run;
  };
  static void LetGo(Block& block);
  std::vector<Block> blocks_;  // by capacity
  uint32_t run_ = 0;
};

}  // namespace tare
