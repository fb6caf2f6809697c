#include "math/conv.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace tare::math {
namespace {

void Zero(float* p, int64_t n) { std::memset(p, 0, static_cast<size_t>(n) * sizeof(float)); }

// The first layers of networks have runs of 9 or 21 floats, for which a call is most of the cost.
inline void Copy(float* to, const float* from, int64_t n) {
  if (n < 4 || n > 64) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i + 4 < n; i += 4) _mm_storeu_ps(to + i, _mm_loadu_ps(from + i));
  _mm_storeu_ps(to + n - 4, _mm_loadu_ps(from + n - 4));
}

}  // namespace

bool ConvGeometry::pointwise() const {
  return taps() == 1 && stride == std::array<int64_t, 3>{1, 1, 1} && pad == std::array<int64_t, 3>{0, 0, 0} && in == out;
}

ConvRows::ConvRows(const ConvGeometry& g, const float* input, int64_t group)
    : g_(g), input_(input ? input + group * g.group_in() : nullptr) {
  const bool whole = g.groups == 1 && (g.dilation[2] == 1 || g.kernel[2] == 1);
  run_taps_ = whole ? g.kernel[2] : 1;
  runs_ = whole ? 1 : g.kernel[2];
  run_floats_ = run_taps_ * g.group_in();
}

void ConvRows::Gather(int64_t row, int64_t rows, int64_t k0, int64_t k1, float* panel, int64_t stride) const {
  const int64_t channels = g_.in_channels, depth = g_.group_in();
  int64_t x = row % g_.out[2], rest = row / g_.out[2];
  int64_t y = rest % g_.out[1];
  rest /= g_.out[1];
  int64_t z = rest % g_.out[0], image = rest / g_.out[0];
  const int64_t whole = g_.taps() * depth;
  const int64_t first = k0 / run_floats_, last = (k1 + run_floats_ - 1) / run_floats_;
  for (int64_t i = 0; i < rows; ++i, panel += stride) {
    const int64_t ix0 = x * g_.stride[2] - g_.pad[2];
    const int64_t iy0 = y * g_.stride[1] - g_.pad[1], iz0 = z * g_.stride[0] - g_.pad[0];
    if (k0 == 0 && k1 == whole && Inside(ix0, iy0, iz0)) {
      // This pixel and its neighbours to the right.
      const int64_t fit = (g_.in[2] - run_taps_ - ix0) / g_.stride[2] + 1;
      const int64_t count = std::min({rows - i, g_.out[2] - x, fit});
      const float* from = input_ + (((image * g_.in[0] + iz0) * g_.in[1] + iy0) * g_.in[2] + ix0) * channels;
      CopyWindows(from, count, panel, stride);
      i += count - 1;
      panel += (count - 1) * stride;
      x += count - 1;
      Next(x, y, z, image);
      continue;
    }
    int64_t part = first % runs_, ky = first / runs_ % g_.kernel[1], kz = first / runs_ / g_.kernel[1];
    for (int64_t run = first; run < last; ++run) {
      // The part [begin, end) of this run's floats that the caller wants.
      const int64_t at = run * run_floats_;
      const int64_t begin = std::max<int64_t>(k0 - at, 0), end = std::min(k1 - at, run_floats_);
      float* to = panel + at - k0;
      const int64_t iz = iz0 + kz * g_.dilation[0], iy = iy0 + ky * g_.dilation[1];
      const int64_t ix = ix0 + part * g_.dilation[2];
      if (iz < 0 || iz >= g_.in[0] || iy < 0 || iy >= g_.in[1]) {
        Zero(to + begin, end - begin);
      } else {
        // Floats [inside0, inside1) of the run lie in the image.
        const int64_t inside0 = std::clamp(std::max<int64_t>(-ix, 0) * depth, begin, end);
        const int64_t inside1 = std::clamp(std::min(run_taps_, g_.in[2] - ix) * depth, inside0, end);
        const float* from = input_ + (((image * g_.in[0] + iz) * g_.in[1] + iy) * g_.in[2] + ix) * channels;
        if (inside0 > begin) Zero(to + begin, inside0 - begin);
        if (inside1 > inside0) Copy(to + inside0, from + inside0, inside1 - inside0);
        if (end > inside1) Zero(to + inside1, end - inside1);
      }
      if (++part == runs_) {
        part = 0;
        if (++ky == g_.kernel[1]) ky = 0, ++kz;
      }
    }
    Next(x, y, z, image);
  }
}

