// The attributes of pooling ops, shared by the forward and the gradient kernels.
#pragma once
#include "kernels/window.h"

namespace tare {

struct PoolWindow {
  // With ksize and strides as attributes.
  PoolWindow(AttrReader& a, int spatial);
  // Two dimensions, with ksize and strides still to be read from inputs.
  explicit PoolWindow(AttrReader& a);
  Status ReadSizes(const Tensor& ksize, const Tensor& strides);

  Status CheckInput(const Tensor& in) const;
  // Of a channels-last input. in_channels == out_channels.
  Result<math::ConvGeometry> Geometry(const Shape& in) const;
  Result<Shape> OutputShape(const math::ConvGeometry& g) const;

  int spatial = 2;
  Padding padding = Padding::kValid;
  bool channels_first = false;
  int64_t channel_window = 1, channel_stride = 1;
  std::array<int64_t, 3> kernel{1, 1, 1}, stride{1, 1, 1}, before{0, 0, 0}, after{0, 0, 0};

 private:
  Status SetSizes(std::span<const int64_t> ksize, std::span<const int64_t> strides);
  Status SetPaddings(std::span<const int64_t> pads);
};

}  // namespace tare
