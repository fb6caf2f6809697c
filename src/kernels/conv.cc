// Convolutions, forward. Channels-first tensors are turned to channels-last and back.
#include <cstring>

#include "kernels/float_math.h"
#include "kernels/fused.h"
#include "kernels/registry.h"
#include "kernels/window.h"
#include "math/depthwise.h"
#include "math/generic_gemm.h"

namespace tare {
namespace {

using math::ConvGeometry;

// Each channel `times` times: depthwise multipliers become channels of their own.
Result<Tensor> RepeatChannels(KernelCall& c, const Tensor& t, int64_t pixels, int64_t channels, int64_t times) {
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{pixels, channels * times}));
  TARE_ASSIGN_OR_RETURN(Tensor to, c.Temp(DType::kFloat, shape));
  const float* from = t.data<float>();
  float* out = to.mutable_data<float>();
  c.threads().ParallelFor(pixels, channels * times, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * channels; i < end * channels; ++i) std::fill_n(out + i * times, times, from[i]);
  });
  return to;
}

Status RunDepthwise(KernelCall& c, const ConvGeometry& g, const Tensor& input, const float* weights, float* out,
                    const math::Epilogue& e) {
  Tensor source = input;
  const int64_t multiplier = g.group_out();
  if (multiplier != 1) {
    TARE_ASSIGN_OR_RETURN(source, RepeatChannels(c, input, g.batch * g.in_pixels(), g.in_channels, multiplier));
  }
  math::DepthwiseProblem p{
      g.batch, g.in[1], g.in[2], g.out_channels, g.out[1], g.out[2], g.kernel[1], g.kernel[2], g.stride[1],
      g.stride[2], g.dilation[1], g.dilation[2], g.pad[1], g.pad[2], source.data<float>(), weights, out, e};
  math::RunDepthwise(p, c.threads());
  return OkStatus();
}

Status RunFloat(KernelCall& c, const ConvGeometry& g, const Tensor& input, const float* weights, float* out,
                const math::Epilogue& e) {
  if (g.groups > 1 && g.group_in() == 1 && g.kernel[0] == 1 && g.in[0] == 1 && !e.add) {
    return RunDepthwise(c, g, input, weights, out, e);
  }
  for (int64_t group = 0; group < g.groups; ++group) {
    math::ConvRows rows(g, input.data<float>(), group);
    math::GemmProblem p = math::ConvProblem(g, group, input.data<float>(), weights, out, rows);
    p.epilogue = e;
    for (const float** operand : {&p.epilogue.scale, &p.epilogue.bias, &p.epilogue.add}) {
      if (*operand) *operand += group * g.group_out();
    }
    TARE_RETURN_IF_ERROR(RunGemm(c, p));
  }
  return OkStatus();
}

// Any element type: pixel by pixel.
template <class T>
void RunOther(KernelCall& c, const ConvGeometry& g, const T* input, const T* weights, T* out) {
  using S = typename math::SumOf<T>::type;
  const int64_t gi = g.group_in(), go = g.group_out(), cost = g.taps() * gi * g.out_channels;
  c.threads().ParallelFor(g.batch * g.out_pixels(), cost, [&](int64_t begin, int64_t end) {
    std::memset(out + begin * g.out_channels, 0, static_cast<size_t>((end - begin) * g.out_channels) * sizeof(T));
    ForEachTap(g, begin, end, [&](int64_t from, int64_t tap, int64_t to) {
      for (int64_t group = 0; group < g.groups; ++group) {
        T* sum = out + to * g.out_channels + group * go;
        for (int64_t i = 0; i < gi; ++i) {
          const S x = static_cast<S>(input[from * g.in_channels + group * gi + i]);
          const T* w = weights + (tap * gi + i) * g.out_channels + group * go;
          for (int64_t o = 0; o < go; ++o) sum[o] = static_cast<T>(static_cast<S>(sum[o]) + x * static_cast<S>(w[o]));
        }
      }
    });
  });
}

