// Batch normalisation, local response normalisation and L2 loss.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/float_math.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// A tensor seen as [outer, channels, inner]: channels last has inner 1, channels first outer = batch.
struct Planes {
  int64_t outer, channels, inner;
};

// y = (x - mean) * factor + offset, by channel.
struct ChannelAffine {
  const float *mean, *factor, *offset;
};

template <class T>
void Normalise(KernelCall& c, const Planes& p, const ChannelAffine& f, const T* x, T* y) {
  const int64_t channels = p.channels;
  if (p.inner == 1) {
    c.threads().ParallelFor(p.outer, channels, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = x + i * channels;
        T* to = y + i * channels;
        for (int64_t k = 0; k < channels; ++k) {
          to[k] = static_cast<T>((static_cast<float>(from[k]) - f.mean[k]) * f.factor[k] + f.offset[k]);
        }
      }
    });
    return;
  }
  c.threads().ParallelFor(p.outer * channels, p.inner, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float mean = f.mean[i % channels], factor = f.factor[i % channels], offset = f.offset[i % channels];
      for (int64_t j = i * p.inner; j < (i + 1) * p.inner; ++j) {
        y[j] = static_cast<T>((static_cast<float>(x[j]) - mean) * factor + offset);
      }
    }
  });
}

// Sums over all but the channels of term(x, channel).
template <class T, class F>
void SumByChannel(const Planes& p, const T* x, double* sum, F term) {
  std::fill_n(sum, p.channels, 0.0);
  for (int64_t i = 0; i < p.outer; ++i) {
    for (int64_t k = 0; k < p.channels; ++k) {
      double s = 0;
      for (int64_t j = 0; j < p.inner; ++j) s += term(static_cast<float>(*x++), k);
      sum[k] += s;
    }
  }
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct FusedBatchNorm {
  explicit FusedBatchNorm(AttrReader& a)
      : epsilon(a.Float("epsilon")),
        average(a.Float("exponential_avg_factor")),
        format(a.String("data_format")),
        training(a.Bool("is_training")) {}

  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Planes p, Check(c));
    Tensor params[4];  // scale, offset, mean, variance; float
    for (int i = 0; i < 4; ++i) {
      TARE_ASSIGN_OR_RETURN(params[i], ToFloat(c, c.input(i + 1)));
    }
    const Shape channels{p.channels};
    TARE_ASSIGN_OR_RETURN(Tensor mean, c.Temp(DType::kFloat, channels));
    TARE_ASSIGN_OR_RETURN(Tensor variance, c.Temp(DType::kFloat, channels));
    TARE_ASSIGN_OR_RETURN(Tensor new_mean, c.Temp(DType::kFloat, channels));
    TARE_ASSIGN_OR_RETURN(Tensor new_variance, c.Temp(DType::kFloat, channels));
    TARE_ASSIGN_OR_RETURN(Tensor * y, c.Output(0, c.input(0).dtype(), c.input(0).shape()));
    if (c.input(0).num_elements() == 0) {
      std::ranges::fill(new_mean.mut<float>(), kNan);
      std::ranges::fill(new_variance.mut<float>(), kNan);
      std::ranges::fill(mean.mut<float>(), 0.0f);
      std::ranges::fill(variance.mut<float>(), 0.0f);
    } else if (training) {
      TARE_RETURN_IF_ERROR(Measure(c, p, params[2], params[3], mean, variance, new_mean, new_variance));
    } else {
      mean = new_mean = params[2];
      variance = new_variance = params[3];
    }
    TARE_RETURN_IF_ERROR(Apply(c, p, params[0], params[1], mean, variance, *y));
    const DType dtype = c.input(3).dtype();
    TARE_RETURN_IF_ERROR(SetRounded(c, 1, dtype, std::move(new_mean)));
    TARE_RETURN_IF_ERROR(SetRounded(c, 2, dtype, std::move(new_variance)));
    TARE_RETURN_IF_ERROR(SetRounded(c, 3, dtype, std::move(mean)));
    TARE_RETURN_IF_ERROR(SetRounded(c, 4, dtype, std::move(variance)));
    if (c.num_outputs() < 6) return OkStatus();
    TARE_ASSIGN_OR_RETURN(Tensor reserve, c.Temp(DType::kFloat, Shape{}));
    *reserve.mutable_data<float>() = 0;
    return SetRounded(c, 5, dtype, std::move(reserve));
  }

  Result<Planes> Check(KernelCall& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() != 4 && x.rank() != 5) {
      return InvalidArgument("input must be 4 or 5-dimensional{}", x.shape().ToString());
    }
    constexpr std::string_view kNames[] = {"x", "scale", "offset", "mean", "variance"};
    for (int i = 1; i < 5; ++i) {
      if (c.input(i).rank() != 1) {
        return InvalidArgument("{} must be 1-dimensional{}", kNames[i], c.input(i).shape().ToString());
      }
    }
    const bool first = format[1] == 'C';
    Planes p;
    p.channels = x.dim(first ? 1 : x.rank() - 1);
    p.outer = first ? x.dim(0) : x.shape().product(0, x.rank() - 1);
    p.inner = first ? x.shape().product(2, x.rank()) : 1;
    for (int i = 1; i < 5; ++i) {
      const int64_t n = c.input(i).num_elements();
      if (n == p.channels) continue;
      std::string_view when;
      if (i >= 3 && training && average == 1) continue;
      if (i >= 3) when = training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
      return InvalidArgument("{}{} must have the same number of elements as the channels of x, got {} and {}", when,
                             kNames[i], n, p.channels);
    }
    return p;
  }

  // The batch's own mean and (biased) variance, and the running ones that follow from them.
  Status Measure(KernelCall& c, const Planes& p, const Tensor& old_mean, const Tensor& old_variance, Tensor& mean,
                 Tensor& variance, Tensor& new_mean, Tensor& new_variance) const {
    TARE_ASSIGN_OR_RETURN(Tensor space, c.Temp(DType::kDouble, Shape{p.channels}));
    double* sum = space.mutable_data<double>();
    const double n = static_cast<double>(p.outer * p.inner), bessel = n / std::max(n - 1, 1.0);
    float* m = mean.mutable_data<float>();
    float* v = variance.mutable_data<float>();
    TARE_RETURN_IF_ERROR(ForType(Types<float, Half, BFloat16>{}, c.input(0).dtype(), [&]<class T>() {
      const T* x = c.input(0).data<T>();
      SumByChannel(p, x, sum, [](double value, int64_t) { return value; });
      for (int64_t k = 0; k < p.channels; ++k) m[k] = static_cast<float>(sum[k] / n);
      SumByChannel(p, x, sum, [m](double value, int64_t k) { return (value - m[k]) * (value - m[k]); });
      for (int64_t k = 0; k < p.channels; ++k) v[k] = static_cast<float>(sum[k] / n);
      return OkStatus();
    }));
    for (int64_t k = 0; k < p.channels; ++k) {
      float a = m[k], b = static_cast<float>(v[k] * bessel);
      if (average != 1) {
        a = (1 - average) * old_mean.data<float>()[k] + average * a;
        b = (1 - average) * old_variance.data<float>()[k] + average * b;
      }
      new_mean.mutable_data<float>()[k] = a;
      new_variance.mutable_data<float>()[k] = b;
    }
    return OkStatus();
  }

  Status Apply(KernelCall& c, const Planes& p, const Tensor& scale, const Tensor& offset, const Tensor& mean,
               const Tensor& variance, Tensor& y) const {
    if (y.num_elements() == 0) return OkStatus();
    TARE_ASSIGN_OR_RETURN(Tensor factors, c.Temp(DType::kFloat, Shape{p.channels}));
    float* factor = factors.mutable_data<float>();
    for (int64_t k = 0; k < p.channels; ++k) {
      factor[k] = scale.data<float>()[k] / std::sqrt(variance.data<float>()[k] + epsilon);
    }
    const ChannelAffine f{mean.data<float>(), factor, offset.data<float>()};
    return ForType(Types<float, Half, BFloat16>{}, y.dtype(), [&]<class T>() {
      Normalise(c, p, f, c.input(0).data<T>(), y.mutable_data<T>());
      return OkStatus();
    });
  }

  float epsilon, average;
  std::string format;
  bool training;
};

