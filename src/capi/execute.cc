#include <array>

#include "capi/eager.h"

using namespace tare;
using namespace tare::capi;

namespace {

// As many handles as outputs, made one by one; those made so far go when one cannot be.
Status GiveHandles(std::span<Tensor> outputs, TFE_TensorHandle** retvals) {
  size_t made = 0;
  try {
    for (; made < outputs.size(); ++made) retvals[made] = new TFE_TensorHandle{std::move(outputs[made]), nullptr};
  } catch (...) {
    while (made > 0) delete std::exchange(retvals[--made], nullptr);
    throw;
  }
  return OkStatus();
}

Status ExecuteNow(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals) {
  for (auto& [place, promise] : op->promised) {
    TARE_ASSIGN_OR_RETURN(op->op.inputs()[place], promise->Wait());
  }
  op->promised.clear();
  EagerContext& context = op->context->context;
  constexpr int kFew = 4;
  const int room = *num_retvals;
  size_t n = 0;
  if (room <= kFew) {
    std::array<Tensor, kFew> outputs;
    TARE_ASSIGN_OR_RETURN(n, context.ExecuteInLane(op->op, {outputs.data(), static_cast<size_t>(room)}));
    TARE_RETURN_IF_ERROR(GiveHandles({outputs.data(), n}, retvals));
  } else {
    TARE_ASSIGN_OR_RETURN(size_t expected, op->op.CountOutputs());
    if (expected > static_cast<size_t>(room)) {
      return InvalidArgument("Expecting {} outputs, but *num_retvals is {}", expected, room);
    }
    std::vector<Tensor> outputs(expected);
    TARE_ASSIGN_OR_RETURN(n, context.ExecuteInLane(op->op, outputs));
    TARE_RETURN_IF_ERROR(GiveHandles(outputs, retvals));
  }
  *num_retvals = static_cast<int>(n);
  return OkStatus();
}

// An op in a queue: it waits for what it reads, runs, and keeps its promises, with an error if need be.
class QueuedOp final : public Task {
 public:
  QueuedOp(EagerContext& context, EagerOp op, std::vector<std::pair<size_t, Ref<Promise>>> promised,
           std::vector<Ref<Promise>> outputs)
      : context_(context), op_(std::move(op)), promised_(std::move(promised)), outputs_(std::move(outputs)),
        values_(outputs_.size()) {}

  SharedError Run(const SharedError& before, const SharedError& no_memory) noexcept override {
    SharedError error = before;
    if (!error) {
      try {
        Status s = Execute();
        if (!s.ok()) error = std::make_shared<const Status>(std::move(s));
      } catch (...) {
        error = no_memory;
      }
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (error) outputs_[i]->Fail(error);
      else outputs_[i]->Set(std::move(values_[i]));
    }
    return error;
  }

 private:
  Status Execute() {
    for (auto& [place, promise] : promised_) {
      TARE_ASSIGN_OR_RETURN(op_.inputs()[place], promise->Wait());
    }
    return context_.ExecuteInLane(op_, values_).status();
  }

  EagerContext& context_;
  EagerOp op_;
  std::vector<std::pair<size_t, Ref<Promise>>> promised_;
  std::vector<Ref<Promise>> outputs_;
  std::vector<Tensor> values_;
};

Status Enqueue(TFE_Op* op, Executor& executor, TFE_TensorHandle** retvals, int* num_retvals) {
  TARE_ASSIGN_OR_RETURN(std::vector<DType> types, op->op.OutputTypes());
  if (types.size() > static_cast<size_t>(*num_retvals)) {
    return InvalidArgument("Expecting {} outputs, but *num_retvals is {}", types.size(), *num_retvals);
  }
  TARE_ASSIGN_OR_RETURN(EagerOp fresh, EagerOp::Make(op->context->context, op->op.name()));
  std::vector<Ref<Promise>> outputs;
  std::vector<std::unique_ptr<TFE_TensorHandle>> handles;
  for (DType type : types) {
    outputs.push_back(MakeRef<Promise>());
    handles.push_back(std::make_unique<TFE_TensorHandle>(Tensor(type, Shape{}, nullptr, nullptr), outputs.back()));
  }
  executor.Add(std::make_unique<QueuedOp>(op->context->context, std::exchange(op->op, std::move(fresh)),
                                          std::exchange(op->promised, {}), std::move(outputs)));
  for (size_t i = 0; i < handles.size(); ++i) retvals[i] = handles[i].release();
  *num_retvals = static_cast<int>(types.size());
  return OkStatus();
}

}  // namespace

void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(op);
    TARE_CAPI_REQUIRE(num_retvals);
    if (*num_retvals < 0) return InvalidArgument("*num_retvals is {}", *num_retvals);
    if (*num_retvals > 0 && !retvals) return InvalidArgument("retvals is NULL");
    std::fill_n(retvals, *num_retvals, nullptr);
    if (op->context->may_queue.load(std::memory_order_relaxed)) {
      if (Ref<Executor> executor = op->context->ExecutorOfThread()) return Enqueue(op, *executor, retvals, num_retvals);
    }
    return ExecuteNow(op, retvals, num_retvals);
  });
}
