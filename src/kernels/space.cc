// Blocks of space moved into the batch or depth dimension, and back.
#include <limits>

#include "kernels/registry.h"
#include "kernels/strided_copy.h"

namespace tare {
namespace {

// Block sizes and the paddings or crops of SpaceToBatch and BatchToSpace, one a spatial dimension: those
// after the first.
struct Blocks {
  int n = 0;
  std::array<int64_t, kMaxRank> size, before, after;

  static Result<Blocks> Read(const Tensor& block_shape, const Tensor& edges, std::string_view edges_name, int rank) {
    if (block_shape.rank() != 1) {
      return InvalidArgument("block_shape rank should be 1 instead of {}", block_shape.rank());
    }
    const int64_t n = block_shape.num_elements();
    if (n + 1 > rank) return InvalidArgument("input rank should be >= {} instead of {}", n + 1, rank);
    return Of(Ints(block_shape), edges, edges_name);
  }
  static Result<Blocks> Of(std::span<const int64_t> sizes, const Tensor& edges, std::string_view edges_name) {
    Blocks b;
    b.n = static_cast<int>(sizes.size());
    if (edges.rank() != 2 || edges.dim(0) != b.n || edges.dim(1) != 2) {
      return InvalidArgument("{} should have shape [{}, 2] instead of {}", edges_name, b.n, edges.shape().ToString());
    }
    Ints edge(edges);
    for (int i = 0; i < b.n; ++i) {
      b.size[i] = sizes[i];
      b.before[i] = edge[2 * i];
      b.after[i] = edge[2 * i + 1];
      if (b.size[i] < 1) {
        return InvalidArgument("All values in block_shape must be positive, got value, {} at index {}.", b.size[i], i);
      }
      if (b.before[i] < 0 || b.after[i] < 0) return InvalidArgument("{} must be non-negative", edges_name);
    }
    return b;
  }
};

// Copies between `space`, whose spatial dimensions were padded by `b.before` and cut into blocks, and
// `batches`, where each position in a block is a batch of its own. The padding is not written.
void MoveBlocks(KernelCall& c, const Blocks& b, const Tensor& from, Tensor& to, const Shape& space,
                const Shape& batches, bool to_batches) {
  const auto near = StridesOf(space), far = StridesOf(batches);
  const int64_t batch = space[0];
  int64_t positions = 1;
  for (int i = 0; i < b.n; ++i) positions *= b.size[i];
  for (int64_t p = 0; p < positions; ++p) {
    CopyAxes axes;
    auto add = [&](int64_t n, int64_t in_space, int64_t in_batches) {
      if (to_batches) axes.Add(n, in_space, in_batches);
      else axes.Add(n, in_batches, in_space);
    };
    add(batch, near[0], far[0]);
    int64_t at_space = 0, at_batches = p * batch * far[0];
    int64_t position = p;
    for (int i = b.n - 1; i >= 0; --i) {
      const int64_t offset = position % b.size[i];
      position /= b.size[i];
      // Block j holds row j * size + offset - before of the unpadded input.
      const int64_t first = std::max<int64_t>(0, (b.before[i] - offset + b.size[i] - 1) / b.size[i]);
      const int64_t last = b.before[i] + space[i + 1] - 1 - offset;
      const int64_t n = last < 0 ? 0 : std::min(last / b.size[i] + 1, batches[i + 1]) - first;
      at_space += (first * b.size[i] + offset - b.before[i]) * near[i + 1];
      at_batches += first * far[i + 1];
      add(n, b.size[i] * near[i + 1], far[i + 1]);
    }
    const int64_t inner = space.product(b.n + 1, space.rank());
    add(inner, 1, 1);
    if (std::ranges::any_of(std::span<const CopyAxis>(axes), [](const CopyAxis& a) { return a.n <= 0; })) continue;
    StridedCopy(c.threads(), from.dtype(), ElementAt(from.dtype(), from.raw(), to_batches ? at_space : at_batches),
                ElementAt(to.dtype(), to.mutable_raw(), to_batches ? at_batches : at_space), axes);
  }
}

Status ToBatches(KernelCall& c, const Blocks& b) {
  const Tensor& in = c.input(0);
  Shape shape = in.shape();
  int64_t batch = in.dim(0);
  for (int i = 0; i < b.n; ++i) {
    int64_t padded;
    if (__builtin_add_overflow(b.before[i], b.after[i], &padded) ||
        __builtin_add_overflow(padded, in.dim(i + 1), &padded) || __builtin_mul_overflow(batch, b.size[i], &batch)) {
      return InvalidArgument("SpaceToBatch: the result's size overflows");
    }
    if (padded % b.size[i] != 0) {
      return InvalidArgument("padded_shape[{}]={} is not divisible by block_shape[{}]={}", i, padded, i, b.size[i]);
    }
    shape.set_dim(i + 1, padded / b.size[i]);
  }
  shape.set_dim(0, batch);
  TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  ZeroElements(in.dtype(), out->mutable_raw(), shape.num_elements());
  if (shape.num_elements() > 0) MoveBlocks(c, b, in, *out, in.shape(), shape, true);
  return OkStatus();
}

Status FromBatches(KernelCall& c, const Blocks& b) {
  const Tensor& in = c.input(0);
  Shape shape = in.shape();
  int64_t positions = 1;
  for (int i = 0; i < b.n; ++i) {
    int64_t whole;
    if (__builtin_mul_overflow(positions, b.size[i], &positions) ||
        __builtin_mul_overflow(in.dim(i + 1), b.size[i], &whole)) {
      return InvalidArgument("BatchToSpace: the result's size overflows");
    }
    if (b.before[i] > whole || b.after[i] > whole - b.before[i]) {
      return InvalidArgument("cropped_shape[{}]={} must be non-negative", i, whole - b.before[i] - b.after[i]);
    }
    shape.set_dim(i + 1, whole - b.before[i] - b.after[i]);
  }
  if (in.dim(0) % positions != 0) {
    return InvalidArgument("Input batch dimension ({}) is not divisible by product of block sizes ({})", in.dim(0),
                           positions);
  }
  shape.set_dim(0, in.dim(0) / positions);
  TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  if (shape.num_elements() > 0) MoveBlocks(c, b, in, *out, shape, in.shape(), false);
  return OkStatus();
}

Status SpaceToBatchNd(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(const Blocks b, Blocks::Read(c.input(1), c.input(2), "Paddings", c.input(0).rank()));
  return ToBatches(c, b);
}

Status BatchToSpaceNd(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(const Blocks b, Blocks::Read(c.input(1), c.input(2), "Crops", c.input(0).rank()));
  return FromBatches(c, b);
}

// The old forms for images: height and width, one block size.
struct SpaceToBatch {
  explicit SpaceToBatch(AttrReader& a) : block{a.Int("block_size"), a.Int("block_size")} {}
  Status Run(KernelCall& c) const {
    if (c.input(0).rank() != 4) return InvalidArgument("Input rank should be: 4 instead of: {}", c.input(0).rank());
    TARE_ASSIGN_OR_RETURN(const Blocks b, Blocks::Of(block, c.input(1), "Paddings"));
    return ToBatches(c, b);
  }
  std::array<int64_t, 2> block;
};

struct BatchToSpace {
  explicit BatchToSpace(AttrReader& a) : block{a.Int("block_size"), a.Int("block_size")} {}
  Status Run(KernelCall& c) const {
    if (c.input(0).rank() != 4) return InvalidArgument("Input rank should be: 4 instead of: {}", c.input(0).rank());
    TARE_ASSIGN_OR_RETURN(const Blocks b, Blocks::Of(block, c.input(1), "Crops"));
    return FromBatches(c, b);
  }
  std::array<int64_t, 2> block;
};

// Between [B, H*k, W*k, C] and [B, H, W, k*k*C], or the same with channels first.
template <bool kToDepth>
struct SpaceDepth {
  explicit SpaceDepth(AttrReader& a) : k(a.Int("block_size")) {
    std::string format = a.String("data_format");
    channels_first = format == "NCHW";
    if (format == "NCHW_VECT_C") a.Fail(InvalidArgument("data_format {} is not supported on CPU", format));
  }
  Status Run(KernelCall& c) const {
    const Tensor in = c.input(0);
    if (in.rank() != 4) return InvalidArgument("Input rank should be: 4 instead of: {}", in.rank());
    const int h = channels_first ? 2 : 1, w = h + 1, d = channels_first ? 1 : 3;
    TARE_ASSIGN_OR_RETURN(const Shape shape, OutShape(in.shape(), h, w, d));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
    const Shape& space = kToDepth ? in.shape() : shape;
    const Shape& deep = kToDepth ? shape : in.shape();
    const auto s = StridesOf(space), t = StridesOf(deep);
    const int64_t channels = space[d];
    CopyAxes axes;
    auto add = [&](int64_t n, int64_t in_space, int64_t in_deep) {
      if (kToDepth) axes.Add(n, in_space, in_deep);
      else axes.Add(n, in_deep, in_space);
    };
    add(space[0], s[0], t[0]);
    add(deep[h], k * s[h], t[h]);
    add(k, s[h], k * channels * t[d]);
    add(deep[w], k * s[w], t[w]);
    add(k, s[w], channels * t[d]);
    add(channels, s[d], t[d]);
    StridedCopy(c.threads(), in.dtype(), in.raw(), out->mutable_raw(), axes);
    return OkStatus();
  }
  Result<Shape> OutShape(Shape shape, int h, int w, int d) const {
    if (k > std::numeric_limits<int32_t>::max()) return InvalidArgument("block_size {} is too large", k);
    if (kToDepth) {
      if (shape[h] % k != 0 || shape[w] % k != 0) {
        return InvalidArgument("Image width {} and height {} should be divisible by block_size: {}", shape[w],
                               shape[h], k);
      }
      shape.set_dim(h, shape[h] / k);
      shape.set_dim(w, shape[w] / k);
      int64_t depth;
      if (__builtin_mul_overflow(shape[d], k * k, &depth)) return InvalidArgument("the depth overflows");
      shape.set_dim(d, depth);
      return Shape::Make(shape.dims());
    }
    if (shape[d] % (k * k) != 0) {
      return InvalidArgument("Input depth dimension {} should be divisible by: {}", shape[d], k * k);
    }
    shape.set_dim(d, shape[d] / (k * k));
    int64_t height, width;
    if (__builtin_mul_overflow(shape[h], k, &height) || __builtin_mul_overflow(shape[w], k, &width)) {
      return InvalidArgument("the image's size overflows");
    }
    shape.set_dim(h, height);
    shape.set_dim(w, width);
    return Shape::Make(shape.dims());
  }
  int64_t k;
  bool channels_first;
};

constexpr KernelRow kRows[] = {
    Op<BatchToSpace>("BatchToSpace"),
    Op<BatchToSpaceNd>("BatchToSpaceND"),
    Op<SpaceDepth<false>>("DepthToSpace"),
    Op<SpaceToBatch>("SpaceToBatch"),
    Op<SpaceToBatchNd>("SpaceToBatchND"),
    Op<SpaceDepth<true>>("SpaceToDepth"),
};

}  // namespace
extern constinit const KernelFamily kSpaceKernels = kRows;
}  // namespace tare
