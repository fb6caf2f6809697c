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
    const Result<Tensor>& value = promise->Wait();
    if (!value.ok()) return value.status();
    op->op.inputs()[place] = *value;
  }
  op->promised.clear();
  EagerContext& context = op->context->context;
  constexpr int kFew = 4;
  const int room = *num_retvals;
  size_t n = 0;
  if (room <= kFew) {
    std::array<Tensor, kFew> outputs;
    TARE_ASSIGN_OR_RETURN(n, context.Execute(op->op, context.run_context(), {outputs.data(), static_cast<size_t>(room)}));
    TARE_RETURN_IF_ERROR(GiveHandles({outputs.data(), n}, retvals));
  } else {
    TARE_ASSIGN_OR_RETURN(size_t expected, op->op.CountOutputs());
    if (expected > static_cast<size_t>(room)) {
      return InvalidArgument("Expecting {} outputs, but *num_retvals is {}", expected, room);
    }
    std::vector<Tensor> outputs(expected);
    TARE_ASSIGN_OR_RETURN(n, context.Execute(op->op, context.run_context(), outputs));
    TARE_RETURN_IF_ERROR(GiveHandles(outputs, retvals));
  }
  *num_retvals = static_cast<int>(n);
  return OkStatus();
}

// An op in a queue: it waits for what it reads, runs, and keeps its promises, with an error if need be.
struct QueuedOp {
  EagerContext* context;
  EagerOp op;
  std::vector<std::pair<size_t, Ref<Promise>>> promised;
  std::vector<Ref<Promise>> outputs;

  Status Run(const Status& error) {
    std::vector<Tensor> values(outputs.size());
    Status status = error.ok() ? Execute(values) : error;
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i]->Set(status.ok() ? Result<Tensor>(std::move(values[i])) : Result<Tensor>(status));
    }
    outputs.clear();
    return status;
  }

 private:
  Status Execute(std::span<Tensor> values) {
    try {
      for (auto& [place, promise] : promised) {
        const Result<Tensor>& value = promise->Wait();
        if (!value.ok()) return value.status();
        op.inputs()[place] = *value;
      }
      return context->Execute(op, context->run_context(), values).status();
    } catch (const std::bad_alloc&) {
      return ResourceExhausted("out of memory");
    }
  }
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
    handles.emplace_back(new TFE_TensorHandle{Tensor(type, Shape{}, nullptr, nullptr), outputs.back()});
  }
  auto queued = std::make_shared<QueuedOp>(&op->context->context, std::exchange(op->op, std::move(fresh)),
                                           std::exchange(op->promised, {}), std::move(outputs));
  executor.Add([queued](const Status& error) { return queued->Run(error); });
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
