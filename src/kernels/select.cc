// Choosing elements of one tensor or another by a condition.
#include "kernels/broadcast.h"
#include "kernels/registry.h"

namespace tare {
namespace {

template <class T>
void Choose(const void* const* in, void* out, int64_t n, const void*) {
  auto condition = static_cast<const uint8_t*>(in[0]);
  auto yes = static_cast<const T*>(in[1]), no = static_cast<const T*>(in[2]);
  auto to = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = condition[i] ? yes[i] : no[i];
}

// Chooses with broadcasting; every shape broadcasts to `shape`.
Status Choose(KernelCall& c, const Tensor& condition, const Tensor& yes, const Tensor& no, const Shape& shape) {
  DType t = yes.dtype();
  if (IsPlain(t)) {
    return ForSize(t, [&]<class T>() -> Status {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {1, 2}, t, shape));
      const Tensor* in[] = {&condition, &yes, &no};
      RunBlocks(c.threads(), in, *out, {Choose<T>});
      return OkStatus();
    });
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, t, shape));
  BroadcastPlan plan({&condition.shape(), &yes.shape(), &no.shape()}, shape);
  BroadcastCursor at(plan, 3, 0);
  int64_t size = static_cast<int64_t>(DTypeSize(t));
  for (int64_t i = 0, n = shape.num_elements(); i < n; ++i, at.Advance(1)) {
    int from = condition.data<bool>()[at.offset(0)] ? 1 : 2;
    auto source = static_cast<const std::byte*>((from == 1 ? yes : no).raw()) + at.offset(from) * size;
    CopyElements(t, source, static_cast<std::byte*>(out->mutable_raw()) + i * size, 1);
  }
  return OkStatus();
}

Status MustMatch(KernelCall& c, int i) {
  return InvalidArgument("Inputs to operation {} of type {} must have the same size and shape.  "
                         "Input 0: {} != input {}: {}",
                         c.node(), "Select", c.input(0).shape().ToString(), i, c.input(i).shape().ToString());
}

// TensorFlow 1's rules: a scalar condition chooses a tensor whole, a vector chooses rows.
Status Select(KernelCall& c) {
  const Tensor &condition = c.input(0), &yes = c.input(1), &no = c.input(2);
  const Shape& shape = yes.shape();
  if (condition.rank() == 0) {
    if (shape != no.shape()) {
      return InvalidArgument("'then' and 'else' must have the same size.  but received: {} vs. {}",
                             shape.ToString(), no.shape().ToString());
    }
    c.SetOutput(0, c.TakeInput(*condition.data<bool>() ? 1 : 2));
    return OkStatus();
  }
  if (condition.rank() != 1 || shape.rank() == 1) {
    for (int i : {1, 2}) {
      if (c.input(i).shape() != condition.shape()) return MustMatch(c, i);
    }
    return Choose(c, condition, yes, no, shape);
  }
  if (shape.rank() == 0) {
    return InvalidArgument("'then' must be at least a vector, but saw shape: {}", shape.ToString());
  }
  if (shape.dim(0) != condition.dim(0)) {
    return InvalidArgument("Number of batches of 'then' must match size of 'cond', but saw: {} vs. {}", shape.dim(0),
                           condition.dim(0));
  }
  if (shape != no.shape()) {
    return InvalidArgument("'then' and 'else' must have the same size.  but received: {} vs. {}", shape.ToString(),
                           no.shape().ToString());
  }
  Shape a_row_each{condition.dim(0)};
  for (int d = 1; d < shape.rank(); ++d) a_row_each.Append(1);
  return Choose(c, condition.Reshaped(a_row_each), yes, no, shape);
}

Status SelectV2(KernelCall& c) {
  const Tensor &condition = c.input(0), &yes = c.input(1), &no = c.input(2);
  Result<Shape> shape = BroadcastShape(yes.shape(), no.shape());
  if (shape.ok()) shape = BroadcastShape(condition.shape(), *shape);
  if (!shape.ok()) {
    return InvalidArgument("condition {}, then {}, and else {} must be broadcastable", condition.shape().ToString(),
                           yes.shape().ToString(), no.shape().ToString());
  }
  return Choose(c, condition, yes, no, *shape);
}

constexpr KernelRow kRows[] = {
    Op<Select>("Select"),
    Op<SelectV2>("SelectV2"),
};

}  // namespace
extern constinit const KernelFamily kSelectKernels = kRows;
}  // namespace tare
