#include "plan/control_flow.h"

namespace tare {
namespace {

// TensorFlow's rule: a scalar is true when it is not zero or empty, any other tensor when it has elements.
Result<bool> Truth(const Tensor& t) {
  if (t.rank() != 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kString) return !t.scalar<StringCell>().view().empty();
  bool truth = false;
  TARE_RETURN_IF_ERROR(ForType(Join<Reals, Types<bool>>{}, t.dtype(), [&]<class T>() {
    truth = t.scalar<T>() != T(0);
    return OkStatus();
  }));
  return truth;
}

// Copies share buffers; plans move from what they are given.
std::vector<Tensor> Inputs(KernelCall& c, int first) {
  std::vector<Tensor> inputs;
  for (int i = first; i < c.num_inputs(); ++i) inputs.push_back(c.TakeInput(i));
  return inputs;
}

class BranchKernel final : public Kernel {
 public:
  BranchKernel(bool is_case, std::vector<const Plan*> branches) : is_case_(is_case), branches_(std::move(branches)) {}

  Status Run(KernelCall& c) const override {
    size_t branch;
    if (is_case_) {
      if (c.input(0).num_elements() != 1) {
        return InvalidArgument("the branch index must be a scalar, got shape {}", c.input(0).shape().ToString());
      }
      int32_t i = c.input(0).scalar<int32_t>();
      branch = i < 0 || static_cast<size_t>(i) >= branches_.size() ? branches_.size() - 1 : static_cast<size_t>(i);
    } else {
      TARE_ASSIGN_OR_RETURN(bool truth, Truth(c.input(0)));
      branch = truth ? 1 : 0;
    }
    std::vector<Tensor> inputs = Inputs(c, 1), outputs(static_cast<size_t>(c.num_outputs()));
    TARE_RETURN_IF_ERROR(branches_[branch]->Run(c.run(), inputs, outputs));
    for (size_t i = 0; i < outputs.size(); ++i) c.SetOutput(static_cast<int>(i), std::move(outputs[i]));
    return OkStatus();
  }
  size_t bytes() const override { return sizeof *this + branches_.size() * sizeof(Plan*); }

 private:
  const bool is_case_;
  const std::vector<const Plan*> branches_;
};

class WhileKernel final : public Kernel {
 public:
  WhileKernel(const Plan* condition, const Plan* body) : condition_(condition), body_(body) {}

  Status Run(KernelCall& c) const override {
    std::vector<Tensor> vars = Inputs(c, 0), scratch(vars.size());
    for (;;) {
      if (c.cancelled()) return Cancelled("the run was cancelled");
      scratch = vars;
      Tensor go_on;
      TARE_RETURN_IF_ERROR(condition_->Run(c.run(), scratch, {&go_on, 1}));
      for (Tensor& t : scratch) t = Tensor();  // the body may then write its variables in place
      TARE_ASSIGN_OR_RETURN(bool truth, Truth(go_on));
      if (!truth) break;
      TARE_RETURN_IF_ERROR(body_->Run(c.run(), vars, scratch));
      vars.swap(scratch);
    }
    for (size_t i = 0; i < vars.size(); ++i) c.SetOutput(static_cast<int>(i), std::move(vars[i]));
    return OkStatus();
  }
  size_t bytes() const override { return sizeof *this; }

 private:
  const Plan* const condition_;
  const Plan* const body_;
};

}  // namespace

KernelPtr MakeBranchKernel(Region* region, bool is_case, std::vector<const Plan*> branches) {
  return KernelPtr(region->New<BranchKernel>(is_case, std::move(branches)), KernelDeleter{true});
}

KernelPtr MakeWhileKernel(Region* region, const Plan* condition, const Plan* body) {
  return KernelPtr(region->New<WhileKernel>(condition, body), KernelDeleter{true});
}

}  // namespace tare
