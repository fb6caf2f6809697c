#include "kernels/pool_window.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tare {

PoolWindow::PoolWindow(AttrReader& a, int spatial)
    : spatial(spatial), padding(ReadPadding(a)), channels_first(ReadChannelsFirst(a)) {
  Status s = SetSizes(a.Ints("ksize"), a.Ints("strides"));
  if (s.ok() && a.Has("explicit_paddings")) s = SetPaddings(a.Ints("explicit_paddings"));
  if (!s.ok()) a.Fail(std::move(s));
}

PoolWindow::PoolWindow(AttrReader& a) : padding(ReadPadding(a)), channels_first(ReadChannelsFirst(a)) {}

Status PoolWindow::ReadSizes(const Tensor& ksize, const Tensor& strides) {
  if (ksize.num_elements() != 4) return InvalidArgument("Sliding window ksize field must specify 4 dimensions");
  if (strides.num_elements() != 4) return InvalidArgument("Sliding window stride field must specify 4 dimensions");
  int64_t k_space[4], s_space[4];
  TARE_ASSIGN_OR_RETURN(std::span<const int64_t> k, IntValues(ksize, k_space));
  TARE_ASSIGN_OR_RETURN(std::span<const int64_t> s, IntValues(strides, s_space));
  return SetSizes(k, s);
}

Status PoolWindow::SetSizes(std::span<const int64_t> ksize, std::span<const int64_t> strides) {
  const size_t rank = static_cast<size_t>(spatial) + 2;
  if (ksize.size() != rank) return InvalidArgument("Sliding window ksize field must specify {} dimensions", rank);
  if (strides.size() != rank) return InvalidArgument("Sliding window stride field must specify {} dimensions", rank);
  if (std::ranges::any_of(ksize, [](int64_t k) { return k <= 0; })) {
    return InvalidArgument("Sliding window ksize must be positive. The specified or inferred ksize is: {}",
                           fmt::join(ksize, ","));
  }
  for (int64_t s : strides) {
    if (s <= 0) return InvalidArgument("Stride must be > 0, but got {}", s);
  }
  if (std::ranges::max(strides) > kMaxWindow) return InvalidArgument("Stride too large: {}", fmt::join(strides, ","));
  double window = 1;
  for (int64_t k : ksize) window *= static_cast<double>(k);
  if (window > static_cast<double>(kMaxWindow)) return InvalidArgument("Sliding window too large: {}", fmt::join(ksize, ","));
  const size_t channel = channels_first ? 1 : rank - 1, first = channels_first ? 2 : 1;
  if (ksize[0] != 1 || strides[0] != 1) return Unimplemented("Pooling is not yet supported on the batch dimension.");
  channel_window = ksize[channel];
  channel_stride = strides[channel];
  for (size_t i = 0; i < static_cast<size_t>(spatial); ++i) {
    const size_t d = i + 3 - static_cast<size_t>(spatial);
    kernel[d] = ksize[first + i];
    stride[d] = strides[first + i];
  }
  if (spatial == 3 && (channel_window != 1 || channel_stride != 1)) {
    return Unimplemented("Pooling is not yet supported on the depth dimension.");
  }
  if (channel_window > 1 && kernel != std::array<int64_t, 3>{1, 1, 1}) {
    return Unimplemented("MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  return OkStatus();
}

Status PoolWindow::SetPaddings(std::span<const int64_t> pads) {
  if (padding != Padding::kExplicit) return OkStatus();
  if (pads.size() != 8) {
    return InvalidArgument("explicit_paddings attribute must contain 8 values, but got: {}", pads.size());
  }
  const size_t first = channels_first ? 2 : 1;
  for (size_t i = 0; i < 8; ++i) {
    if (pads[i] < 0) return InvalidArgument("All elements of explicit_paddings must be nonnegative");
    const bool inside = i / 2 >= first && i / 2 < first + 2;
    if (!inside && pads[i]) {
      return InvalidArgument("Nonzero explicit padding in the batch or depth dimensions is not supported");
    }
    if (!inside) continue;
    const size_t d = i / 2 - first + 1;
    if (pads[i] >= kernel[d]) {
      constexpr std::string_view kSides[2][2] = {{"Top", "Bottom"}, {"Left", "Right"}};
      return InvalidArgument("{} padding {} needs to be smaller than the window size {}", kSides[d - 1][i % 2], pads[i],
                             kernel[d]);
    }
    (i % 2 ? after : before)[d] = pads[i];
  }
  return OkStatus();
}

Status PoolWindow::CheckInput(const Tensor& in) const {
  if (in.rank() == spatial + 2) return OkStatus();
  if (spatial == 3) return InvalidArgument("tensor_in must be 5-dimensional");
  return InvalidArgument("tensor_in_shape must have 2 spatial dimensions. {} 0", in.rank());
}

Result<math::ConvGeometry> PoolWindow::Geometry(const Shape& in) const {
  math::ConvGeometry g;
  g.batch = in[0];
  g.in_channels = g.out_channels = in[spatial + 1];
  g.kernel = kernel;
  g.stride = stride;
  for (int i = 0; i < spatial; ++i) {
    const size_t d = static_cast<size_t>(i + 3 - spatial);
    g.in[d] = in[i + 1];
    TARE_ASSIGN_OR_RETURN(WindowSize size, SizeWindow(g.in[d], kernel[d], 1, stride[d], padding, before[d], after[d]));
    g.out[d] = size.out;
    g.pad[d] = size.before;
  }
  if (channel_window > 1) {
    if (g.in_channels % channel_window) {
      return Unimplemented("Depthwise max pooling requires the depth window to evenly divide the input depth");
    }
    if (channel_stride != channel_window) {
      return Unimplemented("Depthwise max pooling requires the depth window to equal the depth stride");
    }
  }
  return g;
}

Result<Shape> PoolWindow::OutputShape(const math::ConvGeometry& g) const {
  std::vector<int64_t> dims{g.batch};
  for (int i = 0; i < spatial; ++i) dims.push_back(g.out[static_cast<size_t>(i + 3 - spatial)]);
  dims.push_back(g.out_channels);
  return Shape::Make(dims);
}

}  // namespace tare
