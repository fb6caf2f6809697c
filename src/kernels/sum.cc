// Ops that put whole tensors together element by element: sums of many, biases, bounds.
#include "kernels/elementwise.h"
#include "kernels/registry.h"
#include "resource/tensor_list.h"
#include "math/arith.h"

namespace tare {
namespace {

using AddFn = decltype([](auto x, auto y) { return math::Add(x, y); });

BlockOp::Fn FindAdd(DType t) { return internal::FindLoop<AddFn, void, 2, false>(Numbers{}, t); }

Status AddN(KernelCall& c) {
  const Tensor& first = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.input(i).shape() != first.shape()) {
      return InvalidArgument("Inputs to operation {} of type AddN must have the same size and shape.  "
                             "Input 0: {} != input {}: {}",
                             c.node(), first.shape().ToString(), i, c.input(i).shape().ToString());
    }
  }
  if (c.num_inputs() == 1) {
    c.SetOutput(0, c.TakeInput(0));
    return OkStatus();
  }
  BlockOp::Fn fn = FindAdd(first.dtype());
  if (first.dtype() == DType::kVariant) {
    Tensor sum = first;
    for (int i = 1; i < c.num_inputs(); ++i) {
      TARE_ASSIGN_OR_RETURN(sum, AddVariants(c.run().account, sum, c.input(i)));
    }
    c.SetOutput(0, std::move(sum));
    return OkStatus();
  }
  if (!fn) return Unimplemented("AddN: no kernel for dtype {}", DTypeName(first.dtype()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {0}, first.dtype(), first.shape()));
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Tensor* in[] = {i == 1 ? &first : out, &c.input(i)};
    RunBlocks(c.threads(), in, *out, {fn, nullptr, 1, true});
  }
  return OkStatus();
}

Status AddBias(KernelCall& c, bool channels_first) {
  const Tensor &x = c.input(0), &bias = c.input(1);
  if (x.rank() < 2) return InvalidArgument("Input tensor must be at least 2D: {}", x.shape().ToString());
  if (bias.rank() != 1) return InvalidArgument("Biases must be 1D: {}", bias.shape().ToString());
  int channel = channels_first ? 1 : x.rank() - 1;
  if (bias.dim(0) != x.dim(channel)) {
    return InvalidArgument("Must provide as many biases as the last dimension of the input tensor: {} vs. {}",
                           bias.shape().ToString(), x.shape().ToString());
  }
  BlockOp::Fn fn = FindAdd(x.dtype());
  if (!fn) return Unimplemented("BiasAdd: no kernel for dtype {}", DTypeName(x.dtype()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.OutputOver(0, {0}, x.dtype(), x.shape()));
  Shape along_channel{bias.dim(0)};
  for (int d = channel + 1; d < x.rank(); ++d) along_channel.Append(1);
  Tensor spread = bias.Reshaped(along_channel);
  const Tensor* in[] = {&x, &spread};
  RunBlocks(c.threads(), in, *out, {fn, nullptr, 1, true});
  return OkStatus();
}

Status BiasAddV1(KernelCall& c) { return AddBias(c, false); }

struct BiasAdd {
  explicit BiasAdd(AttrReader& a) : channels_first(a.String("data_format") == "NCHW") {}
  Status Run(KernelCall& c) const { return AddBias(c, channels_first); }
  bool channels_first;
};

Status ClipByValue(KernelCall& c) {
  const Tensor& x = c.input(0);
  for (int i : {1, 2}) {
    if (c.input(i).rank() != 0 && c.input(i).shape() != x.shape()) {
      return InvalidArgument("clip_value_min and clip_value_max must be either of the same shape as input, or a "
                             "scalar. input shape: {}clip_value_min shape: {}clip_value_max shape: {}",
                             x.shape().ToString(), c.input(1).shape().ToString(), c.input(2).shape().ToString());
    }
  }
  // The lower bound wins where they cross; a bound that is NaN binds nothing.
  using Clip = decltype([](auto v, auto low, auto high) {
    auto w = high < v ? high : v;
    return w < low ? low : w;
  });
  BlockOp::Fn fn = internal::FindLoop<Clip, void, 3, false>(Reals{}, x.dtype());
  return internal::RunLoop<1, 3>(c, fn, x.dtype(), x.shape(), nullptr);
}

constexpr KernelRow kRows[] = {
    Op<AddN>("AccumulateNV2"),
    Op<AddN>("AddN"),
    Op<BiasAdd>("BiasAdd"),
    Op<BiasAddV1>("BiasAddV1"),
    Op<ClipByValue>("ClipByValue"),
};

}  // namespace
extern constinit const KernelFamily kSumKernels = kRows;
}  // namespace tare
