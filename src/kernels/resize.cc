// Resizing images to a size: each output pixel mixes input pixels whose places and weights are found once
// a row and once a column. Everything but nearest-neighbour gives float.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/image_size.h"
#include "kernels/registry.h"

namespace tare {

Result<ImageSize> CheckImages(const KernelCall& c) {
  const Tensor &images = c.input(0), &size = c.input(1);
  if (images.rank() != 4) return InvalidArgument("input must be 4-dimensional{}", images.shape().ToString());
  if (size.rank() != 1) return InvalidArgument("shape_t must be 1-dimensional{}", size.shape().ToString());
  if (size.num_elements() != 2) return InvalidArgument("shape_t must have two elements{}", size.shape().ToString());
  const int32_t* out = size.data<int32_t>();
  const ImageSize s{images.dim(0), images.dim(1), images.dim(2), images.dim(3), out[0], out[1]};
  if (s.out_h <= 0 || s.out_w <= 0) return InvalidArgument("output dimensions must be positive");
  if (s.in_h <= 0 || s.in_w <= 0) return InvalidArgument("input image must be of non-zero size");
  if (s.channels <= 0) return InvalidArgument("image must have at least one channel");
  if (s.in_h > INT32_MAX || s.in_w > INT32_MAX) return InvalidArgument("input sizes must be between 0 and max int32");
  TARE_RETURN_IF_ERROR(Shape::Make(std::array{s.batch, s.out_h, s.out_w, s.channels}).status());
  return s;
}

Result<Tensor> ImagesAsFloat(KernelCall& c, const Tensor& t) {
  if (t.dtype() == DType::kFloat) return t;
  TARE_ASSIGN_OR_RETURN(Tensor to, c.Temp(DType::kFloat, t.shape()));
  float* out = to.mutable_data<float>();
  TARE_RETURN_IF_ERROR(ForType(Reals{}, t.dtype(), [&]<class T>() {
    std::ranges::transform(t.as<T>(), out, [](T v) { return static_cast<float>(v); });
    return OkStatus();
  }));
  return to;
}

namespace {

// How output places map to input places along one side.
struct Scaler {
  Scaler(int64_t in, int64_t out, bool align_corners, bool half_pixel)
      : half_pixel(half_pixel),
        scale(align_corners && in > 1 && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                       : static_cast<float>(in) / static_cast<float>(out)) {}
  float operator()(int64_t x) const {
    return half_pixel ? (static_cast<float>(x) + 0.5f) * scale - 0.5f : static_cast<float>(x) * scale;
  }
  bool half_pixel;
  float scale;
};

struct ResizeAttrs {
  explicit ResizeAttrs(AttrReader& a)
      : align_corners(a.Bool("align_corners")),
        half_pixel(a.Has("half_pixel_centers") && a.Bool("half_pixel_centers")) {
    if (align_corners && half_pixel) {
      a.Fail(InvalidArgument("If half_pixel_centers is True, align_corners must be False."));
    }
  }
  Scaler rows(const ImageSize& s) const { return {s.in_h, s.out_h, align_corners, half_pixel}; }
  Scaler columns(const ImageSize& s) const { return {s.in_w, s.out_w, align_corners, half_pixel}; }
  bool align_corners, half_pixel;
};

// Up to kTaps input places (clamped to the image) and their weights, for one output place.
template <int kTaps>
struct Taps {
  int64_t at[kTaps];
  float weight[kTaps];
};
using Pair = Taps<2>;
using Quad = Taps<4>;

std::vector<Pair> LinearTaps(const Scaler& scaler, int64_t in, int64_t out) {
  std::vector<Pair> taps(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float x = scaler(i), floor = std::floor(x);
    const auto low = static_cast<int64_t>(floor), high = static_cast<int64_t>(std::ceil(x));
    taps[static_cast<size_t>(i)] = {{std::clamp<int64_t>(low, 0, in - 1), std::clamp<int64_t>(high, 0, in - 1)},
                                    {1 - (x - floor), x - floor}};
  }
  return taps;
}

// The cubic's weights come from a table of 1024 steps, as TensorFlow's do: the exact cubic differs by up to 5e-4.
std::vector<Quad> CubicTaps(const Scaler& scaler, int64_t in, int64_t out) {
  constexpr float kSteps = 1024;
  const float a = scaler.half_pixel ? -0.5f : -0.75f;
  auto near = [a](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [a](float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  std::vector<Quad> taps(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float x = scaler(i), floor = std::floor(x);
    const float step = std::nearbyint((x - floor) * kSteps) / kSteps;
    Quad& t = taps[static_cast<size_t>(i)];
    t.weight[0] = far(step + 1), t.weight[1] = near(step), t.weight[2] = near(1 - step), t.weight[3] = far(2 - step);
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      const int64_t at = static_cast<int64_t>(floor) - 1 + k;
      t.at[k] = std::clamp<int64_t>(at, 0, in - 1);
      // Half-pixel centres leave out what lies outside and share its weight among the rest.
      if (scaler.half_pixel && at != t.at[k]) t.weight[k] = 0;
      sum += t.weight[k];
    }
    if (scaler.half_pixel && std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
      for (float& w : t.weight) w /= sum;
    }
  }
  return taps;
}

// No image: no place is worth finding, however large the size that is asked for.
Status SetNothing(KernelCall& c, const ImageSize& s, DType dtype) { return c.Output(0, dtype, s.output()).status(); }

// Rows of the input are mixed down the columns first, then along the row.
template <int kTaps>
Status Resample(KernelCall& c, const ImageSize& s, const std::vector<Taps<kTaps>>& rows,
                const std::vector<Taps<kTaps>>& columns) {
  TARE_ASSIGN_OR_RETURN(Tensor images, ImagesAsFloat(c, c.input(0)));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kFloat, s.output()));
  const int64_t row_floats = s.in_w * s.channels;
  const float* in = images.data<float>();
  float* to = out->mutable_data<float>();
  c.threads().ParallelFor(s.batch * s.out_h, (row_floats + s.out_w * s.channels) * kTaps / 2, [&](int64_t begin, int64_t end) {
    std::vector<float> mixed(static_cast<size_t>(row_floats));
    for (int64_t i = begin; i < end; ++i) {
      const float* image = in + i / s.out_h * s.in_h * row_floats;
      const Taps<kTaps>& row = rows[static_cast<size_t>(i % s.out_h)];
      for (int64_t x = 0; x < row_floats; ++x) {
        float sum = 0;
        for (int k = 0; k < kTaps; ++k) sum += row.weight[k] * image[row.at[k] * row_floats + x];
        mixed[static_cast<size_t>(x)] = sum;
      }
      float* line = to + i * s.out_w * s.channels;
      for (int64_t x = 0; x < s.out_w; ++x, line += s.channels) {
        const Taps<kTaps>& column = columns[static_cast<size_t>(x)];
        for (int64_t k = 0; k < s.channels; ++k) {
          float sum = 0;
          for (int t = 0; t < kTaps; ++t) sum += column.weight[t] * mixed[static_cast<size_t>(column.at[t] * s.channels + k)];
          line[k] = sum;
        }
      }
    }
  });
  return OkStatus();
}

struct ResizeBilinear {
  explicit ResizeBilinear(AttrReader& a) : attrs(a) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(ImageSize s, CheckImages(c));
    if (s.batch == 0) return SetNothing(c, s, DType::kFloat);
    return Resample<2>(c, s, LinearTaps(attrs.rows(s), s.in_h, s.out_h), LinearTaps(attrs.columns(s), s.in_w, s.out_w));
  }
  ResizeAttrs attrs;
};