void ConvRows::CopyWindows(const float* from, int64_t count, float* panel, int64_t stride) const {
  const int64_t row = g_.in[2] * g_.in_channels, step = g_.stride[2] * g_.in_channels;
  for (int64_t kz = 0; kz < g_.kernel[0]; ++kz) {
    for (int64_t ky = 0; ky < g_.kernel[1]; ++ky, panel += run_floats_) {
      const float* run = from + (kz * g_.dilation[0] * g_.in[1] + ky * g_.dilation[1]) * row;
      for (int64_t i = 0; i < count; ++i) Copy(panel + i * stride, run + i * step, run_floats_);
    }
  }
}

bool ConvRows::Inside(int64_t x, int64_t y, int64_t z) const {
  return runs_ == 1 && x >= 0 && x + run_taps_ <= g_.in[2] && y >= 0 && z >= 0 &&
         y + (g_.kernel[1] - 1) * g_.dilation[1] < g_.in[1] && z + (g_.kernel[0] - 1) * g_.dilation[0] < g_.in[0];
}

void ConvRows::Next(int64_t& x, int64_t& y, int64_t& z, int64_t& image) const {
  if (++x < g_.out[2]) return;
  x = 0;
  if (++y < g_.out[1]) return;
  y = 0;
  if (++z < g_.out[0]) return;
  z = 0;
  ++image;
}

GemmProblem ConvProblem(const ConvGeometry& g, int64_t group, const float* input, const float* weights, float* output,
                        const ConvRows& rows) {
  GemmProblem p;
  p.m = g.batch * g.out_pixels();
  p.n = g.group_out();
  p.k = g.taps() * g.group_in();
  if (g.pointwise()) p.a = {input + group * g.group_in(), g.in_channels};
  else p.a_rows = &rows;
  p.b = {weights + group * g.group_out(), g.out_channels};
  p.c = output + group * g.group_out();
  p.c_stride = g.out_channels;
  return p;
}

void AddColumns(const ConvGeometry& g, const float* columns, int64_t first, int64_t last, int64_t begin, int64_t end,
                float* input) {
  const int64_t channels = g.in_channels, width = g.taps() * channels;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t iy = row % g.in[1], iz = row / g.in[1];
    float* to = input + row * g.in[2] * channels;
    for (int64_t kz = 0; kz < g.kernel[0]; ++kz) {
      const int64_t dz = iz + g.pad[0] - kz * g.dilation[0], oz = dz / g.stride[0];
      if (dz < 0 || dz % g.stride[0] || oz >= g.out[0]) continue;
      for (int64_t ky = 0; ky < g.kernel[1]; ++ky) {
        const int64_t dy = iy + g.pad[1] - ky * g.dilation[1], oy = dy / g.stride[1];
        if (dy < 0 || dy % g.stride[1] || oy >= g.out[1]) continue;
        const int64_t out_row = oz * g.out[1] + oy;
        if (out_row < first || out_row >= last) continue;
        for (int64_t ox = 0; ox < g.out[2]; ++ox) {
          const float* from = columns + ((out_row - first) * g.out[2] + ox) * width +
                              (kz * g.kernel[1] + ky) * g.kernel[2] * channels;
          for (int64_t kx = 0; kx < g.kernel[2]; ++kx, from += channels) {
            const int64_t ix = ox * g.stride[2] - g.pad[2] + kx * g.dilation[2];
            if (ix < 0 || ix >= g.in[2]) continue;
            float* sum = to + ix * channels;
            for (int64_t c = 0; c < channels; ++c) sum[c] += from[c];
          }
        }
      }
    }
  }
}

}  // namespace tare::math
