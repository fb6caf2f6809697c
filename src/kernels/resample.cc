// Images under a general scale and translation, and boxes cut out of images.
#include <algorithm>
#include <cmath>

#include "kernels/image_size.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// A symmetric resampling kernel: zero from `radius` on.
struct Filter {
  std::string_view name;
  float radius;
  float (*at)(float);  // of a distance >= 0
};

template <int kRadius>
float Lanczos(float x) {
  constexpr float kPi = 3.14159265358979f;
  if (x > kRadius) return 0;
  if (x <= 1e-3f) return 1;
  return kRadius * std::sin(kPi * x) * std::sin(kPi * x / kRadius) / (kPi * kPi * x * x);
}
float Gaussian(float x) { return x >= 1.5f ? 0 : std::exp(-x * x / (2 * 0.5f * 0.5f)); }
float Box(float x) { return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0; }
float Triangle(float x) { return x < 1 ? 1 - x : 0; }
float KeysCubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
}
float MitchellCubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9 : ((7.0f / 6 * x - 2) * x) * x + 8.0f / 9;
}

constexpr Filter kFilters[] = {
    {"lanczos1", 1, Lanczos<1>}, {"lanczos3", 3, Lanczos<3>}, {"lanczos5", 5, Lanczos<5>}, {"gaussian", 1.5f, Gaussian},
    {"box", 0.5f, Box},          {"triangle", 1, Triangle},   {"keyscubic", 2, KeysCubic}, {"mitchellcubic", 2, MitchellCubic},
};

// The input places one output place draws on, and their weights.
struct Span {
  int64_t begin = 0;
  std::vector<float> weights;
};

std::vector<Span> Spans(const Filter& filter, bool antialias, int64_t in, int64_t out, float scale, float translate) {
  const float inverse = 1 / scale, shift = -inverse * translate;
  const float width = antialias ? std::max(inverse, 1.0f) : 1;
  std::vector<Span> spans(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float center = (static_cast<float>(i) + 0.5f) * inverse + shift;
    if (!(center >= 0 && center <= static_cast<float>(in))) continue;  // nothing there
    const float top = static_cast<float>(in - 1);
    const auto begin = static_cast<int64_t>(std::clamp(std::ceil(center - filter.radius * width - 0.5f), 0.0f, top));
    const auto end = static_cast<int64_t>(std::clamp(std::floor(center + filter.radius * width - 0.5f), 0.0f, top)) + 1;
    Span& span = spans[static_cast<size_t>(i)];
    span.begin = begin;
    float sum = 0;
    for (int64_t k = begin; k < end; ++k) {
      span.weights.push_back(filter.at(std::abs(static_cast<float>(k) + 0.5f - center) / width));
      sum += span.weights.back();
    }
    if (std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
      for (float& w : span.weights) w /= sum;
    }
  }
  return spans;
}

struct ScaleAndTranslate {
  explicit ScaleAndTranslate(AttrReader& a) : antialias(a.Bool("antialias")) {
    const std::string kernel = a.String("kernel_type");
    for (const Filter& f : kFilters) {
      if (f.name == kernel) filter = &f;
    }
    if (!filter) a.Fail(InvalidArgument("Unrecognized kernel type: {}", kernel));
  }

  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(ImageSize s, CheckImages(c));
    for (int i = 2; i < 4; ++i) {
      if (c.input(i).rank() != 1 || c.input(i).dim(0) != 2) {
        return InvalidArgument("{} must be a vector of two elements{}", i == 2 ? "scale" : "translation",
                               c.input(i).shape().ToString());
      }
    }
    const float* scale = c.input(2).data<float>();
    const float* translate = c.input(3).data<float>();
    if (!(scale[0] > 0 && scale[1] > 0)) return InvalidArgument("Scale must be greater than zero.");
    TARE_ASSIGN_OR_RETURN(Tensor images, ImagesAsFloat(c, c.input(0)));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kFloat, s.output()));
    if (s.batch == 0) return OkStatus();
    const std::vector<Span> rows = Spans(*filter, antialias, s.in_h, s.out_h, scale[0], translate[0]);
    const std::vector<Span> columns = Spans(*filter, antialias, s.in_w, s.out_w, scale[1], translate[1]);
    const int64_t row_floats = s.in_w * s.channels;
    const float* in = images.data<float>();
    float* to = out->mutable_data<float>();
    c.threads().ParallelFor(s.batch * s.out_h, row_floats * 8, [&](int64_t begin, int64_t end) {
      std::vector<float> mixed(static_cast<size_t>(row_floats));
      for (int64_t i = begin; i < end; ++i) {
        const Span& row = rows[static_cast<size_t>(i % s.out_h)];
        const float* from = in + (i / s.out_h * s.in_h + row.begin) * row_floats;
        std::ranges::fill(mixed, 0.0f);
        for (float w : row.weights) {
          for (int64_t x = 0; x < row_floats; ++x) mixed[static_cast<size_t>(x)] += w * from[x];
          from += row_floats;
        }
        float* line = to + i * s.out_w * s.channels;
        for (const Span& column : columns) {
          std::fill_n(line, s.channels, 0.0f);
          const float* pixel = mixed.data() + column.begin * s.channels;
          for (float w : column.weights) {
            for (int64_t k = 0; k < s.channels; ++k) line[k] += w * pixel[k];
            pixel += s.channels;
          }
          line += s.channels;
        }
      }
    });
    return OkStatus();
  }
  const Filter* filter = nullptr;
  bool antialias;
};

