// Grey-scale dilation, out = maximum over the window of input + filter, and its gradients. What
// lies outside the image is left out.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/registry.h"
#include "kernels/window.h"

namespace tare {
namespace {

using math::ConvGeometry;

struct DilationAttrs {
  explicit DilationAttrs(AttrReader& a)
      : padding(ReadPadding(a)), strides(a.Ints("strides")), rates(a.Ints("rates")) {
    if (!a.status().ok()) return;
    if (strides.size() != 4 || rates.size() != 4) {
      a.Fail(InvalidArgument("Sliding window stride and rate must specify 4 dimensions"));
    } else if (strides[0] != 1 || strides[3] != 1 || rates[0] != 1 || rates[3] != 1) {
      a.Fail(Unimplemented("Stride and rate are only supported across spatial dimensions."));
    }
  }

  // Of [batch, height, width, depth] and [height, width, depth].
  Result<ConvGeometry> Geometry(const Tensor& in, const Tensor& filter) const {
    if (in.rank() != 4)
      return InvalidArgument("input must be 4-dimensional{}", in.shape().ToString());
    if (filter.rank() != 3)
      return InvalidArgument("filter must be 3-dimensional: {}", filter.shape().ToString());
    if (in.dim(3) != filter.dim(2)) {
      return InvalidArgument("input and filter must have the same depth: {} vs {}", in.dim(3),
                             filter.dim(2));
    }
    ConvGeometry g;
    g.batch = in.dim(0);
    g.in_channels = g.out_channels = in.dim(3);
    for (size_t d = 1; d < 3; ++d) {
      g.in[d] = in.dim(static_cast<int>(d));
      g.kernel[d] = filter.dim(static_cast<int>(d) - 1);
      g.stride[d] = strides[d];
      g.dilation[d] = rates[d];
      TARE_ASSIGN_OR_RETURN(WindowSize size,
                            SizeWindow(g.in[d], g.kernel[d], rates[d], strides[d], padding, 0, 0));
      g.out[d] = size.out;
      g.pad[d] = size.before;
    }
    return g;
  }

  Padding padding;
  std::vector<int64_t> strides, rates;
};

Result<Shape> OutputShape(const ConvGeometry& g) {
  return Shape::Make(std::array{g.batch, g.out[1], g.out[2], g.out_channels});
}

template <class T>
T Lowest() {
  if constexpr (std::is_same_v<T, Half>)
    return Half(-65504.0f);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return BFloat16(-0x1.fep127f);
  else
    return std::numeric_limits<T>::lowest();
}

// In the type itself; integers wrap.
template <class T>
T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return static_cast<T>(a + b);
}

struct Dilation2D {
  explicit Dilation2D(AttrReader& a) : attrs(a) {}

  Status Run(KernelCall& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    TARE_ASSIGN_OR_RETURN(ConvGeometry g, attrs.Geometry(in, filter));
    TARE_ASSIGN_OR_RETURN(Shape shape, OutputShape(g));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
    if (out->num_elements() == 0) return OkStatus();
    return ForType(Reals{}, in.dtype(), [&]<class T>() {
      Dilate(c, g, in.data<T>(), filter.data<T>(), out->mutable_data<T>());
      return OkStatus();
    });
  }

  template <class T>
  static void Dilate(KernelCall& c, const ConvGeometry& g, const T* in, const T* filter, T* out) {
    const int64_t channels = g.in_channels;
    c.threads().ParallelFor(
        g.batch * g.out_pixels(), g.taps() * channels, [&](int64_t begin, int64_t end) {
          std::fill(out + begin * channels, out + end * channels, Lowest<T>());
          ForEachTap(g, begin, end, [&](int64_t from, int64_t tap, int64_t to) {
            for (int64_t i = 0; i < channels; ++i) {
              const T sum = Sum(in[from * channels + i], filter[tap * channels + i]);
              if (sum > out[to * channels + i]) out[to * channels + i] = sum;
            }
          });
        });
  }

