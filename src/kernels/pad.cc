// Tensors made larger: borders of one value or of mirrored elements, repetition, broadcasting.
#include "kernels/registry.h"
#include "kernels/strided_copy.h"

namespace tare {
namespace {

struct Borders {
  Shape in, out;
  std::array<int64_t, kMaxRank> before{}, after{};
  int last = -1;  // the last dimension that has a border
};

Result<Borders> ReadBorders(const Tensor& in, const Tensor& paddings) {
  Borders b{in.shape(), in.shape()};
  if (paddings.rank() != 2 || paddings.dim(1) != 2) {
    return InvalidArgument("paddings must be a matrix with 2 columns: {}", paddings.shape().ToString());
  }
  if (paddings.dim(0) != in.rank()) {
    return InvalidArgument("The first dimension of paddings must be the rank of inputs{} {}",
                           paddings.shape().ToString(), in.shape().ToString());
  }
  Ints sizes(paddings);
  for (int i = 0; i < in.rank(); ++i) {
    int64_t n = in.dim(i);
    b.before[i] = sizes[2 * i];
    b.after[i] = sizes[2 * i + 1];
    if (b.before[i] < 0 || b.after[i] < 0) {
      return InvalidArgument("Paddings must be non-negative: {} {}", b.before[i], b.after[i]);
    }
    if (__builtin_add_overflow(n, b.before[i], &n) || __builtin_add_overflow(n, b.after[i], &n)) {
      return InvalidArgument("the padded size overflows");
    }
    if (n != in.dim(i)) b.last = i;
    b.out.set_dim(i, n);
  }
  TARE_ASSIGN_OR_RETURN(b.out, Shape::Make(b.out.dims()));
  return b;
}

// Writes dimension `d` and those within: border, elements, border. Everything is written once, in order.
template <class T>
struct Padder {
  const Borders& b;
  const T& value;
  std::array<int64_t, kMaxRank> in, out;  // strides
  ThreadPool* threads;

  void Write(int d, const T* from, T* to, bool may_split) const {
    FillRun(value, to, b.before[d] * out[d]);
    T* middle = to + b.before[d] * out[d];
    const int64_t n = b.in[d];
    if (d == b.last) {
      CopyRun(from, middle, n * in[d]);
    } else if (n > 1 && may_split) {
      threads->ParallelFor(n, out[d] / 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) Write(d + 1, from + i * in[d], middle + i * out[d], false);
      });
    } else {
      for (int64_t i = 0; i < n; ++i) Write(d + 1, from + i * in[d], middle + i * out[d], may_split);
    }
    FillRun(value, middle + n * out[d], b.after[d] * out[d]);
  }
};

Status PadWith(KernelCall& c, const void* value) {
  const Tensor in = c.input(0);
  TARE_ASSIGN_OR_RETURN(const Borders b, ReadBorders(in, c.input(1)));
  if (b.last < 0) {
    c.SetOutput(0, in);
    return OkStatus();
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), b.out));
  if (b.out.num_elements() == 0) return OkStatus();
  ForElement(in.dtype(), [&]<class T>() {
    const T zero{};
    Padder<T> padder{b, value ? *static_cast<const T*>(value) : zero, StridesOf(b.in), StridesOf(b.out), &c.threads()};
    padder.Write(0, static_cast<const T*>(in.raw()), static_cast<T*>(out->mutable_raw()), true);
  });
  return OkStatus();
}

Status Pad(KernelCall& c) { return PadWith(c, nullptr); }

Status PadV2(KernelCall& c) {
  if (c.input(2).rank() != 0) {
    return InvalidArgument("constant_values must be a scalar. Found: {}", c.input(2).shape().ToString());
  }
  return PadWith(c, c.input(2).raw());
}