struct ResizeBicubic {
  explicit ResizeBicubic(AttrReader& a) : attrs(a) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(ImageSize s, CheckImages(c));
    if (s.batch == 0) return SetNothing(c, s, DType::kFloat);
    return Resample<4>(c, s, CubicTaps(attrs.rows(s), s.in_h, s.out_h), CubicTaps(attrs.columns(s), s.in_w, s.out_w));
  }
  ResizeAttrs attrs;
};

struct ResizeNearest {
  explicit ResizeNearest(AttrReader& a) : attrs(a) {}

  std::vector<int64_t> Places(const Scaler& scaler, int64_t in, int64_t out) const {
    std::vector<int64_t> at(static_cast<size_t>(out));
    for (int64_t i = 0; i < out; ++i) {
      float x = (static_cast<float>(i) + (attrs.half_pixel ? 0.5f : 0)) * scaler.scale;
      x = attrs.align_corners ? std::round(x) : std::floor(x);
      at[static_cast<size_t>(i)] = std::clamp<int64_t>(static_cast<int64_t>(x), 0, in - 1);
    }
    return at;
  }

  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(ImageSize s, CheckImages(c));
    const DType dtype = c.input(0).dtype();
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, s.output()));
    if (s.batch == 0) return OkStatus();
    const std::vector<int64_t> rows = Places(attrs.rows(s), s.in_h, s.out_h);
    const std::vector<int64_t> columns = Places(attrs.columns(s), s.in_w, s.out_w);
    return ForSize(dtype, [&]<class T>() {
      const T* in = static_cast<const T*>(c.input(0).raw());
      T* to = static_cast<T*>(out->mutable_raw());
      c.threads().ParallelFor(s.batch * s.out_h, s.out_w * s.channels, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i / s.out_h * s.in_h + rows[static_cast<size_t>(i % s.out_h)];
          const T* from = in + row * s.in_w * s.channels;
          T* line = to + i * s.out_w * s.channels;
          for (int64_t x : columns) line = std::copy_n(from + x * s.channels, s.channels, line);
        }
      });
      return OkStatus();
    });
  }
  ResizeAttrs attrs;
};

