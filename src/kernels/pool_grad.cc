// Gradients of pooling, and grey-scale dilation, which slides a window like a pool but adds a filter.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/float_math.h"
#include "kernels/pool_window.h"
#include "kernels/registry.h"

namespace tare {
namespace {

using math::ConvGeometry;

template <int kSpatial>
struct AvgPoolGrad {
  explicit AvgPoolGrad(AttrReader& a) : window(a, kSpatial) {}

  Status Run(KernelCall& c) const {
    const Tensor& sizes = c.input(0);
    const int rank = kSpatial + 2;
    if (sizes.rank() != 1 || sizes.num_elements() != rank) {
      return InvalidArgument("orig_input_shape must be 1-dimensional and {} elements", rank);
    }
    if (c.input(1).rank() != rank) return InvalidArgument("out_backprop must be {}-dimensional", rank);
    int64_t space[5];
    TARE_ASSIGN_OR_RETURN(std::span<const int64_t> values, IntValues(sizes, space));
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(values));
    Tensor grad = c.input(1);
    if (window.channels_first) {
      TARE_ASSIGN_OR_RETURN(grad, ChannelsLast(c, grad));
      const int64_t channels = shape[1];
      shape.Remove(1);
      shape.Append(channels);
    }
    TARE_ASSIGN_OR_RETURN(ConvGeometry g, window.Geometry(shape));
    TARE_ASSIGN_OR_RETURN(Shape expected, window.OutputShape(g));
    if (window.channel_window > 1) return Unimplemented("Non-spatial pooling is not yet supported.");
    if (!(grad.shape() == expected)) {
      return InvalidArgument("Expected grad shape to be {}, but got {}", expected.ToString(), grad.shape().ToString());
    }
    const DType dtype = grad.dtype();
    if (IsNarrowFloat(dtype)) {
      TARE_ASSIGN_OR_RETURN(grad, ToFloat(c, grad));
    }
    TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(grad.dtype(), shape));
    std::memset(out.mutable_raw(), 0, out.bytes());
    TARE_RETURN_IF_ERROR(ForType(Types<float, double>{}, grad.dtype(), [&]<class T>() {
      if (grad.num_elements() > 0) Spread(g, grad.data<T>(), out.mutable_data<T>());
      return OkStatus();
    }));
    if (window.channels_first) {
      TARE_ASSIGN_OR_RETURN(out, ChannelsSecond(c, out));
    }
    if (IsNarrowFloat(dtype)) return SetRounded(c, 0, dtype, std::move(out));
    c.SetOutput(0, std::move(out));
    return OkStatus();
  }

  template <class T>
  static void Spread(const ConvGeometry& g, const T* grad, T* out) {
    const int64_t channels = g.in_channels;
    for (int64_t pixel = 0; pixel < g.batch * g.out_pixels(); ++pixel) {
      int64_t count = 0;
      ForEachTap(g, pixel, pixel + 1, [&](int64_t, int64_t, int64_t) { ++count; });
      ForEachTap(g, pixel, pixel + 1, [&](int64_t at, int64_t, int64_t) {
        for (int64_t i = 0; i < channels; ++i) out[at * channels + i] += grad[pixel * channels + i] / static_cast<T>(count);
      });
    }
  }

  PoolWindow window;
};

// In two dimensions the first largest element of a window takes its gradient; in three every largest does.
template <int kSpatial>
Status RunMaxPoolGrad(KernelCall& c, const PoolWindow& window) {
  Tensor in = c.input(0), result = c.input(1), grad = c.input(2);
  if (in.rank() != kSpatial + 2) return InvalidArgument("tensor_in must be {}-dimensional", kSpatial + 2);
  if (window.channel_window > 1) return Unimplemented("MaxPoolGrad is not supported across depth.");
  if (window.channels_first) {
    for (Tensor* t : {&in, &result, &grad}) {
      if (t->rank() != kSpatial + 2) return InvalidArgument("tensor_out must be {}-dimensional", kSpatial + 2);
      TARE_ASSIGN_OR_RETURN(*t, ChannelsLast(c, *t));
    }
  }
  TARE_ASSIGN_OR_RETURN(ConvGeometry g, window.Geometry(in.shape()));
  TARE_ASSIGN_OR_RETURN(Shape expected, window.OutputShape(g));
  if (!(result.shape() == expected) || !(grad.shape() == expected)) {
    return InvalidArgument("Expected {} shape to be {}, but got {}", result.shape() == expected ? "grad" : "orig_output",
                           expected.ToString(), (result.shape() == expected ? grad : result).shape().ToString());
  }
  TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(grad.dtype(), in.shape()));
  std::memset(out.mutable_raw(), 0, out.bytes());
  const int64_t channels = g.in_channels;
  TARE_RETURN_IF_ERROR(ForType(Reals{}, grad.dtype(), [&]<class T>() {
    if (grad.num_elements() == 0) return OkStatus();
    const T *x = in.data<T>(), *y = result.data<T>(), *dy = grad.data<T>();
    T* dx = out.mutable_data<T>();
    std::vector<int64_t> best(static_cast<size_t>(channels));
    for (int64_t pixel = 0; pixel < g.batch * g.out_pixels(); ++pixel) {
      std::ranges::fill(best, -1);
      ForEachTap(g, pixel, pixel + 1, [&](int64_t at, int64_t, int64_t) {
        for (int64_t i = 0; i < channels; ++i) {
          int64_t& b = best[static_cast<size_t>(i)];
          const int64_t from = at * channels + i, to = pixel * channels + i;
          if (kSpatial == 3) {
            if (x[from] == y[to]) dx[from] = static_cast<T>(dx[from] + dy[to]);
          } else if (b < 0 || x[from] > x[b]) {
            b = from;
          }
        }
      });
      if (kSpatial == 3) continue;
      for (int64_t i = 0; i < channels; ++i) {
        if (const int64_t b = best[static_cast<size_t>(i)]; b >= 0) dx[b] = static_cast<T>(dx[b] + dy[pixel * channels + i]);
      }
    }
    return OkStatus();
  }));
  if (window.channels_first) {
    TARE_ASSIGN_OR_RETURN(out, ChannelsSecond(c, out));
  }
  c.SetOutput(0, std::move(out));
  return OkStatus();
}

