#include "plan/plan.h"

namespace tare {

// The values of one run, and for each step the addresses its kernel reads: they stay the same from run to run.
struct Plan::Frame {
  std::vector<Tensor> slots;
  std::vector<Tensor*> inputs;
  Workspace workspace;  // of runs that are not nested in another
};

Plan::Plan(Ref<Account> account) : account_(account), region_(std::move(account), Kind::kPlans) {
  account_->AddReclaimable(this);
}

Plan::~Plan() {
  account_->RemoveReclaimable(this);
  account_->Discharge(Kind::kPlans, idle_frames_.size() * FrameBytes());
}

size_t Plan::FrameBytes() const {
  return sizeof(Frame) + num_slots_ * sizeof(Tensor) + num_inputs_ * sizeof(Tensor*);
}

std::unique_ptr<Plan::Frame> Plan::TakeFrame() const {
  {
    std::lock_guard lock(mutex_);
    if (!idle_frames_.empty()) {
      auto frame = std::move(idle_frames_.back());
      idle_frames_.pop_back();
      idle_bytes_ -= frame->workspace.bytes();
      account_->Discharge(Kind::kPlans, FrameBytes());
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  frame->slots.resize(num_slots_);
  frame->inputs.reserve(num_inputs_);
  for (const Step& s : steps_) {
    for (int32_t i : s.inputs) {
      frame->inputs.push_back(i >= 0 ? &frame->slots[i] : const_cast<Tensor*>(&constants_[~i]));
    }
  }
  return frame;
}

void Plan::GiveBack(std::unique_ptr<Frame> frame) const {
  std::lock_guard lock(mutex_);
  const size_t bytes = frame->workspace.bytes();
  if (idle_frames_.size() >= kMaxIdleFrames || idle_bytes_ + bytes > kMaxIdleBytes) return;
  idle_bytes_ += bytes;
  account_->Charge(Kind::kPlans, FrameBytes());
  idle_frames_.push_back(std::move(frame));
}

void Plan::Reclaim() {
  std::vector<std::unique_ptr<Frame>> idle;
  std::lock_guard lock(mutex_);
  idle.swap(idle_frames_);
  idle_bytes_ = 0;
  account_->Discharge(Kind::kPlans, idle.size() * FrameBytes());
}

Status Plan::Run(const RunContext& run, std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  assert(inputs.size() == num_args() && outputs.size() == num_returns());
  if (rebuild_ && guard_->broken()) {
    TARE_ASSIGN_OR_RETURN(const Plan* plan, Thawed());
    return plan->Run(run, inputs, outputs);
  }
  std::unique_ptr<Frame> frame = TakeFrame();
  Status status;
  if (run.workspace) {
    status = RunSteps(run, *frame, inputs, outputs);
  } else {
    RunContext own = run;
    own.workspace = &frame->workspace;
    status = RunSteps(own, *frame, inputs, outputs);
    frame->workspace.EndRun();
  }
  GiveBack(std::move(frame));
  return status;
}

Result<const Plan*> Plan::Thawed() const {
  std::lock_guard lock(thaw_mutex_);
  if (!thawed_) {
    TARE_ASSIGN_OR_RETURN(thawed_, rebuild_());
  }
  return thawed_.get();
}

// A run that failed leaves nothing.
void Plan::Clear(Frame& frame) {
  for (Tensor& t : frame.slots) t = Tensor();
}

Status Plan::RunSteps(const RunContext& run, Frame& frame, std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  for (size_t i = 0; i < arg_slots_.size(); ++i) {
    if (arg_slots_[i] >= 0) frame.slots[arg_slots_[i]] = std::move(inputs[i]);
  }
  Tensor* const* step_inputs = frame.inputs.data();
  for (const Step& s : steps_) {
    if (run.cancelled && run.cancelled->load(std::memory_order_relaxed)) {
      Clear(frame);
      return Cancelled("the run was cancelled");
    }
    std::span<Tensor> out(frame.slots.data() + s.first_output, static_cast<size_t>(s.num_outputs));
    KernelCall call(run, {step_inputs, s.inputs.size()}, s.last_use, out, s.name);
    if (run.observer) run.observer->Before(s.op, call);
    Status status = s.kernel->Run(call);
    if (run.observer) run.observer->After(s.op, call);
    if (!status.ok()) {
      Clear(frame);
      return std::move(status).AtNode(s.name);
    }
    step_inputs += s.inputs.size();
    for (int32_t i : s.released) frame.slots[i] = Tensor();
  }
  for (size_t i = 0; i < returns_.size(); ++i) {
    if (returns_[i] < 0) outputs[i] = constants_[~returns_[i]];
    else if (return_last_use_[i]) outputs[i] = std::move(frame.slots[returns_[i]]);
    else outputs[i] = frame.slots[returns_[i]];
  }
  for (int32_t slot : returns_) {
    if (slot >= 0) frame.slots[slot] = Tensor();
  }
  return OkStatus();
}

}  // namespace tare