// Adds where TensorFlow does: in the gradient's own type.
template <class T>
void AddTo(T& sum, T v) {
  if constexpr (std::is_arithmetic_v<T>) sum = static_cast<T>(sum + v);
  else sum = static_cast<T>(static_cast<float>(sum) + static_cast<float>(v));
}

// Each pixel of the resized image gives its gradient back to the pixels it was mixed from.
struct ResizeBilinearGrad {
  explicit ResizeBilinearGrad(AttrReader& a) : attrs(a) {}

  static Result<ImageSize> Check(const Tensor& grads, const Tensor& original) {
    if (grads.rank() != 4) return InvalidArgument("input_grad must be 4-dimensional{}", grads.shape().ToString());
    if (original.rank() != 4) {
      return InvalidArgument("original_image must be 4-dimensional{}", original.shape().ToString());
    }
    if (grads.dim(0) != original.dim(0) || grads.dim(3) != original.dim(3)) {
      return InvalidArgument("input_grad {} and original_image {} must have the same batch and channels",
                             grads.shape().ToString(), original.shape().ToString());
    }
    const ImageSize s{original.dim(0), original.dim(1), original.dim(2), original.dim(3), grads.dim(1), grads.dim(2)};
    if (s.in_h <= 0 || s.in_w <= 0 || s.in_h > INT32_MAX || s.in_w > INT32_MAX) {
      return InvalidArgument("original sizes must be between 0 and max int32");
    }
    if (s.out_h <= 0 || s.out_w <= 0) return InvalidArgument("resized sizes must be positive");
    return s;
  }

  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const ImageSize s, Check(c.input(0), c.input(1)));
    const DType dtype = c.input(1).dtype();
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, c.input(1).shape()));
    if (out->num_elements() == 0) return OkStatus();
    const std::vector<Pair> rows = LinearTaps(attrs.rows(s), s.in_h, s.out_h);
    const std::vector<Pair> columns = LinearTaps(attrs.columns(s), s.in_w, s.out_w);
    const float* grads = c.input(0).data<float>();
    return ForType(Reals{}, dtype, [&]<class T>() {
      T* to = out->mutable_data<T>();
      std::fill_n(to, out->num_elements(), T(0));
      c.threads().ParallelFor(s.batch, s.out_h * s.out_w * s.channels * 4, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          const float* from = grads + b * s.out_h * s.out_w * s.channels;
          T* image = to + b * s.in_h * s.in_w * s.channels;
          for (const Pair& row : rows) {
            for (const Pair& column : columns) {
              for (int t = 0; t < 4; ++t) {
                T* pixel = image + (row.at[t / 2] * s.in_w + column.at[t % 2]) * s.channels;
                const float weight = row.weight[t / 2] * column.weight[t % 2];
                for (int64_t k = 0; k < s.channels; ++k) AddTo(pixel[k], static_cast<T>(from[k] * weight));
              }
              from += s.channels;
            }
          }
        }
      });
      return OkStatus();
    });
  }
  ResizeAttrs attrs;
};

