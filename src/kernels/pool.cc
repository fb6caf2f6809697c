// Maximum and average pooling. A window's taps are rows of channels: each output pixel reduces them element by
// element. Channels-first tensors are turned to channels-last and back.
#include "kernels/pool_window.h"

#include <cmath>
#include <limits>

#include "kernels/float_math.h"
#include "kernels/registry.h"
#include "math/backend.h"

namespace tare {
namespace {

using math::ConvGeometry;

enum class Reduce { kMax, kMean };

// MaxPool begins with the lowest finite value, MaxPool3D with minus infinity.
template <class T>
T MaxStart(int spatial) {
  if constexpr (std::is_same_v<T, float>) {
    return spatial == 2 ? std::numeric_limits<float>::lowest() : -std::numeric_limits<float>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <Reduce kReduce, class T>
void ReduceRows(T* to, const T* const* from, int count, int64_t n, T start) {
  if constexpr (std::is_same_v<T, float>) {
    const math::Backend& backend = math::ThisBackend();
    if (kReduce == Reduce::kMax) backend.max_rows(to, from, count, n, start);
    else backend.sum_rows(to, from, count, n, 1.0f / static_cast<float>(count));
  } else {
    std::fill_n(to, n, kReduce == Reduce::kMax ? start : T{});
    for (int j = 0; j < count; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (kReduce == Reduce::kMax) to[i] = from[j][i] > to[i] ? from[j][i] : to[i];
        else to[i] += from[j][i];
      }
    }
    if constexpr (kReduce == Reduce::kMean) {
      for (int64_t i = 0; i < n; ++i) to[i] /= static_cast<T>(count);
    }
  }
}

template <Reduce kReduce, class T>
void Pool(KernelCall& c, const ConvGeometry& g, const T* in, T* out, T start) {
  const int64_t channels = g.in_channels;
  c.threads().ParallelFor(g.batch * g.out_pixels(), g.taps() * channels / 8 + 1, [&](int64_t begin, int64_t end) {
    // Windows may be larger than any array here: taps are reduced in batches through `out` itself.
    constexpr int kRows = 64;
    const T* rows[kRows];
    if (g.taps() <= kRows) {
      for (int64_t pixel = begin; pixel < end; ++pixel) {
        int count = 0;
        ForEachTap(g, pixel, pixel + 1, [&](int64_t from, int64_t, int64_t) { rows[count++] = in + from * channels; });
        ReduceRows<kReduce>(out + pixel * channels, rows, count, channels, start);
      }
      return;
    }
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      T* to = out + pixel * channels;
      std::fill_n(to, channels, kReduce == Reduce::kMax ? start : T{});
      int64_t count = 0;
      ForEachTap(g, pixel, pixel + 1, [&](int64_t from, int64_t, int64_t) {
        const T* row = in + from * channels;
        ++count;
        for (int64_t i = 0; i < channels; ++i) {
          if constexpr (kReduce == Reduce::kMax) to[i] = row[i] > to[i] ? row[i] : to[i];
          else to[i] += row[i];
        }
      });
      if (kReduce == Reduce::kMean) {
        for (int64_t i = 0; i < channels; ++i) to[i] /= static_cast<T>(count);
      }
    }
  });
}

// Windows over the channels alone: neighbours of one pixel.
template <class T>
void PoolChannels(const ConvGeometry& g, int64_t window, const T* in, T* out, T start) {
  const int64_t n = g.batch * g.in_pixels() * g.in_channels / window;
  for (int64_t i = 0; i < n; ++i, in += window) {
    out[i] = start;
    for (int64_t j = 0; j < window; ++j) out[i] = in[j] > out[i] ? in[j] : out[i];
  }
}

template <Reduce kReduce>
Status RunPool(KernelCall& c, const PoolWindow& w) {
  Tensor in = c.input(0);
  TARE_RETURN_IF_ERROR(w.CheckInput(in));
  if (w.channels_first) {
    TARE_ASSIGN_OR_RETURN(in, ChannelsLast(c, in));
  }
  TARE_ASSIGN_OR_RETURN(ConvGeometry g, w.Geometry(in.shape()));
  if (w.channel_window > 1) {
    if (kReduce == Reduce::kMean) return Unimplemented("Non-spatial pooling is not yet supported.");
    g.out_channels = g.in_channels / w.channel_window;
  }
  TARE_ASSIGN_OR_RETURN(Shape shape, w.OutputShape(g));
  const DType dtype = in.dtype();
  float start = MaxStart<float>(w.spatial);
  if (IsNarrowFloat(dtype)) {
    TARE_ASSIGN_OR_RETURN(in, ToFloat(c, in));
    // The lowest finite value of the narrow type.
    if (w.spatial == 2) start = dtype == DType::kHalf ? -65504.0f : -0x1.fep127f;
  }
  TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(in.dtype(), shape));
  if (shape.num_elements() > 0) {
    TARE_RETURN_IF_ERROR(ForType(Join<Types<float, double>, Integers>{}, in.dtype(), [&]<class T>() {
      T from = MaxStart<T>(w.spatial);
      if constexpr (std::is_same_v<T, float>) from = start;
      if (w.channel_window > 1) PoolChannels(g, w.channel_window, in.data<T>(), out.mutable_data<T>(), from);
      else Pool<kReduce>(c, g, in.data<T>(), out.mutable_data<T>(), from);
      return OkStatus();
    }));
  }
  if (w.channels_first) {
    TARE_ASSIGN_OR_RETURN(out, ChannelsSecond(c, out));
  }
  if (IsNarrowFloat(dtype)) return SetRounded(c, 0, dtype, std::move(out));
  c.SetOutput(0, std::move(out));
  return OkStatus();
}

template <Reduce kReduce, int kSpatial>
struct PoolKernel {
  explicit PoolKernel(AttrReader& a) : window(a, kSpatial) {}
  Status Run(KernelCall& c) const { return RunPool<kReduce>(c, window); }
  PoolWindow window;
};

// The window is given by inputs.
struct MaxPoolV2 {
  explicit MaxPoolV2(AttrReader& a) : window(a) {}
  Status Run(KernelCall& c) const {
    PoolWindow w = window;
    TARE_RETURN_IF_ERROR(w.ReadSizes(c.input(1), c.input(2)));
    return RunPool<Reduce::kMax>(c, w);
  }
  PoolWindow window;
};

struct MaxPoolWithArgmax {
  explicit MaxPoolWithArgmax(AttrReader& a)
      : window(a, 2), with_batch(a.Bool("include_batch_in_index")), index(a.Type("Targmax")) {}

  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4) return InvalidArgument("tensor_in must be 4-dimensional (2)");
    if (in.num_elements() == 0) return InvalidArgument("tensor_in must not be empty (2)");
    TARE_ASSIGN_OR_RETURN(ConvGeometry g, window.Geometry(in.shape()));
    TARE_ASSIGN_OR_RETURN(Shape shape, window.OutputShape(g));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
    TARE_ASSIGN_OR_RETURN(Tensor * where, c.Output(1, index, shape));
    return ForType(Reals{}, in.dtype(), [&]<class T>() {
      return ForType(Indexes{}, index, [&]<class I>() {
        Find(c, g, in.data<T>(), out->mutable_data<T>(), where->mutable_data<I>());
        return OkStatus();
      });
    });
  }

  // The first largest element; a NaN stays if it comes first and is passed over later.
  template <class T, class I>
  void Find(KernelCall& c, const ConvGeometry& g, const T* in, T* out, I* where) const {
    const int64_t channels = g.in_channels;
    c.threads().ParallelFor(g.batch * g.out_pixels(), g.taps() * channels, [&](int64_t begin, int64_t end) {
      int64_t pixel = -1;
      ForEachTap(g, begin, end, [&](int64_t from, int64_t, int64_t to) {
        const bool first = to != pixel;
        pixel = to;
        const int64_t base = with_batch ? 0 : to / g.out_pixels() * g.in_pixels();
        for (int64_t i = 0; i < channels; ++i) {
          const int64_t at = to * channels + i;
          if (!first && !(in[from * channels + i] > out[at])) continue;
          out[at] = in[from * channels + i];
          where[at] = static_cast<I>((from - base) * channels + i);
        }
      });
    });
  }

  PoolWindow window;
  bool with_batch;
  DType index;
};

constexpr KernelRow kRows[] = {
    Op<PoolKernel<Reduce::kMean, 2>>("AvgPool"), Op<PoolKernel<Reduce::kMean, 3>>("AvgPool3D"),
    Op<PoolKernel<Reduce::kMax, 2>>("MaxPool"),  Op<PoolKernel<Reduce::kMax, 3>>("MaxPool3D"),
    Op<MaxPoolV2>("MaxPoolV2"),                  Op<MaxPoolWithArgmax>("MaxPoolWithArgmax"),
};

}  // namespace
extern constinit const KernelFamily kPoolKernels = kRows;
}  // namespace tare
