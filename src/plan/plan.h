// A plan: a graph as an ordered list of steps, ready to run. Immutable once built; many threads may run one
// at the same time, each in a frame of its own.
//
// A step reads slots (values of earlier steps, or arguments) and constants, and writes a range of slots. The
// order respects every data and control edge. A slot is released after its last use, so a kernel may take
// its memory over, and slots are reused, so a frame is small.
//
// A plan may hold variables' values as constants. Once one of those variables was written, the plan builds its
// like without them, once, and runs that from then on.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/graph.h"
#include "kernels/kernel.h"
#include "resource/variable.h"

namespace tare {

class Plan final : private Reclaimable {
 public:
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  size_t num_args() const { return arg_slots_.size(); }
  size_t num_returns() const { return returns_.size(); }
  size_t num_steps() const { return steps_.size(); }
  // Whether a step gives bfloat16: answers then carry its three digits, whatever type they are returned in.
  bool uses_bfloat16() const { return uses_bfloat16_; }
  // kInvalid where only the run decides.
  std::span<const DType> arg_types() const { return arg_types_; }
  std::span<const DType> return_types() const { return return_types_; }

  // `inputs` are moved from; `outputs` are set on success. REQUIRES: sizes are num_args and num_returns, and
  // dtypes those of arg_types. Errors end in the node's name; Cancelled when run.cancelled was set.
  Status Run(const RunContext& run, std::span<Tensor> inputs, std::span<Tensor> outputs) const;

 private:
  friend class PlanBuilder;
  struct Step {
    const Kernel* kernel;
    std::string_view name, op;
    std::span<const int32_t> inputs;    // slot, or ~index of a constant
    std::span<const bool> last_use;     // by input
    std::span<const int32_t> released;  // slots nobody reads after this step
    int32_t first_output;
    int32_t num_outputs;
  };
  struct Frame;

  // The plan to run instead, once the guard is broken.
  Result<const Plan*> Thawed() const;
  explicit Plan(Ref<Account> account);
  // Frees the idle frames and their workspaces.
  void Reclaim() override;
  Status RunSteps(const RunContext& run, Frame& frame, std::span<Tensor> inputs, std::span<Tensor> outputs) const;
  static void Clear(Frame& frame);
  std::unique_ptr<Frame> TakeFrame() const;
  void GiveBack(std::unique_ptr<Frame> frame) const;
  size_t FrameBytes() const;

  Ref<Account> account_;
  Region region_;
  std::vector<KernelPtr> kernels_;  // in the region
  std::vector<Step> steps_;
  std::vector<Tensor> constants_;
  std::vector<int32_t> arg_slots_;      // -1: nobody reads the argument
  std::vector<int32_t> returns_;        // slot, or ~index of a constant
  std::vector<bool> return_last_use_;
  std::vector<DType> arg_types_, return_types_;
  bool uses_bfloat16_ = false;
  size_t num_slots_ = 0;
  size_t num_inputs_ = 0;  // of all steps

  Ref<FreezeGuard> guard_;  // null: no variable's value is among the constants
  std::function<Result<std::unique_ptr<Plan>>()> rebuild_;
  mutable std::mutex thaw_mutex_;
  mutable std::unique_ptr<Plan> thawed_;  // guarded by thaw_mutex_

  static constexpr size_t kMaxIdleFrames = 4;
  // Of the idle frames' workspaces together; a Trim of the account takes them all.
  static constexpr size_t kMaxIdleBytes = size_t{256} << 20;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> idle_frames_;  // guarded by mutex_
  mutable size_t idle_bytes_ = 0;                            // guarded by mutex_
};

}  // namespace tare
