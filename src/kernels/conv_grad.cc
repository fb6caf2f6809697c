// Gradients of the convolutions. The one by the input is the transposed convolution that decoders run forward.
#include <algorithm>
#include <cstring>

#include "kernels/float_math.h"
#include "kernels/registry.h"
#include "kernels/window.h"
#include "math/generic_gemm.h"

namespace tare {
namespace {

using math::ConvGeometry;

// Floats of columns computed at a time: enough rows to share a pass over the weights, few enough for the cache.
constexpr int64_t kColumnFloats = 1 << 20;

// d input [images] = scattered (d output * transposed filter).
Status InputGradient(KernelCall& c, const ConvGeometry& g, const float* filter, const float* gradient, float* out) {
  const int64_t width = g.taps() * g.in_channels, rows = g.out[0] * g.out[1];
  const int64_t row_floats = g.out[2] * width, step = std::clamp<int64_t>(kColumnFloats / std::max<int64_t>(1, row_floats), 1, rows);
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{step, g.out[2], width}));
  TARE_ASSIGN_OR_RETURN(Tensor columns, c.Temp(DType::kFloat, shape));
  for (int64_t image = 0; image < g.batch; ++image) {
    for (int64_t first = 0; first < rows; first += step) {
      const int64_t last = std::min(rows, first + step);
      math::GemmProblem p{(last - first) * g.out[2], width, g.out_channels};
      p.a = {gradient + (image * rows + first) * g.out[2] * g.out_channels, g.out_channels};
      p.b = {filter, g.out_channels, true};
      p.c = columns.mutable_data<float>();
      p.c_stride = width;
      TARE_RETURN_IF_ERROR(RunGemm(c, p));
      float* to = out + image * g.in_pixels() * g.in_channels;
      const int64_t cost = row_floats * (last - first) / (g.in[0] * g.in[1]) + 1;
      c.threads().ParallelFor(g.in[0] * g.in[1], cost, [&](int64_t begin, int64_t end) {
        math::AddColumns(g, columns.data<float>(), first, last, begin, end, to);
      });
    }
  }
  return OkStatus();
}

// d filter = transposed windows of the input * d output.
Status FilterGradient(KernelCall& c, const ConvGeometry& g, const float* input, const float* gradient, float* out) {
  const int64_t width = g.taps() * g.in_channels, pixels = g.batch * g.out_pixels();
  const int64_t step = std::clamp<int64_t>(kColumnFloats / width, 1, pixels);
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{step, width}));
  TARE_ASSIGN_OR_RETURN(Tensor columns, c.Temp(DType::kFloat, shape));
  const math::ConvRows rows(g, input);
  for (int64_t first = 0; first < pixels; first += step) {
    const int64_t n = std::min(step, pixels - first);
    rows.Gather(first, n, 0, width, columns.mutable_data<float>(), width);
    math::GemmProblem p{width, g.out_channels, n};
    p.a = {columns.data<float>(), width, true};
    p.b = {gradient + first * g.out_channels, g.out_channels};
    p.c = out;
    p.c_stride = g.out_channels;
    p.epilogue.add = out;
    p.epilogue.add_stride = g.out_channels;
    TARE_RETURN_IF_ERROR(RunGemm(c, p));
  }
  return OkStatus();
}

