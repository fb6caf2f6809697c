// Elements in another order along their dimensions: Reverse, ReverseSequence, Roll.
#include "kernels/registry.h"
#include "kernels/strided_copy.h"

namespace tare {
namespace {

// Output 0: input 0 with the dimensions whose bit is set in `reversed` read backwards.
Status ReverseDims(KernelCall& c, unsigned reversed) {
  const Tensor in = c.input(0);
  const Shape& shape = in.shape();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) reversed &= ~(1u << i);
  }
  if (reversed == 0 || shape.num_elements() == 0) {
    c.SetOutput(0, in);
    return OkStatus();
  }
  const auto strides = StridesOf(shape);
  CopyAxes axes;
  int64_t first = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    bool back = reversed >> i & 1;
    if (back) first += (shape[i] - 1) * strides[i];
    axes.Add(shape[i], back ? -strides[i] : strides[i], strides[i]);
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  StridedCopy(c.threads(), in.dtype(), ElementAt(in.dtype(), in.raw(), first), out->mutable_raw(), axes);
  return OkStatus();
}

Status Reverse(KernelCall& c) {
  const Tensor& dims = c.input(1);
  if (c.input(0).rank() > 0 && (dims.rank() != 1 || dims.num_elements() != c.input(0).rank())) {
    return InvalidArgument("'dims' must have the same number of values as 'input' has dimensions. 'input' has {}'dims' has {} values",
                           c.input(0).rank(), dims.num_elements());
  }
  unsigned reversed = 0;
  for (int i = 0; i < c.input(0).rank(); ++i) reversed |= unsigned{dims.data<bool>()[i]} << i;
  return ReverseDims(c, reversed);
}

Status ReverseV2(KernelCall& c) {
  const int rank = c.input(0).rank();
  if (c.input(1).rank() != 1) {
    return InvalidArgument("'axis' must be 1-dimensional, got shape {}", c.input(1).shape().ToString());
  }
  Ints axes(c.input(1));
  unsigned reversed = 0;
  for (size_t k = 0; k < axes.size() && rank > 0; ++k) {
    int64_t axis = axes[k] < 0 ? axes[k] + rank : axes[k];
    if (axis < 0 || axis >= rank) {
      return InvalidArgument("'axis'[{}] = {} is out of valid range [0, {}", k, axes[k], rank - 1);
    }
    if (reversed >> axis & 1) return InvalidArgument("axis {} specified more than once.", axis);
    reversed |= 1u << axis;
  }
  return ReverseDims(c, reversed);
}

struct ReverseSequence {
  explicit ReverseSequence(AttrReader& a) : seq_dim(a.Int("seq_dim")), batch_dim(a.Int("batch_dim")) {}
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    const Shape& shape = in.shape();
    TARE_RETURN_IF_ERROR(Check(shape, c.input(1).shape()));
    Ints lengths(c.input(1));
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] < 0) return InvalidArgument("seq_lens({}) < 0", i);
      if (lengths[i] > shape[static_cast<int>(seq_dim)]) {
        return InvalidArgument("seq_lens({}) > input.dims({})", i, seq_dim);
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
    const auto strides = StridesOf(shape);
    const int seq = static_cast<int>(seq_dim), batch = static_cast<int>(batch_dim);
    for (size_t b = 0; b < lengths.size(); ++b) {
      CopyAxes axes;
      for (int i = 0; i < shape.rank(); ++i) axes.Add(i == batch ? 1 : shape[i], strides[i], strides[i]);
      auto copy = [&](int64_t from, int64_t to) {
        int64_t base = static_cast<int64_t>(b) * strides[batch];
        StridedCopy(c.threads(), in.dtype(), ElementAt(in.dtype(), in.raw(), base + from * strides[seq]),
                    ElementAt(in.dtype(), out->mutable_raw(), base + to * strides[seq]), axes);
      };
      axes.axes[seq] = {lengths[b], -strides[seq], strides[seq]};
      copy(lengths[b] - 1, 0);
      axes.axes[seq] = {shape[seq] - lengths[b], strides[seq], strides[seq]};
      copy(lengths[b], lengths[b]);
    }
    return OkStatus();
  }
  Status Check(const Shape& shape, const Shape& lengths) const {
    if (lengths.rank() != 1) return InvalidArgument("seq_lens input must be 1-dim, not {}", lengths.rank());
    if (batch_dim == seq_dim) return InvalidArgument("batch_dim == seq_dim == {}", seq_dim);
    if (seq_dim < 0 || seq_dim >= shape.rank()) {
      return InvalidArgument("seq_dim must be < input rank ( {} vs. {})", seq_dim, shape.rank());
    }
    if (batch_dim < 0 || batch_dim >= shape.rank()) {
      return InvalidArgument("batch_dim must be < input rank ( {} vs. {})", batch_dim, shape.rank());
    }
    if (lengths[0] != shape[static_cast<int>(batch_dim)]) {
      return InvalidArgument("Length of seq_lens != input.dims({}), ({} vs. {})", batch_dim, lengths[0],
                             shape[static_cast<int>(batch_dim)]);
    }
    return OkStatus();
  }
  int64_t seq_dim, batch_dim;
};