struct MirrorPad {
  explicit MirrorPad(AttrReader& a) : edge(a.String("mode") == "REFLECT" ? 1 : 0) {}
  Status Run(KernelCall& c) const {
    const Tensor in = c.input(0);
    TARE_ASSIGN_OR_RETURN(const Borders b, ReadBorders(in, c.input(1)));
    for (int i = 0; i < in.rank(); ++i) {
      if (std::max(b.before[i], b.after[i]) > in.dim(i) - edge && std::max(b.before[i], b.after[i]) > 0) {
        return InvalidArgument("paddings must be {} the dimension size: {}, {} {} {}",
                               edge ? "less than" : "no greater than", b.before[i], b.after[i],
                               edge ? "not less than" : "greater than", in.dim(i));
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), b.out));
    if (b.out.num_elements() > 0) Mirror(c, in, b, *out);
    return OkStatus();
  }
  // The middle first; then each dimension's borders from what is already there, innermost first.
  void Mirror(KernelCall& c, const Tensor& in, const Borders& b, Tensor& out) const {
    const auto from = StridesOf(b.in), to = StridesOf(b.out);
    CopyAxes axes;
    int64_t middle = 0;
    for (int i = 0; i < in.rank(); ++i) {
      axes.Add(b.in[i], from[i], to[i]);
      middle += b.before[i] * to[i];
    }
    auto at = [&](int64_t i) { return ElementAt(in.dtype(), out.mutable_raw(), i); };
    StridedCopy(c.threads(), in.dtype(), in.raw(), at(middle), axes);
    for (int d = in.rank() - 1; d >= 0; --d) {
      middle -= b.before[d] * to[d];  // where dimension d of the written part begins
      for (int i = 0; i < in.rank(); ++i) axes.axes[i] = {i > d ? b.out[i] : b.in[i], to[i], to[i]};
      const int64_t first = b.before[d], end = first + b.in[d];
      axes.axes[d] = {b.before[d], -to[d], to[d]};
      StridedCopy(c.threads(), in.dtype(), at(middle + (2 * first - 1 + edge) * to[d]), at(middle), axes);
      axes.axes[d].n = b.after[d];
      StridedCopy(c.threads(), in.dtype(), at(middle + (end - 1 - edge) * to[d]), at(middle + end * to[d]), axes);
    }
  }
  int64_t edge;  // 1: the outermost element is not repeated
};

Status Tile(KernelCall& c) {
  const Tensor in = c.input(0);
  const Tensor& multiples = c.input(1);
  if (multiples.rank() != 1) {
    return InvalidArgument("Expected multiples to be 1-D, but got shape {}", multiples.shape().ToString());
  }
  if (multiples.num_elements() != in.rank()) {
    return InvalidArgument("Expected multiples argument to be a vector of length {} but got length {}", in.rank(),
                           multiples.num_elements());
  }
  Ints times(multiples);
  Shape shape = in.shape();
  bool same = true;
  for (int i = 0; i < in.rank(); ++i) {
    if (times[i] < 0) return InvalidArgument("Expected multiples[{}] >= 0, but got {}", i, times[i]);
    int64_t n;
    if (__builtin_mul_overflow(shape[i], times[i], &n)) return InvalidArgument("the tiled size overflows");
    shape.set_dim(i, n);
    same &= times[i] == 1;
  }
  TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
  if (same) {
    c.SetOutput(0, in);
    return OkStatus();
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  const auto from = StridesOf(in.shape()), to = StridesOf(shape);
  CopyAxes axes;
  for (int i = 0; i < in.rank(); ++i) {
    axes.Add(times[i], 0, in.dim(i) * to[i]);
    axes.Add(in.dim(i), from[i], to[i]);
  }
  StridedCopy(c.threads(), in.dtype(), in.raw(), out->mutable_raw(), axes);
  return OkStatus();
}

Status BroadcastTo(KernelCall& c) {
  const Tensor in = c.input(0);
  const Tensor& wanted = c.input(1);
  if (wanted.rank() != 1) {
    return InvalidArgument("shape must be a vector of {{int32,int64}}, got shape {}", wanted.shape().ToString());
  }
  Ints dims(wanted);
  for (int64_t d : dims) {
    if (d < 0) return InvalidArgument("Dimension {} must be >= 0", d);
  }
  TARE_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  if (in.shape() == shape) {
    c.SetOutput(0, in);
    return OkStatus();
  }
  if (in.rank() > shape.rank()) {
    return InvalidArgument("Rank of input ({}) must be no greater than rank of output shape ({}).", in.rank(),
                           shape.rank());
  }
  auto broadcast = BroadcastShape(in.shape(), shape);
  if (!broadcast.ok() || *broadcast != shape) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", in.shape().ToString(), shape.ToString());
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  StridedCopy(c.threads(), in.dtype(), in.raw(), out->mutable_raw(), BroadcastAxes(in.shape(), shape));
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<BroadcastTo>("BroadcastTo"),
    Op<MirrorPad>("MirrorPad"),
    Op<Pad>("Pad"),
    Op<PadV2>("PadV2"),
    Op<Tile>("Tile"),
};

}  // namespace
extern constinit const KernelFamily kPadKernels = kRows;
}  // namespace tare