template <int kSpatial>
struct MaxPoolGrad {
  explicit MaxPoolGrad(AttrReader& a) : window(a, kSpatial) {}
  Status Run(KernelCall& c) const { return RunMaxPoolGrad<kSpatial>(c, window); }
  PoolWindow window;
};

struct MaxPoolGradV2 {
  explicit MaxPoolGradV2(AttrReader& a) : window(a) {}
  Status Run(KernelCall& c) const {
    PoolWindow w = window;
    TARE_RETURN_IF_ERROR(w.ReadSizes(c.input(3), c.input(4)));
    return RunMaxPoolGrad<2>(c, w);
  }
  PoolWindow window;
};

// out = maximum over the window of input + filter; what lies outside the image is left out.
struct Dilation2D {
  explicit Dilation2D(AttrReader& a) : padding(ReadPadding(a)), strides(a.Ints("strides")), rates(a.Ints("rates")) {
    if (!a.status().ok()) return;
    if (strides.size() != 4 || rates.size() != 4) {
      a.Fail(InvalidArgument("Sliding window stride and rate must specify 4 dimensions"));
    } else if (strides[0] != 1 || strides[3] != 1 || rates[0] != 1 || rates[3] != 1) {
      a.Fail(Unimplemented("Stride and rate are only supported across spatial dimensions."));
    }
  }

  Status Run(KernelCall& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    if (in.rank() != 4) return InvalidArgument("input must be 4-dimensional{}", in.shape().ToString());
    if (filter.rank() != 3) return InvalidArgument("filter must be 3-dimensional: {}", filter.shape().ToString());
    if (in.dim(3) != filter.dim(2)) {
      return InvalidArgument("input and filter must have the same depth: {} vs {}", in.dim(3), filter.dim(2));
    }
    ConvGeometry g;
    g.batch = in.dim(0);
    g.in_channels = g.out_channels = in.dim(3);
    for (size_t d = 1; d < 3; ++d) {
      g.in[d] = in.dim(static_cast<int>(d));
      g.kernel[d] = filter.dim(static_cast<int>(d) - 1);
      g.stride[d] = strides[d];
      g.dilation[d] = rates[d];
      TARE_ASSIGN_OR_RETURN(WindowSize size, SizeWindow(g.in[d], g.kernel[d], rates[d], strides[d], padding, 0, 0));
      g.out[d] = size.out;
      g.pad[d] = size.before;
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{g.batch, g.out[1], g.out[2], g.out_channels}));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
    if (out->num_elements() == 0) return OkStatus();
    return ForType(Reals{}, in.dtype(), [&]<class T>() {
      Dilate(c, g, in.data<T>(), filter.data<T>(), out->mutable_data<T>());
      return OkStatus();
    });
  }

  template <class T>
  static T Lowest() {
    if constexpr (std::is_same_v<T, Half>) return Half(-65504.0f);
    else if constexpr (std::is_same_v<T, BFloat16>) return BFloat16(-0x1.fep127f);
    else return std::numeric_limits<T>::lowest();
  }

  template <class T>
  static void Dilate(KernelCall& c, const ConvGeometry& g, const T* in, const T* filter, T* out) {
    const int64_t channels = g.in_channels;
    c.threads().ParallelFor(g.batch * g.out_pixels(), g.taps() * channels, [&](int64_t begin, int64_t end) {
      std::fill(out + begin * channels, out + end * channels, Lowest<T>());
      ForEachTap(g, begin, end, [&](int64_t from, int64_t tap, int64_t to) {
        for (int64_t i = 0; i < channels; ++i) {
          const T a = in[from * channels + i], b = filter[tap * channels + i];
          T sum;
          if constexpr (std::is_integral_v<T>) sum = static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
          else sum = static_cast<T>(a + b);
          if (sum > out[to * channels + i]) out[to * channels + i] = sum;
        }
      });
    });
  }

  Padding padding;
  std::vector<int64_t> strides, rates;
};

constexpr KernelRow kRows[] = {
    Op<AvgPoolGrad<3>>("AvgPool3DGrad"), Op<AvgPoolGrad<2>>("AvgPoolGrad"), Op<Dilation2D>("Dilation2D"),
    Op<MaxPoolGrad<3>>("MaxPool3DGrad"), Op<MaxPoolGrad<2>>("MaxPoolGrad"), Op<MaxPoolGradV2>("MaxPoolGradV2"),
};

}  // namespace
extern constinit const KernelFamily kPoolGradKernels = kRows;
}  // namespace tare