// TensorFlow 1's: inputs t, mean, variance, beta, gamma.
struct GlobalNorm {
  explicit GlobalNorm(AttrReader& a)
      : epsilon(a.Float("variance_epsilon")), scales(a.Bool("scale_after_normalization")) {}
  Status Run(KernelCall& c) const {
    const Tensor& t = c.input(0);
    if (t.rank() != 4) return InvalidArgument("input must be 4-dimensional{}", t.shape().ToString());
    const int64_t channels = t.dim(3);
    constexpr std::string_view kNames[] = {"", "mean", "var", "beta", "gamma"};
    for (int i = 1; i < 5; ++i) {
      if (c.input(i).rank() != 1) {
        return InvalidArgument("{} must be 1-dimensional{}", kNames[i], c.input(i).shape().ToString());
      }
      if (c.input(i).dim(0) != channels) {
        return InvalidArgument("{} has {} elements for {} channels", kNames[i], c.input(i).dim(0), channels);
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor x, ToFloat(c, t));
    TARE_ASSIGN_OR_RETURN(Tensor factors, c.Temp(DType::kFloat, Shape{channels}));
    Tensor params[5];
    for (int i = 1; i < 5; ++i) {
      TARE_ASSIGN_OR_RETURN(params[i], ToFloat(c, c.input(i)));
    }
    for (int64_t k = 0; k < channels; ++k) {
      const float f = 1 / std::sqrt(params[2].data<float>()[k] + epsilon);
      factors.mutable_data<float>()[k] = scales ? f * params[4].data<float>()[k] : f;
    }
    TARE_ASSIGN_OR_RETURN(Tensor y, c.Temp(DType::kFloat, t.shape()));
    Normalise(c, {channels == 0 ? 0 : t.shape().product(0, 3), channels, 1},
              {params[1].data<float>(), factors.data<float>(), params[3].data<float>()}, x.data<float>(),
              y.mutable_data<float>());
    return SetRounded(c, 0, t.dtype(), std::move(y));
  }
  float epsilon;
  bool scales;
};

// out[i] = in[i] / (bias + alpha * sum of squares of the channels within the radius) ^ beta.
struct LocalResponseNorm {
  explicit LocalResponseNorm(AttrReader& a)
      : radius(a.Int("depth_radius")), bias(a.Float("bias")), alpha(a.Float("alpha")), beta(a.Float("beta")) {}

  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4) return InvalidArgument("in must be 4-dimensional");
    TARE_ASSIGN_OR_RETURN(Tensor wide, ToFloat(c, in));
    TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(DType::kFloat, in.shape()));
    const int64_t channels = in.dim(3), reach = std::clamp<int64_t>(radius, 0, channels);
    const float* from = wide.data<float>();
    float* to = out.mutable_data<float>();
    c.threads().ParallelFor(channels == 0 ? 0 : in.shape().product(0, 3), channels * 20, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const float* x = from + row * channels;
        for (int64_t i = 0; i < channels; ++i) {
          float sum = 0;
          for (int64_t j = std::max<int64_t>(0, i - reach); j < std::min(channels, i + reach + 1); ++j) sum += x[j] * x[j];
          to[row * channels + i] = x[i] * Power(bias + alpha * sum);
        }
      }
    });
    return SetRounded(c, 0, in.dtype(), std::move(out));
  }

  float Power(float norm) const {
    if (beta == 1) return 1 / norm;
    if (beta == 0.5f) return 1 / std::sqrt(norm);
    return std::pow(norm, -beta);
  }

  int64_t radius;
  float bias, alpha, beta;
};

