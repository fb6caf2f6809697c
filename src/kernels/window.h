// Windows that slide over the spatial dimensions: what convolution and pooling share.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "math/conv.h"

namespace tare {

enum class Padding { kSame, kValid, kExplicit };

// Bounds every window quantity, so that products of two stay far from overflow.
constexpr int64_t kMaxWindow = INT32_MAX;

struct WindowSize {
  int64_t out = 0, before = 0;
};
// Of one dimension. `before` and `after` are the explicit padding. InvalidArgument when the output would be negative.
Result<WindowSize> SizeWindow(int64_t in, int64_t kernel, int64_t dilation, int64_t stride, Padding padding,
                              int64_t before, int64_t after);

Padding ReadPadding(AttrReader& a);
// "NCHW", "NCDHW".
bool ReadChannelsFirst(AttrReader& a);

// Attributes of the convolutions, for `spatial` = 2 or 3 dimensions. Arrays go by depth, height, width; with
// two dimensions, depth is 1.
struct ConvAttrs {
  ConvAttrs(AttrReader& a, int spatial);
  // Of an input and a filter in channels-last order; `depthwise` filters are [.., in, multiplier].
  Result<math::ConvGeometry> Geometry(const Shape& input, const Shape& filter, bool depthwise) const;
  // The shape of an output of the geometry, channels last.
  Result<Shape> OutputShape(const math::ConvGeometry& g) const;
  int rank() const { return spatial + 2; }

  int spatial;
  Padding padding;
  bool channels_first;
  std::array<int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1}, before{0, 0, 0}, after{0, 0, 0};

 private:
  Status Read(AttrReader& a);
};

// The taps of a window from `start` that lie in the image, along dimension d. A window may be far larger than
// the image: only what is inside is ever walked.
struct TapRange {
  TapRange(int64_t start, const math::ConvGeometry& g, size_t d) {
    const int64_t step = g.dilation[d];
    begin = start >= 0 ? 0 : (-start + step - 1) / step;
    end = g.in[d] <= start ? 0 : std::min(g.kernel[d], (g.in[d] - start + step - 1) / step);
  }
  int64_t begin, end;
};

// Calls f(input pixel, tap, output pixel) for the taps of output pixels [begin, end) that lie in the image.
template <class F>
void ForEachTap(const math::ConvGeometry& g, int64_t begin, int64_t end, F&& f) {
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const int64_t row = pixel / g.out[2], plane = row / g.out[1], image = plane / g.out[0];
    const int64_t x0 = (pixel - row * g.out[2]) * g.stride[2] - g.pad[2];
    const int64_t y0 = (row - plane * g.out[1]) * g.stride[1] - g.pad[1];
    const int64_t z0 = (plane - image * g.out[0]) * g.stride[0] - g.pad[0];
    const TapRange zs(z0, g, 0), ys(y0, g, 1), xs(x0, g, 2);
    for (int64_t kz = zs.begin; kz < zs.end; ++kz) {
      for (int64_t ky = ys.begin; ky < ys.end; ++ky) {
        const int64_t z = z0 + kz * g.dilation[0], y = y0 + ky * g.dilation[1];
        const int64_t from = ((image * g.in[0] + z) * g.in[1] + y) * g.in[2] + x0;
        const int64_t tap = (kz * g.kernel[1] + ky) * g.kernel[2];
        for (int64_t kx = xs.begin; kx < xs.end; ++kx) f(from + kx * g.dilation[2], tap + kx, pixel);
      }
    }
  }
}

}  // namespace tare
