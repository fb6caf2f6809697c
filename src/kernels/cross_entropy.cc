// Cross-entropy between softmax(logits) and labels, with the gradient towards the logits.
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "kernels/softmax.h"
#include "math/vector_math.h"

namespace tare {
namespace {

// A tensor's values in the type that arithmetic on them uses, of a shape it broadcasts to.
template <class T>
Result<Tensor> ForArithmetic(KernelCall& c, const Tensor& t, const Shape& shape) {
  using L = internal::LoopType<T>;
  TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(DTypeOf<L>::value, shape));
  const Tensor* in = &t;
  RunBlocks(c.threads(), {&in, 1}, out,
            {[](const void* const* from, void* to, int64_t n, const void*) {
               std::copy_n(static_cast<const L*>(from[0]), n, static_cast<L*>(to));
             },
             nullptr, 1, true});
  return out;
}

// Both ops once labels are a matrix or a class a row: `row_loss(r, log_softmax)` gives a row's loss, and
// turns `gradient`, softmax so far, into the gradient.
template <class T, class F>
Status LossAndGradient(KernelCall& c, const Tensor& logits, F row_loss) {
  using L = internal::LoopType<T>;
  int64_t rows = logits.dim(0), n = logits.dim(1);
  TARE_ASSIGN_OR_RETURN(Tensor logs, c.Temp(logits.dtype(), logits.shape()));
  SoftmaxRows<true>(c.threads(), logits.data<L>(), logs.mutable_data<L>(), rows, n);
  TARE_ASSIGN_OR_RETURN(Tensor gradient, c.Temp(logits.dtype(), logits.shape()));
  SoftmaxRows<false>(c.threads(), logits.data<L>(), gradient.mutable_data<L>(), rows, n);
  TARE_ASSIGN_OR_RETURN(Tensor * loss, c.Output(0, DTypeOf<T>::value, Shape{rows}));
  for (int64_t r = 0; r < rows; ++r) {
    loss->mutable_data<T>()[r] = T(row_loss(r, logs.data<L>() + r * n, gradient.mutable_data<L>() + r * n));
  }
  TARE_ASSIGN_OR_RETURN(Tensor * backprop, c.Output(1, DTypeOf<T>::value, logits.shape()));
  std::ranges::copy(gradient.as<L>(), backprop->mutable_data<T>());
  return OkStatus();
}

Status SoftmaxCrossEntropy(KernelCall& c) {
  const Tensor &features = c.input(0), &labels = c.input(1);
  Result<Shape> shape = BroadcastShape(features.shape(), labels.shape());
  if (!shape.ok()) {
    return InvalidArgument("logits and labels must be broadcastable: logits_size={} labels_size={}",
                           features.shape().ToString(), labels.shape().ToString());
  }
  if (shape->rank() != 2) {
    return InvalidArgument("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  }
  return ForType(Floats{}, features.dtype(), [&]<class T>() -> Status {
    using L = internal::LoopType<T>;
    TARE_ASSIGN_OR_RETURN(Tensor logits, ForArithmetic<T>(c, features, *shape));
    TARE_ASSIGN_OR_RETURN(Tensor wanted, ForArithmetic<T>(c, labels, *shape));
    int64_t n = shape->dim(1);
    return LossAndGradient<T>(c, logits, [&](int64_t r, const L* logs, L* gradient) {
      const L* label = wanted.data<L>() + r * n;
      L loss = 0;
      for (int64_t i = 0; i < n; ++i) {
        loss -= label[i] * logs[i];
        gradient[i] -= label[i];
      }
      return loss;
    });
  });
}

Status CheckClasses(const Tensor& logits, const Tensor& labels, std::span<const int64_t> classes) {
  if (logits.rank() != 2) return InvalidArgument("logits must be 2-D, but got shape {}", logits.shape().ToString());
  if (labels.rank() != 1) return InvalidArgument("labels must be 1-D, but got shape {}", labels.shape().ToString());
  if (logits.dim(0) != labels.dim(0)) {
    return InvalidArgument("logits and labels must have the same first dimension, got logits shape {} and "
                           "labels shape {}", logits.shape().ToString(), labels.shape().ToString());
  }
  if (logits.dim(1) == 0) {
    return InvalidArgument("Must have at least one class, but got logits shape {}", logits.shape().ToString());
  }
  for (int64_t k : classes) {
    if (k < 0 || k >= logits.dim(1)) {
      return InvalidArgument("Received a label value of {} which is outside the valid range of [0, {}).", k,
                             logits.dim(1));
    }
  }
  return OkStatus();
}

Status SparseSoftmaxCrossEntropy(KernelCall& c) {
  const Tensor &features = c.input(0), &labels = c.input(1);
  std::vector<int64_t> space(labels.num_elements());
  TARE_ASSIGN_OR_RETURN(auto classes, IntValues(labels, space));
  TARE_RETURN_IF_ERROR(CheckClasses(features, labels, classes));
  return ForType(Floats{}, features.dtype(), [&]<class T>() -> Status {
    using L = internal::LoopType<T>;
    TARE_ASSIGN_OR_RETURN(Tensor logits, ForArithmetic<T>(c, features, features.shape()));
    return LossAndGradient<T>(c, logits, [&](int64_t r, const L* logs, L* gradient) {
      gradient[classes[r]] -= 1;
      return -logs[classes[r]];
    });
  });
}

constexpr KernelRow kRows[] = {
    Op<SoftmaxCrossEntropy>("SoftmaxCrossEntropyWithLogits"),
    Op<SparseSoftmaxCrossEntropy>("SparseSoftmaxCrossEntropyWithLogits"),
};

}  // namespace
extern constinit const KernelFamily kCrossEntropyKernels = kRows;
}  // namespace tare