// `e`: for float.
Status RunInto(KernelCall& c, const ConvGeometry& g, const Tensor& input, const Tensor& filter, Tensor& out,
               const math::Epilogue& e = {}) {
  if (out.num_elements() == 0) return OkStatus();
  if (g.in_channels == 0 || input.num_elements() == 0) {
    math::Epilogue rest = e;
    if (e.add && e.add == out.raw()) rest.add = nullptr;  // what is added lies there already
    else std::memset(out.mutable_raw(), 0, out.bytes());
    if (out.dtype() == DType::kFloat) {
      ApplyEpilogue(rest, out.mutable_data<float>(), g.batch * g.out_pixels(), g.out_channels);
    }
    return OkStatus();
  }
  if (out.dtype() == DType::kFloat) return RunFloat(c, g, input, filter.data<float>(), out.mutable_data<float>(), e);
  return ForType(Types<double, int32_t>{}, out.dtype(), [&]<class T>() {
    RunOther(c, g, input.data<T>(), filter.data<T>(), out.mutable_data<T>());
    return OkStatus();
  });
}

enum class Form { k2d, k3d, kDepthwise };

template <Form kForm>
struct Conv {
  explicit Conv(AttrReader& a) : attrs(a, kForm == Form::k3d ? 3 : 2), fused(a) {
    if (kForm == Form::kDepthwise && attrs.stride[1] != attrs.stride[2]) {
      a.Fail(InvalidArgument(
          "Current implementation only supports equal length strides in the row and column dimensions."));
    }
  }

  Status Run(KernelCall& c) const {
    TARE_RETURN_IF_ERROR(CheckRanks(c.input(0), c.input(1)));
    Tensor input = c.input(0);
    if (attrs.channels_first) {
      TARE_ASSIGN_OR_RETURN(input, ChannelsLast(c, input));
    }
    Tensor filter = c.input(1);
    TARE_ASSIGN_OR_RETURN(ConvGeometry g, attrs.Geometry(input.shape(), filter.shape(), kForm == Form::kDepthwise));
    if (kForm != Form::kDepthwise && filter.num_elements() == 0 && filter.dim(attrs.spatial + 1) != 0) {
      return InvalidArgument("filter must not have zero elements (i.e. all dimensions must be non-zero)");
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, attrs.OutputShape(g));
    const DType dtype = input.dtype();
    if (dtype == DType::kFloat && !attrs.channels_first) {
      return fused.Produce(c, 2, shape, [&](Tensor& out, const math::Epilogue& e) {
        return RunInto(c, g, input, filter, out, e);
      });
    }
    if (fused.any()) return Unimplemented("fused operations of {} or channels first", DTypeName(dtype));
    if (!IsNarrowFloat(dtype) && !attrs.channels_first) {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
      return RunInto(c, g, input, filter, *out);
    }
    if (IsNarrowFloat(dtype)) {
      TARE_ASSIGN_OR_RETURN(input, ToFloat(c, input));
      TARE_ASSIGN_OR_RETURN(filter, ToFloat(c, filter));
    }
    TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(input.dtype(), shape));
    TARE_RETURN_IF_ERROR(RunInto(c, g, input, filter, out));
    if (attrs.channels_first) {
      TARE_ASSIGN_OR_RETURN(out, ChannelsSecond(c, out));
    }
    if (IsNarrowFloat(dtype)) return SetRounded(c, 0, dtype, std::move(out));
    c.SetOutput(0, std::move(out));
    return OkStatus();
  }

  Status CheckRanks(const Tensor& input, const Tensor& filter) const {
    if (kForm == Form::k2d) {
      if (input.rank() != 4) {
        return InvalidArgument("convolution input must be 4-dimensional: {}", input.shape().ToString());
      }
      if (filter.rank() != 4) {
        return InvalidArgument("convolution filter must be 4-dimensional: {}", filter.shape().ToString());
      }
    } else if (kForm == Form::k3d) {
      if (input.rank() != 5) return InvalidArgument("input must be 5-dimensional");
      if (filter.rank() != 5) return InvalidArgument("filter must be 5-dimensional");
    } else {
      if (input.rank() != 4) return InvalidArgument("input must be 4-dimensional{}", input.shape().ToString());
      if (filter.rank() != 4) return InvalidArgument("filter must be 4-dimensional: {}", filter.shape().ToString());
    }
    return OkStatus();
  }

  ConvAttrs attrs;
  FusedEpilogue fused;
};

constexpr KernelRow kRows[] = {
    Op<Conv<Form::k2d>>("Conv2D"),
    Op<Conv<Form::k3d>>("Conv3D"),
    Op<Conv<Form::kDepthwise>>("DepthwiseConv2dNative"),
};

}  // namespace
extern constinit const KernelFamily kConvKernels = kRows;
}  // namespace tare
