// Windows that slide over the spatial dimensions: what convolution and pooling share.
#pragma once
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

// Calls f(input pixel, tap, output pixel) for the taps of output pixels [begin, end) that lie in the image.
template <class F>
void ForEachTap(const math::ConvGeometry& g, int64_t begin, int64_t end, F&& f) {
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const int64_t row = pixel / g.out[2], plane = row / g.out[1], image = plane / g.out[0];
    const int64_t x0 = (pixel - row * g.out[2]) * g.stride[2] - g.pad[2];
    const int64_t y0 = (row - plane * g.out[1]) * g.stride[1] - g.pad[1];
    const int64_t z0 = (plane - image * g.out[0]) * g.stride[0] - g.pad[0];
    int64_t z = z0;
    for (int64_t kz = 0; kz < g.kernel[0]; ++kz, z += g.dilation[0]) {
      if (z < 0 || z >= g.in[0]) continue;
      int64_t y = y0;
      for (int64_t ky = 0; ky < g.kernel[1]; ++ky, y += g.dilation[1]) {
        if (y < 0 || y >= g.in[1]) continue;
        const int64_t from = ((image * g.in[0] + z) * g.in[1] + y) * g.in[2];
        const int64_t tap = (kz * g.kernel[1] + ky) * g.kernel[2];
        int64_t x = x0;
        for (int64_t kx = 0; kx < g.kernel[2]; ++kx, x += g.dilation[2]) {
          if (x >= 0 && x < g.in[2]) f(from + x, tap + kx, pixel);
        }
      }
    }
  }
}

}  // namespace tare