// Any type, any groups: tap by tap. `x` and `dx`, or `w` and `dw`, are null for the gradient not wanted.
template <class T>
void PlainGradient(KernelCall& c, const ConvGeometry& g, const T* x, const T* w, const T* gradient, T* dx, T* dw) {
  using S = typename math::SumOf<T>::type;
  const int64_t gi = g.group_in(), go = g.group_out();
  auto image = [&](int64_t begin, int64_t end) {
    ForEachTap(g, begin * g.out_pixels(), end * g.out_pixels(), [&](int64_t at, int64_t tap, int64_t out) {
      for (int64_t group = 0; group < g.groups; ++group) {
        const T* dy = gradient + out * g.out_channels + group * go;
        for (int64_t i = 0; i < gi; ++i) {
          const int64_t element = at * g.in_channels + group * gi + i, weight = (tap * gi + i) * g.out_channels + group * go;
          if (dx) {
            S sum = static_cast<S>(dx[element]);
            for (int64_t o = 0; o < go; ++o) sum += static_cast<S>(w[weight + o]) * static_cast<S>(dy[o]);
            dx[element] = static_cast<T>(sum);
          } else {
            const S value = static_cast<S>(x[element]);
            for (int64_t o = 0; o < go; ++o) dw[weight + o] = static_cast<T>(static_cast<S>(dw[weight + o]) + value * static_cast<S>(dy[o]));
          }
        }
      }
    });
  };
  // Images are apart from each other in dx, but share dw.
  if (dx) c.threads().ParallelFor(g.batch, g.out_pixels() * g.taps() * gi * g.out_channels, image);
  else image(0, g.batch);
}

enum class Form { k2d, k3d, kDepthwise };
enum class By { kInput, kFilter };

template <Form kForm, By kBy>
struct ConvGradient {
  explicit ConvGradient(AttrReader& a) : attrs(a, kForm == Form::k3d ? 3 : 2) {}