struct ResizeNearestGrad {
  explicit ResizeNearestGrad(AttrReader& a) : nearest(a) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const ImageSize g, CheckImages(c));
    const DType dtype = c.input(0).dtype();
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, g.output()));
    if (g.batch == 0) return OkStatus();
    // The forward op went from the output's size to that of the gradients.
    const ImageSize s{g.batch, g.out_h, g.out_w, g.channels, g.in_h, g.in_w};
    const std::vector<int64_t> rows = nearest.Places(nearest.attrs.rows(s), s.in_h, s.out_h);
    const std::vector<int64_t> columns = nearest.Places(nearest.attrs.columns(s), s.in_w, s.out_w);
    return ForType(Reals{}, dtype, [&]<class T>() {
      const T* grads = c.input(0).data<T>();
      T* to = out->mutable_data<T>();
      std::fill_n(to, out->num_elements(), T(0));
      c.threads().ParallelFor(s.batch, s.out_h * s.out_w * s.channels, [&](int64_t begin, int64_t end) {
        const T* from = grads + begin * s.out_h * s.out_w * s.channels;
        for (int64_t b = begin; b < end; ++b) {
          for (int64_t y : rows) {
            for (int64_t x : columns) {
              T* pixel = to + ((b * s.in_h + y) * s.in_w + x) * s.channels;
              for (int64_t k = 0; k < s.channels; ++k) AddTo(pixel[k], *from++);
            }
          }
        }
      });
      return OkStatus();
    });
  }
  ResizeNearest nearest;
};

// Each output pixel is the mean of the area it covers.
struct ResizeArea {
  explicit ResizeArea(AttrReader& a) : attrs(a) {}

  struct Span {
    int64_t begin, end;  // input places, before clamping
    float first, last;   // where the area begins and ends
    float Weight(int64_t i, float scale) const {
      const auto x = static_cast<float>(i);
      if (x < first) return x + 1 > last ? scale : x + 1 - first;
      return x + 1 > last ? last - x : 1;
    }
  };
  static Span SpanOf(int64_t i, float scale) {
    const float first = static_cast<float>(i) * scale, last = static_cast<float>(i + 1) * scale;
    return {static_cast<int64_t>(std::floor(first)), static_cast<int64_t>(std::ceil(last)), first, last};
  }

  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(ImageSize s, CheckImages(c));
    TARE_ASSIGN_OR_RETURN(Tensor images, ImagesAsFloat(c, c.input(0)));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kFloat, s.output()));
    const float row_scale = attrs.rows(s).scale, column_scale = attrs.columns(s).scale;
    const float share = 1 / (row_scale * column_scale);
    const float* in = images.data<float>();
    float* to = out->mutable_data<float>();
    // Areas at least tile the input, so the work is bounded by input plus output.
    c.threads().ParallelFor(s.batch * s.out_h, s.in_w * s.channels * 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* image = in + i / s.out_h * s.in_h * s.in_w * s.channels;
        const Span rows = SpanOf(i % s.out_h, row_scale);
        for (int64_t x = 0; x < s.out_w; ++x) {
          const Span columns = SpanOf(x, column_scale);
          float* pixel = to + (i * s.out_w + x) * s.channels;
          std::fill_n(pixel, s.channels, 0.0f);
          for (int64_t y = rows.begin; y < rows.end; ++y) {
            const float* line = image + std::clamp<int64_t>(y, 0, s.in_h - 1) * s.in_w * s.channels;
            const float weight = rows.Weight(y, row_scale) * share;
            for (int64_t z = columns.begin; z < columns.end; ++z) {
              const float* from = line + std::clamp<int64_t>(z, 0, s.in_w - 1) * s.channels;
              const float w = weight * columns.Weight(z, column_scale);
              for (int64_t k = 0; k < s.channels; ++k) pixel[k] += w * from[k];
            }
          }
        }
      }
    });
    return OkStatus();
  }
  ResizeAttrs attrs;
};

constexpr KernelRow kRows[] = {
    Op<ResizeArea>("ResizeArea"),
    Op<ResizeBicubic>("ResizeBicubic"),
    Op<ResizeBilinear>("ResizeBilinear"),
    Op<ResizeBilinearGrad>("ResizeBilinearGrad"),
    Op<ResizeNearest>("ResizeNearestNeighbor"),
    Op<ResizeNearestGrad>("ResizeNearestNeighborGrad"),
};

}  // namespace
extern constinit const KernelFamily kResizeKernels = kRows;
}  // namespace tare
