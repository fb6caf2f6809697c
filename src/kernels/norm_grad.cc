// The gradient of batch normalisation.
#include <cmath>

#include "kernels/float_math.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// Inputs: dy, x, scale, mean, variance (and, in V3, a reserve that the CPU does not use). In training the
// mean and the variance are the batch's own and depend on x; else they are constants.
struct FusedBatchNormGrad {
  explicit FusedBatchNormGrad(AttrReader& a)
      : epsilon(a.Float("epsilon")), format(a.String("data_format")), training(a.Bool("is_training")) {}

  Status Run(KernelCall& c) const {
    const Tensor& like = c.input(1);
    if (like.rank() != 4 && like.rank() != 5) {
      return InvalidArgument("input must be 4 or 5-dimensional{}", like.shape().ToString());
    }
    if (!(c.input(0).shape() == like.shape())) {
      return InvalidArgument("x and y_backprop must have same shape, but x has shape {} and y_backprop has shape {}",
                             like.shape().ToString(), c.input(0).shape().ToString());
    }
    const bool channels_first = format[1] == 'C';
    const int64_t channels = like.dim(channels_first ? 1 : like.rank() - 1);
    Tensor in[5];
    for (int i = 0; i < 5; ++i) {
      TARE_ASSIGN_OR_RETURN(in[i], ToFloat(c, c.input(i)));
      if (i < 2) {
        if (channels_first) {
          TARE_ASSIGN_OR_RETURN(in[i], ChannelsLast(c, in[i]));
        }
      } else if (in[i].rank() != 1 || in[i].dim(0) != channels) {
        return InvalidArgument("{} must have the same number of elements as the channels of x, got {} and {}",
                               i == 2 ? "scale" : i == 3 ? "reserve_space_1" : "reserve_space_2", in[i].num_elements(),
                               channels);
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor dx, c.Temp(DType::kFloat, in[1].shape()));
    TARE_ASSIGN_OR_RETURN(Tensor dscale, c.Temp(DType::kFloat, Shape{channels}));
    TARE_ASSIGN_OR_RETURN(Tensor doffset, c.Temp(DType::kFloat, Shape{channels}));
    TARE_RETURN_IF_ERROR(Compute(c, in, channels, dx, dscale, doffset));
    if (channels_first) {
      TARE_ASSIGN_OR_RETURN(dx, ChannelsSecond(c, dx));
    }
    TARE_RETURN_IF_ERROR(SetRounded(c, 0, like.dtype(), std::move(dx)));
    c.SetOutput(1, std::move(dscale));
    c.SetOutput(2, std::move(doffset));
    for (int i = 3; i < 5; ++i) TARE_RETURN_IF_ERROR(c.Output(i, DType::kFloat, Shape{0}).status());
    return OkStatus();
  }

  Status Compute(KernelCall& c, const Tensor* in, int64_t channels, Tensor& dx, Tensor& dscale, Tensor& doffset) const {
    const float *dy = in[0].data<float>(), *x = in[1].data<float>(), *scale = in[2].data<float>();
    const float *mean = in[3].data<float>(), *variance = in[4].data<float>();
    const int64_t n = in[1].num_elements(), rows = channels == 0 ? 0 : n / channels;
    TARE_ASSIGN_OR_RETURN(Tensor space, c.Temp(DType::kDouble, Shape{2 * channels}));
    double *sum = space.mutable_data<double>(), *product = sum + channels;
    std::fill_n(sum, 2 * channels, 0.0);
    for (int64_t i = 0; i < n; i += channels) {
      for (int64_t k = 0; k < channels; ++k) {
        sum[k] += dy[i + k];
        product[k] += static_cast<double>(dy[i + k]) * (x[i + k] - mean[k]);
      }
    }
    for (int64_t k = 0; k < channels; ++k) {
      const double inverse = 1 / std::sqrt(static_cast<double>(variance[k]) + epsilon);
      dscale.mutable_data<float>()[k] = static_cast<float>(product[k] * inverse);
      doffset.mutable_data<float>()[k] = static_cast<float>(sum[k]);
      // From here on: the means, with the factors they get below.
      sum[k] = training ? sum[k] / static_cast<double>(rows) : 0;
      product[k] = training ? product[k] / static_cast<double>(rows) * inverse * inverse : 0;
    }
    float* out = dx.mutable_data<float>();
    for (int64_t i = 0; i < n; i += channels) {
      for (int64_t k = 0; k < channels; ++k) {
        const double inverse = 1 / std::sqrt(static_cast<double>(variance[k]) + epsilon);
        out[i + k] = static_cast<float>(scale[k] * inverse * (dy[i + k] - sum[k] - (x[i + k] - mean[k]) * product[k]));
      }
    }
    return OkStatus();
  }

  float epsilon;
  std::string format;
  bool training;
};

constexpr KernelRow kRows[] = {
    Op<FusedBatchNormGrad>("FusedBatchNormGrad"),
    Op<FusedBatchNormGrad>("FusedBatchNormGradV2"),
    Op<FusedBatchNormGrad>("FusedBatchNormGradV3"),
};

}  // namespace
extern constinit const KernelFamily kNormGradKernels = kRows;
}  // namespace tare
