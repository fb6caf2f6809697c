// What the image resizing ops share: their checks, and images as float.
#pragma once
#include "kernels/kernel.h"

namespace tare {

// Sizes of a batch of images and of what becomes of it.
struct ImageSize {
  int64_t batch, in_h, in_w, channels, out_h, out_w;
  Shape output() const { return Shape{batch, out_h, out_w, channels}; }
};
// From input 0 (images) and input 1 (size). InvalidArgument when either is unfit.
Result<ImageSize> CheckImages(const KernelCall& c);
// The tensor itself when it is float, else a float copy of a tensor of real numbers.
Result<Tensor> ImagesAsFloat(KernelCall& c, const Tensor& t);

}  // namespace tare
