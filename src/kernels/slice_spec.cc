#include "kernels/slice_spec.h"

namespace tare {
namespace {

// Resolves one entry against a dimension of `size`.
Result<SliceSpec::Dim> ResolveDim(const SliceMasks& masks, int entry, int dim, int64_t begin, int64_t end,
                                  int64_t stride, int64_t size) {
  if (stride == 0) return InvalidArgument("strides[{}] must be non-zero", entry);
  const bool shrink = masks.shrink >> entry & 1;
  if (shrink) {
    if (stride <= 0) return InvalidArgument("only stride 1 allowed on non-range indexing.");
    int64_t at = begin < 0 ? begin + size : begin;
    if (at < 0 || at >= size) return InvalidArgument("slice index {} of dimension {} out of bounds.", begin, dim);
    return SliceSpec::Dim{at, 1, 1};
  }
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
  auto clamp = [&](int64_t x) { return std::clamp(x < 0 ? x + size : x, low, high); };
  const int64_t first = masks.begin >> entry & 1 ? (stride > 0 ? low : high) : clamp(begin);
  const int64_t last = masks.end >> entry & 1 ? (stride > 0 ? high : low) : clamp(end);
  const int64_t span = last - first;
  if (span == 0 || (span < 0) != (stride < 0)) return SliceSpec::Dim{first, stride, 0};
  return SliceSpec::Dim{first, stride, span / stride + (span % stride != 0)};
}

}  // namespace

SliceSpec::SliceSpec(const Shape& shape) : in(shape), out(shape) {
  for (int i = 0; i < in.rank(); ++i) dims[i] = {0, 1, in[i]};
}

Result<SliceSpec> SliceSpec::Make(const SliceMasks& masks, const Tensor& begin, const Tensor& end,
                                  const Tensor& strides, const Shape& in) {
  const int64_t entries = begin.num_elements();
  if (begin.rank() != 1 || end.rank() != 1 || strides.rank() != 1 || end.num_elements() != entries ||
      strides.num_elements() != entries || entries >= 32) {
    return InvalidArgument(
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes {}, {}, and {} instead.",
        begin.shape().ToString(), end.shape().ToString(), strides.shape().ToString());
  }
  Ints b(begin), e(end), s(strides);
  int named = 0;  // entries that speak of one dimension of the input
  for (int i = 0; i < entries; ++i) named += !((masks.ellipsis | masks.new_axis) >> i & 1);
  if (named > in.rank()) {
    return InvalidArgument("Index out of range using input dim {}; input has only {} dims", in.rank(), in.rank());
  }
  const int unnamed = in.rank() - named;

  SliceSpec spec(in);
  std::array<int64_t, 2 * kMaxRank + 32> out;
  size_t out_rank = 0;
  int dim = 0;
  bool seen_ellipsis = false;
  auto keep_unnamed = [&] {
    for (int k = 0; k < unnamed; ++k) out[out_rank++] = in[dim++];
    seen_ellipsis = true;
  };
  for (int i = 0; i < entries; ++i) {
    if (masks.ellipsis >> i & 1) {
      keep_unnamed();
    } else if (masks.new_axis >> i & 1) {
      out[out_rank++] = 1;
    } else {
      TARE_ASSIGN_OR_RETURN(spec.dims[dim], ResolveDim(masks, i, dim, b[i], e[i], s[i], in[dim]));
      if (!(masks.shrink >> i & 1)) out[out_rank++] = spec.dims[dim].n;
      ++dim;
    }
  }
  if (!seen_ellipsis) keep_unnamed();
  TARE_ASSIGN_OR_RETURN(spec.out, Shape::Make({out.data(), out_rank}));
  return spec;
}

int64_t SliceSpec::offset() const {
  const auto strides = StridesOf(in);
  int64_t at = 0;
  for (int i = 0; i < in.rank(); ++i) at += dims[i].first * strides[i];
  return at;
}

bool SliceSpec::contiguous() const {
  int i = 0;
  while (i < in.rank() && dims[i].n == 1) ++i;
  if (i < in.rank() && dims[i].stride != 1) return false;
  for (++i; i < in.rank(); ++i) {
    if (dims[i].stride != 1 || dims[i].n != in[i]) return false;
  }
  return true;
}

CopyAxes SliceSpec::Axes() const {
  const auto strides = StridesOf(in);
  CopyAxes axes;
  int64_t to = out.num_elements();
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t n = dims[i].n;
    to = n ? to / n : 0;
    axes.Add(n, n > 1 ? dims[i].stride * strides[i] : 0, to);
  }
  return axes;
}

}  // namespace tare
