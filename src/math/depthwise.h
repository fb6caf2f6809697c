// Depthwise convolution, NHWC, one filter a channel: weights [kh, kw, channels] read in place.
#pragma once
#include <cstdint>

#include "math/gemm.h"

namespace tare::math {

struct DepthwiseProblem {
  int64_t batch, in_h, in_w, channels;
  int64_t out_h, out_w, kernel_h, kernel_w;
  int64_t stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  const float* input;
  const float* weights;
  float* output;
  Epilogue epilogue;  // without `add`
};

void RunDepthwise(const DepthwiseProblem& problem, ThreadPool& pool);

}  // namespace tare::math
