#include "kernels/window.h"

#include <algorithm>

namespace tare {

Result<WindowSize> SizeWindow(int64_t in, int64_t kernel, int64_t dilation, int64_t stride, Padding padding,
                              int64_t before, int64_t after) {
  if (stride <= 0) return InvalidArgument("Stride must be > 0, but got {}", stride);
  if (dilation < 1) return InvalidArgument("Dilation rate must be >= 1, but got {}", dilation);
  if (std::max({in, kernel, dilation, stride, before, after}) > kMaxWindow) {
    return InvalidArgument("window size out of range: input {}, kernel {}, stride {}", in, kernel, stride);
  }
  const int64_t reach = (kernel - 1) * dilation + 1;
  WindowSize size;
  if (padding == Padding::kSame) {
    size.out = (in + stride - 1) / stride;
    size.before = std::max<int64_t>(0, (size.out - 1) * stride + reach - in) / 2;
    return size;
  }
  if (padding == Padding::kExplicit) size.before = before;
  size.out = (in + (padding == Padding::kExplicit ? before + after : 0) - reach + stride) / stride;
  if (size.out < 0) {
    return InvalidArgument("Computed output size would be negative: {} [input_size: {}, effective_filter_size: {}, "
                           "stride: {}]", size.out, in, reach, stride);
  }
  return size;
}

Padding ReadPadding(AttrReader& a) {
  const std::string padding = a.String("padding");
  return padding == "SAME" ? Padding::kSame : padding == "VALID" ? Padding::kValid : Padding::kExplicit;
}

bool ReadChannelsFirst(AttrReader& a) {
  if (!a.Has("data_format")) return false;
  const std::string format = a.String("data_format");
  if (format == "NCHW_VECT_C") a.Fail(Unimplemented("the format NCHW_VECT_C is not supported on the CPU"));
  return format[0] == 'N' && format[1] == 'C';
}

namespace {

// Of the explicit paddings, in data_format order, the spatial pairs.
Status SplitPaddings(const std::vector<int64_t>& pads, ConvAttrs& c) {
  if (c.padding != Padding::kExplicit) {
    if (pads.empty()) return OkStatus();
    return InvalidArgument("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  const size_t want = 2 * static_cast<size_t>(c.rank());
  if (pads.size() != want) {
    return InvalidArgument("explicit_paddings attribute must contain {} values, but got: {}", want, pads.size());
  }
  if (std::ranges::any_of(pads, [](int64_t p) { return p < 0; })) {
    return InvalidArgument("All elements of explicit_paddings must be nonnegative");
  }
  const size_t channel = c.channels_first ? 1 : static_cast<size_t>(c.rank()) - 1, first = c.channels_first ? 2 : 1;
  if (pads[0] || pads[1] || pads[2 * channel] || pads[2 * channel + 1]) {
    return InvalidArgument("Nonzero explicit padding in the batch or depth dimensions is not supported");
  }
  for (size_t i = 0; i < static_cast<size_t>(c.spatial); ++i) {
    const size_t d = i + 3 - static_cast<size_t>(c.spatial);
    c.before[d] = pads[2 * (first + i)];
    c.after[d] = pads[2 * (first + i) + 1];
  }
  return OkStatus();
}

}  // namespace

ConvAttrs::ConvAttrs(AttrReader& a, int spatial)
    : spatial(spatial), padding(ReadPadding(a)), channels_first(ReadChannelsFirst(a)) {
  if (Status s = Read(a); !s.ok()) a.Fail(std::move(s));
}

Status ConvAttrs::Read(AttrReader& a) {
  const std::vector<int64_t> strides = a.Ints("strides"), dilations = a.Ints("dilations");
  const size_t channel = channels_first ? 1 : static_cast<size_t>(rank()) - 1, first = channels_first ? 2 : 1;
  TARE_RETURN_IF_ERROR(a.status());
  if (strides.size() != static_cast<size_t>(rank())) {
    return InvalidArgument("Sliding window strides field must specify {} dimensions", rank());
  }
  if (dilations.size() != static_cast<size_t>(rank())) {
    return InvalidArgument("Sliding window dilations field must specify {} dimensions", rank());
  }
  constexpr std::string_view kNotYet = "Current implementation does not yet support {} in the batch and depth dimensions.";
  if (strides[0] != 1 || strides[channel] != 1) {
    const Code code = spatial == 2 ? Code::kUnimplemented : Code::kInvalidArgument;
    return Status(code, fmt::format(fmt::runtime(kNotYet), "strides"));
  }
  if (dilations[0] != 1 || dilations[channel] != 1) {
    const Code code = spatial == 2 ? Code::kUnimplemented : Code::kInvalidArgument;
    return Status(code, fmt::format(fmt::runtime(kNotYet), "dilations"));
  }
  for (size_t i = 0; i < static_cast<size_t>(spatial); ++i) {
    const size_t d = i + 3 - static_cast<size_t>(spatial);
    stride[d] = strides[first + i];
    dilation[d] = dilations[first + i];
  }
  if (std::ranges::any_of(stride, [](int64_t s) { return s <= 0; })) {
    return InvalidArgument("{} strides should be larger than 0.", spatial == 2 ? "Row and column" : "Spatial");
  }
  if (std::ranges::any_of(dilation, [](int64_t s) { return s <= 0; })) {
    return InvalidArgument("Dilated rates should be larger than 0.");
  }
  return SplitPaddings(a.Has("explicit_paddings") ? a.Ints("explicit_paddings") : std::vector<int64_t>(), *this);
}

Result<math::ConvGeometry> ConvAttrs::Geometry(const Shape& input, const Shape& filter, bool depthwise) const {
  math::ConvGeometry g;
  g.batch = input[0];
  g.in_channels = input[spatial + 1];
  for (int i = 0; i < spatial; ++i) {
    const size_t d = static_cast<size_t>(i + 3 - spatial);
    g.in[d] = input[i + 1];
    g.kernel[d] = filter[i];
    TARE_ASSIGN_OR_RETURN(WindowSize size, SizeWindow(g.in[d], g.kernel[d], dilation[d], stride[d], padding, before[d],
                                                      after[d]));
    g.out[d] = size.out;
    g.pad[d] = size.before;
  }
  g.stride = stride;
  g.dilation = dilation;
  const int64_t filter_in = filter[spatial], filter_out = filter[spatial + 1];
  if (std::max({g.in_channels, filter_in, filter_out}) > kMaxWindow) {
    return InvalidArgument("too many channels: {} by {}", input.ToString(), filter.ToString());
  }
  if (depthwise) {
    if (g.in_channels != filter_in) {
      return InvalidArgument("input and filter must have the same depth: {} vs {}", g.in_channels, filter_in);
    }
    g.groups = std::max<int64_t>(1, g.in_channels);
    g.out_channels = filter_in * filter_out;
    return g;
  }
  if (filter_in <= 0) return InvalidArgument("filter depth must be stricly positive, got {}", filter_in);
  if (g.in_channels % filter_in) {
    return InvalidArgument("{}nput depth must be evenly divisible by filter depth: {} vs {}", spatial == 2 ? "i" : "I",
                           g.in_channels, filter_in);
  }
  g.groups = g.in_channels / filter_in;
  if (g.groups == 0) return InvalidArgument("number of groups must be strictly positive, got 0");
  g.out_channels = filter_out;
  if (g.out_channels % g.groups) {
    return InvalidArgument("output depth must be evenly divisible by number of groups: {} vs {}", g.out_channels,
                           g.groups);
  }
  return g;
}

Result<Shape> ConvAttrs::OutputShape(const math::ConvGeometry& g) const {
  std::vector<int64_t> dims{g.batch};
  for (int i = 0; i < spatial; ++i) dims.push_back(g.out[static_cast<size_t>(i + 3 - spatial)]);
  dims.push_back(g.out_channels);
  return Shape::Make(dims);
}

}  // namespace tare