// dx[i] = g[i] N[i]^-beta - 2 alpha beta x[i] sum over i's neighbours j of g[j] y[j] / N[j], where
// N = bias + alpha * (sum of the neighbours' squares) and y is what LRN gave.
struct LocalResponseNormGrad {
  explicit LocalResponseNormGrad(AttrReader& a) : forward(a) {}

  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(1);
    if (c.input(0).rank() != 4 || in.rank() != 4) return InvalidArgument("inputs must be 4-dimensional");
    if (c.input(0).shape() != in.shape() || c.input(2).shape() != in.shape()) {
      return InvalidArgument("input_grads, input_image, and out_image should have the same shape");
    }
    TARE_ASSIGN_OR_RETURN(Tensor grads, ToFloat(c, c.input(0)));
    TARE_ASSIGN_OR_RETURN(Tensor images, ToFloat(c, in));
    TARE_ASSIGN_OR_RETURN(Tensor normed, ToFloat(c, c.input(2)));
    TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(DType::kFloat, in.shape()));
    const int64_t channels = in.dim(3), reach = std::clamp<int64_t>(forward.radius, 0, channels);
    const float *g = grads.data<float>(), *x = images.data<float>(), *y = normed.data<float>();
    float* to = out.mutable_data<float>();
    c.threads().ParallelFor(channels == 0 ? 0 : in.shape().product(0, 3), channels * 40, [&](int64_t begin, int64_t end) {
      for (int64_t first = begin * channels; first < end * channels; first += channels) {
        std::fill_n(to + first, channels, 0.0f);
        for (int64_t j = 0; j < channels; ++j) {
          const int64_t low = first + std::max<int64_t>(0, j - reach), high = first + std::min(channels, j + reach + 1);
          float sum = 0;
          for (int64_t i = low; i < high; ++i) sum += x[i] * x[i];
          const float norm = forward.bias + forward.alpha * sum, at = g[first + j];
          const float share = -2 * forward.alpha * forward.beta * at * y[first + j] / norm;
          for (int64_t i = low; i < high; ++i) to[i] += share * x[i];
          to[first + j] += at * forward.Power(norm);
        }
      }
    });
    return SetRounded(c, 0, in.dtype(), std::move(out));
  }
  LocalResponseNorm forward;
};

constexpr KernelRow kRows[] = {
    Op<GlobalNorm>("BatchNormWithGlobalNormalization"),
    Op<FusedBatchNorm>("FusedBatchNorm"),
    Op<FusedBatchNorm>("FusedBatchNormV2"),
    Op<FusedBatchNorm>("FusedBatchNormV3"),
    Op<LocalResponseNorm>("LRN"),
    Op<LocalResponseNormGrad>("LRNGrad"),
};

}  // namespace
extern constinit const KernelFamily kNormKernels = kRows;
}  // namespace tare
