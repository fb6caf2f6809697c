// Convolution as an implicit GEMM over NDHWC activations and DHWIO weights, both read where they lie.
//
// Output pixels are the rows of A; a row is the pixel's window, gathered into a panel as runs of contiguous
// floats (a whole row of taps where nothing separates them) with zeros outside the image. The weights are B as they are.
// A 1x1 kernel of stride 1 gathers nothing. Two dimensions are three with a depth of 1.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "math/gemm.h"

namespace tare::math {

struct ConvGeometry {
  int64_t batch = 1;
  int64_t in_channels = 0, out_channels = 0, groups = 1;
  // Depth, height, width.
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  std::array<int64_t, 3> pad{0, 0, 0};  // before the first element

  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  // Whether each output pixel depends on just the input pixel of the same place.
  bool pointwise() const;
};

// Windows of the input as rows: row = output pixel over all images, columns = [kd, kh, kw, channels].
class ConvRows final : public RowSource {
 public:
  // Of channels [group * group_in(), ...) of `input`.
  ConvRows(const ConvGeometry& geometry, const float* input, int64_t group = 0);
  void Gather(int64_t row, int64_t rows, int64_t k0, int64_t k1, float* panel, int64_t stride) const override;

 private:
  // Whether a window that begins here lies in the image and is made of whole kernel rows.
  bool Inside(int64_t x, int64_t y, int64_t z) const;
  // The windows of `count` neighbouring pixels of a row, all inside; the first begins at `from`.
  void CopyWindows(const float* from, int64_t count, float* panel, int64_t stride) const;
  // To the next output pixel.
  void Next(int64_t& x, int64_t& y, int64_t& z, int64_t& image) const;
  const ConvGeometry g_;
  const float* input_;
  // A run is `run_taps_` taps of a kernel row (all, or one), `runs_` of them make a kernel row.
  int64_t run_taps_, runs_, run_floats_;
};

// The GEMM of one group. `rows` must outlive it and is not used by pointwise convolutions.
GemmProblem ConvProblem(const ConvGeometry& geometry, int64_t group, const float* input, const float* weights,
                        float* output, const ConvRows& rows);

// The transposed convolution's second half. `columns` holds, for the output rows [first, last) of one image
// (depth * height of them), the products [row, out width, taps * in_channels] of the gradient with the weights.
// Adds each to the element of `input` (one image) it belongs to, for input rows [begin, end): input rows
// may be added in parallel.
void AddColumns(const ConvGeometry& geometry, const float* columns, int64_t first, int64_t last, int64_t begin,
                int64_t end, float* input);

}  // namespace tare::math