// Where the pixels of a crop lie along one side of the image; false outside it.
struct CropSide {
  CropSide(float low, float high, int64_t in, int64_t out)
      : top(static_cast<float>(in - 1)),
        start(out > 1 ? low * top : 0.5f * (low + high) * top),
        scale(out > 1 ? (high - low) * top / static_cast<float>(out - 1) : 0) {}
  bool At(int64_t i, float* x) const {
    *x = start + static_cast<float>(i) * scale;
    return *x >= 0 && *x <= top;
  }
  float top, start, scale;
};

struct CropAndResize {
  explicit CropAndResize(AttrReader& a)
      : nearest(a.String("method") == "nearest"), outside(a.Float("extrapolation_value")) {}

  Status Run(KernelCall& c) const {
    const Tensor &image = c.input(0), &boxes = c.input(1), &index = c.input(2), &size = c.input(3);
    if (image.rank() != 4) return InvalidArgument("input image must be 4-D{}", image.shape().ToString());
    if (image.dim(1) <= 0 || image.dim(2) <= 0) return InvalidArgument("image dimensions must be positive");
    if (boxes.num_elements() == 0 && index.num_elements() == 0) {
      // TensorFlow takes any shapes here when there is no box.
    } else if (boxes.rank() != 2 || boxes.dim(1) != 4) {
      return InvalidArgument("boxes must be 2-D with 4 columns{}", boxes.shape().ToString());
    } else if (index.rank() != 1 || index.dim(0) != boxes.dim(0)) {
      return InvalidArgument("box_index has incompatible shape{}", index.shape().ToString());
    }
    if (size.rank() != 1 || size.dim(0) != 2) {
      return InvalidArgument("crop_size must be a vector of two elements{}", size.shape().ToString());
    }
    const int64_t h = size.data<int32_t>()[0], w = size.data<int32_t>()[1];
    if (h <= 0 || w <= 0) return InvalidArgument("crop dimensions must be positive");
    const int64_t n = boxes.num_elements() / 4;
    for (int32_t i : index.as<int32_t>()) {
      if (i < 0 || i >= image.dim(0)) return OutOfRange("box_index has values outside [0, batch_size)");
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{n, h, w, image.dim(3)}));
    TARE_ASSIGN_OR_RETURN(Tensor wide, ImagesAsFloat(c, image));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kFloat, shape));
    if (out->num_elements() == 0) return OkStatus();
    const int64_t channels = image.dim(3);
    c.threads().ParallelFor(n * h, w * channels * 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* box = boxes.data<float>() + i / h * 4;
        const float* from = wide.data<float>() + index.data<int32_t>()[i / h] * image.dim(1) * image.dim(2) * channels;
        const CropSide rows(box[0], box[2], image.dim(1), h), columns(box[1], box[3], image.dim(2), w);
        float y = 0, x = 0;
        const bool inside = rows.At(i % h, &y);
        for (int64_t k = 0; k < w; ++k) {
          float* pixel = out->mutable_data<float>() + (i * w + k) * channels;
          if (inside && columns.At(k, &x)) Sample(from, image.dim(2), channels, y, x, pixel);
          else std::fill_n(pixel, channels, outside);
        }
      }
    });
    return OkStatus();
  }

  void Sample(const float* image, int64_t width, int64_t channels, float y, float x, float* to) const {
    if (nearest) {
      const int64_t at = static_cast<int64_t>(std::round(y)) * width + static_cast<int64_t>(std::round(x));
      std::copy_n(image + at * channels, channels, to);
      return;
    }
    const float fy = y - std::floor(y), fx = x - std::floor(x);
    const auto y0 = static_cast<int64_t>(std::floor(y)), y1 = static_cast<int64_t>(std::ceil(y));
    const auto x0 = static_cast<int64_t>(std::floor(x)), x1 = static_cast<int64_t>(std::ceil(x));
    const float *a = image + (y0 * width + x0) * channels, *b = image + (y0 * width + x1) * channels;
    const float *d = image + (y1 * width + x0) * channels, *e = image + (y1 * width + x1) * channels;
    for (int64_t k = 0; k < channels; ++k) {
      const float top = a[k] + (b[k] - a[k]) * fx, bottom = d[k] + (e[k] - d[k]) * fx;
      to[k] = top + (bottom - top) * fy;
    }
  }
  bool nearest;
  float outside;
};

constexpr KernelRow kRows[] = {
    Op<CropAndResize>("CropAndResize"),
    Op<ScaleAndTranslate>("ScaleAndTranslate"),
};

}  // namespace
extern constinit const KernelFamily kResampleKernels = kRows;
}  // namespace tare
