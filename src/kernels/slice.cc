// Slices: taking a box of elements out of a tensor, and putting one in.
#include "kernels/registry.h"
#include "kernels/slice_spec.h"
#include "resource/variable.h"

namespace tare {
namespace {

// Output 0: the selected elements. Side by side, they share the input's bytes.
Status TakeSlice(KernelCall& c, const SliceSpec& spec) {
  const Tensor in = c.input(0);
  if (!spec.empty() && spec.contiguous()) {
    int64_t at = spec.offset();
    Tensor piece = in.Reshaped(Shape{in.num_elements()}).Rows(at, at + spec.out.num_elements());
    c.SetOutput(0, piece.Reshaped(spec.out));
    return OkStatus();
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), spec.out));
  if (spec.empty()) return OkStatus();
  StridedCopy(c.threads(), in.dtype(), ElementAt(in.dtype(), in.raw(), spec.offset()), out->mutable_raw(), spec.Axes());
  return OkStatus();
}

// Writes `value`, broadcast to the slice's shape, into the selected elements of `to`.
Status PutSlice(KernelCall& c, const SliceSpec& spec, const Tensor& value, Tensor& to) {
  Tensor whole = value;
  while (whole.rank() > spec.out.rank() && whole.dim(0) == 1) {
    Shape fewer = whole.shape();
    fewer.Remove(0);
    whole = whole.Reshaped(fewer);
  }
  auto broadcast = BroadcastShape(spec.out, whole.shape());
  if (!broadcast.ok() || *broadcast != spec.out) {
    return InvalidArgument("Expected value shape {} to be broadcastable to the slice's shape {}",
                           value.shape().ToString(), spec.out.ToString());
  }
  if (spec.empty()) return OkStatus();
  if (whole.num_elements() != spec.out.num_elements()) {
    const Tensor part = whole;
    TARE_ASSIGN_OR_RETURN(whole, c.Temp(value.dtype(), spec.out));
    StridedCopy(c.threads(), value.dtype(), part.raw(), whole.mutable_raw(), BroadcastAxes(part.shape(), spec.out));
  }
  CopyAxes axes = spec.Axes();
  for (int i = 0; i < axes.size; ++i) std::swap(axes.axes[i].from, axes.axes[i].to);
  StridedCopy(c.threads(), to.dtype(), whole.raw(), ElementAt(to.dtype(), to.mutable_raw(), spec.offset()), axes);
  return OkStatus();
}

// Output 0: a copy of input 0 with `value` put into the slice; in place where nobody else needs the input.
Status ReplaceSlice(KernelCall& c, const SliceSpec& spec, const Tensor& value) {
  const Tensor* in = &c.input(0);
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {0}, in->dtype(), in->shape()));
  if (out->raw() != in->raw()) {
    CopyElements(in->dtype(), in->raw(), out->mutable_raw(), static_cast<size_t>(in->num_elements()));
  }
  return PutSlice(c, spec, value, *out);
}

Status Slice(KernelCall& c) {
  const Shape& in = c.input(0).shape();
  if (c.input(1).rank() != 1 || c.input(2).rank() != 1 || c.input(1).num_elements() != in.rank() ||
      c.input(2).num_elements() != in.rank()) {
    return InvalidArgument(
        "Expected begin and size arguments to be 1-D tensors of size {}, but got shapes {} and {} instead.", in.rank(),
        c.input(1).shape().ToString(), c.input(2).shape().ToString());
  }
  Ints begin(c.input(1)), size(c.input(2));
  SliceSpec spec(in);
  for (int i = 0; i < in.rank(); ++i) {
    int64_t n = size[i] == -1 ? in[i] - std::max<int64_t>(begin[i], 0) : size[i];
    if (begin[i] < 0 || begin[i] > in[i]) {
      return InvalidArgument("Expected begin[{}] in [0, {}], but got {}", i, in[i], begin[i]);
    }
    if (n < 0 || n > in[i] - begin[i]) {
      return InvalidArgument("Expected size[{}] in [0, {}], but got {}", i, in[i] - begin[i], n);
    }
    spec.dims[i] = {begin[i], 1, n};
    spec.out.set_dim(i, n);
  }
  return TakeSlice(c, spec);
}