  Status Run(KernelCall& c) const {
    const int rank = attrs.rank();
    // Inputs are (input_sizes, filter, gradient) or (input, filter_sizes, gradient).
    const Tensor& sizes = c.input(kBy == By::kInput ? 0 : 1);
    Tensor other = c.input(kBy == By::kInput ? 1 : 0), gradient = c.input(2);
    if (other.rank() != rank || gradient.rank() != rank) {
      return InvalidArgument("{}: {} and out_backprop must be {}-dimensional", c.node(),
                             kBy == By::kInput ? "filter" : "input", rank);
    }
    if (attrs.channels_first) {
      TARE_ASSIGN_OR_RETURN(gradient, ChannelsLast(c, gradient));
      if (kBy == By::kFilter) {
        TARE_ASSIGN_OR_RETURN(other, ChannelsLast(c, other));
      }
    }
    TARE_ASSIGN_OR_RETURN(Shape wanted, WantedShape(sizes, other, gradient));
    TARE_ASSIGN_OR_RETURN(ConvGeometry g, kBy == By::kInput ? Geometry(wanted, other.shape()) : Geometry(other.shape(), wanted));
    TARE_RETURN_IF_ERROR(CheckGradient(c, g, gradient));
    const DType dtype = gradient.dtype();
    if (IsNarrowFloat(dtype)) {
      TARE_ASSIGN_OR_RETURN(other, ToFloat(c, other));
      TARE_ASSIGN_OR_RETURN(gradient, ToFloat(c, gradient));
    }
    TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(gradient.dtype(), wanted));
    std::memset(out.mutable_raw(), 0, out.bytes());
    if (out.num_elements() > 0 && gradient.num_elements() > 0 && other.num_elements() > 0) {
      TARE_RETURN_IF_ERROR(Compute(c, g, other, gradient, out));
    }
    if (kBy == By::kInput && attrs.channels_first) {
      TARE_ASSIGN_OR_RETURN(out, ChannelsSecond(c, out));
    }
    if (IsNarrowFloat(dtype)) return SetRounded(c, 0, dtype, std::move(out));
    c.SetOutput(0, std::move(out));
    return OkStatus();
  }

  // The shape of what is computed, channels last.
  Result<Shape> WantedShape(const Tensor& sizes, const Tensor& other, const Tensor& gradient) const {
    const int64_t n = sizes.num_elements(), rank = attrs.rank();
    if (sizes.rank() != 1 || (n != rank && !(kBy == By::kInput && kForm == Form::k2d && n == 2))) {
      return InvalidArgument("{} requires {} to contain {} values{}, but got: {}", "Convolution gradient",
                             kBy == By::kInput ? "input_sizes" : "filter_sizes", rank,
                             kBy == By::kInput && kForm == Form::k2d ? " or 2 values" : "", n);
    }
    int64_t space[5];
    TARE_ASSIGN_OR_RETURN(std::span<const int64_t> values, IntValues(sizes, space));
    std::vector<int64_t> dims(values.begin(), values.end());
    if (n == 2) {
      dims = {gradient.dim(0), values[0], values[1], other.dim(2)};
    } else if (kBy == By::kInput && attrs.channels_first) {
      std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    }
    for (int64_t d : dims) {
      if (d < 0) return InvalidArgument("Dimension {} must be >= 0", d);
    }
    return Shape::Make(dims);
  }

  Result<ConvGeometry> Geometry(const Shape& input, const Shape& filter) const {
    TARE_ASSIGN_OR_RETURN(ConvGeometry g, attrs.Geometry(input, filter, kForm == Form::kDepthwise));
    if (kForm != Form::kDepthwise && g.groups != 1) {
      return InvalidArgument("Gradients for grouped convolutions are not supported on CPU. Computed input depth {} doesn't "
                             "match filter input depth {}", g.in_channels, filter[attrs.spatial]);
    }
    return g;
  }

  Status CheckGradient(KernelCall& c, const ConvGeometry& g, const Tensor& gradient) const {
    if (gradient.dim(0) != g.batch) {
      return InvalidArgument("{}: input and out_backprop must have the same batch size. Input batch: {}, outbackprop "
                             "batch: {}, batch_dim: 0", c.node(), g.batch, gradient.dim(0));
    }
    for (int i = 0; i < attrs.spatial; ++i) {
      const auto d = static_cast<size_t>(i + 3 - attrs.spatial);
      if (gradient.dim(i + 1) == g.out[d]) continue;
      return InvalidArgument("{}: Size of out_backprop doesn't match computed: actual = {}, computed = {} spatial_dim: {} "
                             "input: {} filter: {} output: {} stride: {} dilation: {}", c.node(), gradient.dim(i + 1),
                             g.out[d], i + 1, g.in[d], g.kernel[d], gradient.dim(i + 1), g.stride[d], g.dilation[d]);
    }
    if (gradient.dim(attrs.spatial + 1) != g.out_channels) {
      return InvalidArgument("{}: filter and out_backprop must have the same out_depth", c.node());
    }
    return OkStatus();
  }

  static Status Compute(KernelCall& c, const ConvGeometry& g, const Tensor& other, const Tensor& gradient, Tensor& out) {
    if (out.dtype() == DType::kFloat && g.groups == 1) {
      return (kBy == By::kInput ? InputGradient : FilterGradient)(c, g, other.data<float>(), gradient.data<float>(),
                                                                  out.mutable_data<float>());
    }
    return ForType(Types<float, double, int32_t>{}, out.dtype(), [&]<class T>() {
      const T* given = other.data<T>();
      T* to = out.mutable_data<T>();
      if (kBy == By::kInput) PlainGradient<T>(c, g, nullptr, given, gradient.data<T>(), to, nullptr);
      else PlainGradient<T>(c, g, given, nullptr, gradient.data<T>(), nullptr, to);
      return OkStatus();
    });
  }

  ConvAttrs attrs;
};

constexpr KernelRow kRows[] = {
    Op<ConvGradient<Form::k2d, By::kFilter>>("Conv2DBackpropFilter"),
    Op<ConvGradient<Form::k2d, By::kInput>>("Conv2DBackpropInput"),
    Op<ConvGradient<Form::k3d, By::kFilter>>("Conv3DBackpropFilterV2"),
    Op<ConvGradient<Form::k3d, By::kInput>>("Conv3DBackpropInputV2"),
    Op<ConvGradient<Form::kDepthwise, By::kFilter>>("DepthwiseConv2dNativeBackpropFilter"),
    Op<ConvGradient<Form::kDepthwise, By::kInput>>("DepthwiseConv2dNativeBackpropInput"),
};

}  // namespace
extern constinit const KernelFamily kConvGradKernels = kRows;
}  // namespace tare
