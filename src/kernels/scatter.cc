// Elements and runs written by index into a new tensor or a changed one. (Variables: scatter_variable.cc.)
#include "kernels/accumulate.h"
#include "kernels/nd_index.h"
#include "kernels/registry.h"

namespace tare {
namespace {

enum class Mode { kUpdate, kAdd, kSub, kMin, kMax };

// Runs of updates put where `offsets` say, in order.
struct Writes {
  std::span<const int64_t> offsets;  // -1: none
  int64_t run;
  const Tensor& updates;

  template <class T, class F>
  void Each(T* to, F step) const {
    const T* from = static_cast<const T*>(updates.raw());
    for (int64_t at : offsets) {
      if (at >= 0) {
        for (int64_t i = 0; i < run; ++i) step(to[at + i], from[i]);
      }
      from += run;
    }
  }
};

template <class Step, class Ts>
Status Combine(const Writes& w, Tensor& to) {
  return ForType(Ts{}, to.dtype(), [&]<class T>() {
    w.Each(to.mutable_data<T>(), [](T& a, const T& b) { a = Step::Do(a, b); });
    return OkStatus();
  });
}

Status Update(const Writes& w, Tensor& to) {
  ForElement(to.dtype(), [&]<class T>() {
    w.Each(static_cast<T*>(to.mutable_raw()), [](T& a, const T& b) { PutElement(a, b); });
  });
  return OkStatus();
}

Status Apply(Mode mode, const Writes& w, Tensor& to) {
  switch (mode) {
    case Mode::kUpdate: return Update(w, to);
    case Mode::kSub: return Combine<SubStep, Numbers>(w, to);
    case Mode::kMin: return Combine<MinStep, Reals>(w, to);
    case Mode::kMax: return Combine<MaxStep, Reals>(w, to);
    case Mode::kAdd: break;
  }
  if (to.dtype() != DType::kString) return Combine<AddStep, Join<Numbers, Types<bool>>>(w, to);
  w.Each(to.mutable_data<StringCell>(), [](StringCell& a, const StringCell& b) {
    a.Assign(std::string(a.view()).append(b.view()));
  });
  return OkStatus();
}

// Checks that `updates` holds a run for each index of `indices` into `shape`.
Status CheckNd(const Tensor& indices, const Tensor& updates, const Shape& shape) {
  if (indices.rank() < 1) {
    return InvalidArgument("Indices shape must have rank at least one. Found:{}", indices.shape().ToString());
  }
  if (updates.rank() < 1) {
    return InvalidArgument("Updates shape must have rank at least one. Found:{}", updates.shape().ToString());
  }
  const int outer = indices.rank() - 1;
  const int64_t depth = indices.dim(outer);
  // An index of no parts would name all of the output at once; TensorFlow does not take it.
  const bool names_nothing = indices.num_elements() == 0 && updates.num_elements() > 0;
  if (names_nothing || (shape.num_elements() == 0 && (indices.num_elements() > 0 || updates.num_elements() > 0))) {
    return InvalidArgument("Indices and updates specified for empty output.  indices shape: {}",
                           indices.shape().ToString());
  }
  if (depth > shape.rank()) {
    return InvalidArgument("The innermost dimension of indices, {}, must be <= the rank of the output, {}", depth,
                           shape.rank());
  }
  bool fits = updates.rank() == outer + shape.rank() - depth;
  for (int i = 0; fits && i < updates.rank(); ++i) {
    fits = updates.dim(i) == (i < outer ? indices.dim(i) : shape[i - outer + static_cast<int>(depth)]);
  }
  if (fits) return OkStatus();
  return InvalidArgument("Must have updates.shape = indices.shape[:-1] + shape[{}:], got updates.shape {}, indices.shape {}, shape {}",
                         depth, updates.shape().ToString(), indices.shape().ToString(), shape.ToString());
}

Status ScatterNdInto(KernelCall& c, Mode mode, const Tensor& indices, const Tensor& updates, BadIndices policy,
                     Tensor& to) {
  if (to.num_elements() == 0) return OkStatus();
  TARE_ASSIGN_OR_RETURN(const NdOffsets at, ResolveNd(c, indices, to.shape(), policy, "shape"));
  return Apply(mode, {at.values(), at.run, updates}, to);
}

struct ScatterNd {
  explicit ScatterNd(AttrReader& a) : policy(ReadBadIndicesPolicy(a)) {}
  Status Run(KernelCall& c) const {
    const Tensor &indices = c.input(0), &updates = c.input(1);
    if (c.input(2).rank() != 1) return InvalidArgument("Shape must be a vector");
    TARE_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Ints(c.input(2))));
    TARE_RETURN_IF_ERROR(CheckNd(indices, updates, shape));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, updates.dtype(), shape));
    ZeroElements(updates.dtype(), out->mutable_raw(), shape.num_elements());
    return ScatterNdInto(c, Mode::kAdd, indices, updates, policy, *out);
  }
  BadIndices policy;
};

// A copy of input 0, changed: in its own memory where nobody else needs it.
template <Mode kMode>
struct TensorScatter {
  explicit TensorScatter(AttrReader& a) : policy(ReadBadIndicesPolicy(a)) {}
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    TARE_RETURN_IF_ERROR(CheckNd(c.input(1), c.input(2), in.shape()));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {0}, in.dtype(), in.shape()));
    if (out->raw() != in.raw()) {
      CopyElements(in.dtype(), in.raw(), out->mutable_raw(), static_cast<size_t>(in.num_elements()));
    }
    return ScatterNdInto(c, kMode, c.input(1), c.input(2), policy, *out);
  }
  BadIndices policy;
};

constexpr KernelRow kRows[] = {
    Op<ScatterNd>("ScatterNd"),
    Op<TensorScatter<Mode::kAdd>>("ScatterNdNonAliasingAdd"),
    Op<TensorScatter<Mode::kAdd>>("TensorScatterAdd"),
    Op<TensorScatter<Mode::kMax>>("TensorScatterMax"),
    Op<TensorScatter<Mode::kMin>>("TensorScatterMin"),
    Op<TensorScatter<Mode::kSub>>("TensorScatterSub"),
    Op<TensorScatter<Mode::kUpdate>>("TensorScatterUpdate"),
};

}  // namespace
extern constinit const KernelFamily kScatterKernels = kRows;
}  // namespace tare