struct StridedSlice {
  explicit StridedSlice(AttrReader& a) : masks(a) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(SliceSpec spec,
                          SliceSpec::Make(masks, c.input(1), c.input(2), c.input(3), c.input(0).shape()));
    return TakeSlice(c, spec);
  }
  SliceMasks masks;
};

struct StridedSliceGrad {
  explicit StridedSliceGrad(AttrReader& a) : masks(a) {}
  Status Run(KernelCall& c) const {
    if (c.input(0).rank() != 1) {
      return InvalidArgument("shape must be 1-D, got shape.shape = {}", c.input(0).shape().ToString());
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(Ints(c.input(0))));
    TARE_ASSIGN_OR_RETURN(SliceSpec spec, SliceSpec::Make(masks, c.input(1), c.input(2), c.input(3), shape));
    const Tensor& dy = c.input(4);
    if (dy.shape() != spec.out) {
      return InvalidArgument("shape of dy was {} instead of {}", dy.shape().ToString(), spec.out.ToString());
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dy.dtype(), shape));
    ZeroElements(dy.dtype(), out->mutable_raw(), shape.num_elements());
    return PutSlice(c, spec, dy, *out);
  }
  SliceMasks masks;
};

struct TensorStridedSliceUpdate {
  explicit TensorStridedSliceUpdate(AttrReader& a) : masks(a) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(SliceSpec spec,
                          SliceSpec::Make(masks, c.input(1), c.input(2), c.input(3), c.input(0).shape()));
    return ReplaceSlice(c, spec, c.input(4));
  }
  SliceMasks masks;
};

struct ResourceStridedSliceAssign {
  explicit ResourceStridedSliceAssign(AttrReader& a) : masks(a) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
    if (v->dtype() != c.input(4).dtype()) {
      return InvalidArgument("variable {} is of dtype {}, the value of {}", v->name(), DTypeName(v->dtype()),
                             DTypeName(c.input(4).dtype()));
    }
    return v->Update(c.run().account, [&](Tensor& to) -> Status {
      TARE_ASSIGN_OR_RETURN(SliceSpec spec, SliceSpec::Make(masks, c.input(1), c.input(2), c.input(3), to.shape()));
      return PutSlice(c, spec, c.input(4), to);
    });
  }
  SliceMasks masks;
};

// The box of shape `size` at `start`, moved inwards where it would stick out, as XLA does.
Result<SliceSpec> ClampedBox(const Shape& in, const Tensor& start, std::span<const int64_t> size) {
  if (start.rank() != 1 || start.num_elements() != in.rank() || static_cast<int>(size.size()) != in.rank()) {
    return InvalidArgument("start indices of shape {} and a box of rank {} do not fit an input of rank {}",
                           start.shape().ToString(), size.size(), in.rank());
  }
  Ints first(start);
  SliceSpec spec(in);
  for (int i = 0; i < in.rank(); ++i) {
    if (size[i] < 0 || size[i] > in[i]) {
      return InvalidArgument("size {} of dimension {} is not in [0, {}]", size[i], i, in[i]);
    }
    spec.dims[i] = {std::clamp<int64_t>(first[i], 0, in[i] - size[i]), 1, size[i]};
    spec.out.set_dim(i, size[i]);
  }
  return spec;
}

Status XlaDynamicSlice(KernelCall& c) {
  if (c.input(2).rank() != 1) return InvalidArgument("size_indices must be a vector");
  TARE_ASSIGN_OR_RETURN(SliceSpec spec, ClampedBox(c.input(0).shape(), c.input(1), Ints(c.input(2))));
  return TakeSlice(c, spec);
}

Status XlaDynamicUpdateSlice(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(SliceSpec spec, ClampedBox(c.input(0).shape(), c.input(2), c.input(1).shape().dims()));
  return ReplaceSlice(c, spec, c.input(1));
}

constexpr KernelRow kRows[] = {
    Op<ResourceStridedSliceAssign>("ResourceStridedSliceAssign", kStateful),
    Op<Slice>("Slice"),
    Op<StridedSlice>("StridedSlice"),
    Op<StridedSliceGrad>("StridedSliceGrad"),
    Op<TensorStridedSliceUpdate>("TensorStridedSliceUpdate"),
    Op<XlaDynamicSlice>("XlaDynamicSlice"),
    Op<XlaDynamicUpdateSlice>("XlaDynamicUpdateSlice"),
};

}  // namespace
extern constinit const KernelFamily kSliceKernels = kRows;
}  // namespace tare