// Copies the box of `axes` with dimensions from `dim` on rolled: each is two pieces that change places.
void RollDims(KernelCall& c, const Tensor& in, Tensor& out, std::span<const int64_t> shifts, int dim, CopyAxes& axes,
              int64_t from, int64_t to) {
  while (dim < in.rank() && shifts[dim] == 0) ++dim;
  if (dim == in.rank()) {
    StridedCopy(c.threads(), in.dtype(), ElementAt(in.dtype(), in.raw(), from),
                ElementAt(in.dtype(), out.mutable_raw(), to), axes);
    return;
  }
  const CopyAxis whole = axes.axes[dim];
  const int64_t shift = shifts[dim], rest = whole.n - shift;
  axes.axes[dim].n = rest;
  RollDims(c, in, out, shifts, dim + 1, axes, from, to + shift * whole.to);
  axes.axes[dim].n = shift;
  RollDims(c, in, out, shifts, dim + 1, axes, from + rest * whole.from, to);
  axes.axes[dim] = whole;
}

Status Roll(KernelCall& c) {
  const Tensor in = c.input(0);
  const Tensor &shift = c.input(1), &axis = c.input(2);
  if (in.rank() < 1) return InvalidArgument("input must be 1-D or higher");
  if (shift.rank() > 1) {
    return InvalidArgument("shift must be a scalar or a 1-D vector. Found: {}", shift.shape().ToString());
  }
  if (axis.rank() > 1) {
    return InvalidArgument("axis must be a scalar or a 1-D vector. Found: {}", axis.shape().ToString());
  }
  if (shift.shape() != axis.shape()) return InvalidArgument("shift and axis must have the same size");
  Ints shifts(shift), dims(axis);
  std::array<int64_t, kMaxRank> total{};
  for (size_t k = 0; k < shifts.size(); ++k) {
    int64_t d = dims[k] < 0 ? dims[k] + in.rank() : dims[k];
    if (d < 0 || d >= in.rank()) return InvalidArgument("axis {} is out of range", dims[k]);
    const int64_t n = std::max<int64_t>(in.dim(static_cast<int>(d)), 1);
    total[d] = ((total[d] + shifts[k] % n) % n + n) % n;
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), in.shape()));
  const auto strides = StridesOf(in.shape());
  CopyAxes axes;
  for (int i = 0; i < in.rank(); ++i) axes.Add(in.dim(i), strides[i], strides[i]);
  RollDims(c, in, *out, total, 0, axes, 0, 0);
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<Reverse>("Reverse"),
    Op<ReverseSequence>("ReverseSequence"),
    Op<ReverseV2>("ReverseV2"),
    Op<Roll>("Roll"),
};

}  // namespace
extern constinit const KernelFamily kReverseKernels = kRows;
}  // namespace tare