  DilationAttrs attrs;
};

// What an output element took its value from.
template <class T>
struct Source {
  T sum;
  int64_t in, tap;  // pixel of the input, tap of the filter
};

// The input pixel of the window's first tap, or the nearest in the image: what TensorFlow takes for
// the source where no sum is greater than the type's lowest value.
int64_t FirstPixel(const ConvGeometry& g, int64_t pixel) {
  const int64_t row = pixel / g.out[2], image = row / g.out[1];
  const int64_t y = std::max<int64_t>(0, (row - image * g.out[1]) * g.stride[1] - g.pad[1]);
  const int64_t x = std::max<int64_t>(0, (pixel - row * g.out[2]) * g.stride[2] - g.pad[2]);
  return (image * g.in[1] + y) * g.in[2] + x;
}

// The gradient goes to the first largest sum of each window: to its input pixel, or to its tap.
template <bool kOfFilter>
struct Dilation2DGrad {
  explicit Dilation2DGrad(AttrReader& a) : attrs(a) {}

  Status Run(KernelCall& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1), &grad = c.input(2);
    TARE_ASSIGN_OR_RETURN(ConvGeometry g, attrs.Geometry(in, filter));
    TARE_ASSIGN_OR_RETURN(Shape expected, OutputShape(g));
    if (!(grad.shape() == expected)) {
      return InvalidArgument("out_backprop has incompatible size: {} instead of {}",
                             grad.shape().ToString(), expected.ToString());
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out,
                          c.Output(0, in.dtype(), kOfFilter ? filter.shape() : in.shape()));
    std::memset(out->mutable_raw(), 0, out->bytes());
    if (grad.num_elements() == 0 || out->num_elements() == 0 || g.taps() == 0) return OkStatus();
    return ForType(Reals{}, in.dtype(), [&]<class T>() {
      // Images have input gradients of their own; the filter's is one sum over all.
      const int64_t pixels = g.out_pixels(), cost = pixels * g.taps() * g.in_channels * 2;
      auto images = [&](int64_t begin, int64_t end) {
        Spread(g, in.data<T>(), filter.data<T>(), grad.data<T>(), begin * pixels, end * pixels,
               out->mutable_data<T>());
      };
      if (kOfFilter)
        images(0, g.batch);
      else
        c.threads().ParallelFor(g.batch, cost, images);
      return OkStatus();
    });
  }

  template <class T>
  static void Spread(const ConvGeometry& g, const T* in, const T* filter, const T* grad,
                     int64_t begin, int64_t end, T* out) {
    const int64_t channels = g.in_channels;
    std::vector<Source<T>> sources(static_cast<size_t>(channels));
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      std::ranges::fill(sources, Source<T>{Lowest<T>(), FirstPixel(g, pixel), 0});
      ForEachTap(g, pixel, pixel + 1, [&](int64_t from, int64_t tap, int64_t) {
        for (int64_t i = 0; i < channels; ++i) {
          Source<T>& source = sources[static_cast<size_t>(i)];
          const T sum = Sum(in[from * channels + i], filter[tap * channels + i]);
          if (sum > source.sum) source = {sum, from, tap};
        }
      });
      for (int64_t i = 0; i < channels; ++i) {
        const Source<T>& source = sources[static_cast<size_t>(i)];
        T& to = out[(kOfFilter ? source.tap : source.in) * channels + i];
        to = Sum(to, grad[pixel * channels + i]);
      }
    }
  }

  DilationAttrs attrs;
};

constexpr KernelRow kRows[] = {
    Op<Dilation2D>("Dilation2D"),
    Op<Dilation2DGrad<true>>("Dilation2DBackpropFilter"),
    Op<Dilation2DGrad<false>>("Dilation2DBackpropInput"),
};

}  // namespace
extern constinit const KernelFamily kDilationKernels = kRows;
}  // namespace tare
