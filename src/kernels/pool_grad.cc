// Gradients of pooling.
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

constexpr KernelRow kRows[] = {
    Op<AvgPoolGrad<3>>("AvgPool3DGrad"), Op<AvgPoolGrad<2>>("AvgPoolGrad"), Op<MaxPoolGrad<3>>("MaxPool3DGrad"),
    Op<MaxPoolGrad<2>>("MaxPoolGrad"), Op<MaxPoolGradV2>("MaxPoolGradV2"),
};

}  // namespace
extern constinit const KernelFamily kPoolGradKernels = kRows;
}  // namespace tare
