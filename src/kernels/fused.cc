#include "kernels/fused.h"

#include <algorithm>

#include "kernels/broadcast.h"
#include "math/vector_math.h"

namespace tare {
namespace {

float Activate(math::Activation f, float x) {
  switch (f) {
    case math::Activation::kNone: return x;
    case math::Activation::kSigmoid: return math::Sigmoid(x);
    case math::Activation::kTanh: return math::Tanh(x);
    case math::Activation::kSwish: return x * math::Sigmoid(x);
    case math::Activation::kHardSwish: return x * (std::clamp(x + 3, 0.0f, 6.0f) * (1.0f / 6));
    case math::Activation::kGelu: return 0.5f * x * (1 + math::Erf(x * 0.707106781f));
    case math::Activation::kGeluTanh: return 0.5f * x * (1 + math::Tanh(0.797884561f * (x + 0.044715f * x * x * x)));
  }
  return x;
}

Status CheckVector(const KernelCall& c, int i, int64_t channels) {
  if (i >= c.num_inputs()) return InvalidArgument("a fused operand is missing");
  const Tensor& t = c.input(i);
  if (t.dtype() == DType::kFloat && t.num_elements() == channels) return OkStatus();
  return InvalidArgument("a fused operand is {} of {} elements where {} channels are", DTypeName(t.dtype()),
                         t.num_elements(), channels);
}

}  // namespace

FusedEpilogue::FusedEpilogue(AttrReader& a) {
  auto flag = [&](std::string_view name) { return a.Has(name) && a.Bool(name); };
  scale_ = flag("_scale"), bias_ = flag("_bias"), add_ = flag("_add");
  if (a.Has("_lowest")) lowest_ = a.Float("_lowest");
  if (a.Has("_highest")) highest_ = a.Float("_highest");
  if (a.Has("_activation")) {
    const int64_t f = a.Int("_activation");
    if (f < 0 || f > static_cast<int64_t>(math::Activation::kGeluTanh)) a.Fail(InvalidArgument("_activation {}", f));
    else activation_ = static_cast<math::Activation>(f);
  }
  any_ = scale_ || bias_ || add_ || a.Has("_lowest") || a.Has("_highest") || activation_ != math::Activation::kNone;
}

Status FusedEpilogue::BindVectors(const KernelCall& c, int first, const Shape& shape, math::Epilogue& e) const {
  const int64_t channels = shape[shape.rank() - 1];
  int at = first;
  for (const auto& [has, to] : {std::pair{scale_, &e.scale}, std::pair{bias_, &e.bias}}) {
    if (!has) continue;
    TARE_RETURN_IF_ERROR(CheckVector(c, at, channels));
    *to = c.input(at++).data<float>();
  }
  if (!add_) return OkStatus();
  if (at >= c.num_inputs() || c.input(at).dtype() != DType::kFloat) {
    return InvalidArgument("a fused tensor to add is missing, or not float");
  }
  return OkStatus();
}

Status FusedEpilogue::AddApart(KernelCall& c, Tensor product, int add) const {
  const Tensor& other = c.input(add);
  TARE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(product.shape(), other.shape()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kFloat, shape));
  const BlockOp sum{[](const void* const* in, void* to, int64_t n, const void*) {
    const auto *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
    std::transform(a, a + n, b, static_cast<float*>(to), std::plus<>());
  }};
  RunBlocks(c.threads(), std::array<const Tensor*, 2>{&product, &other}, *out, sum);
  math::Epilogue rest;
  rest.lowest = lowest_, rest.highest = highest_, rest.activation = activation_;
  ApplyEpilogue(rest, out->mutable_data<float>(), 1, out->num_elements());
  return OkStatus();
}

void ApplyEpilogue(const math::Epilogue& e, float* data, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, data += columns) {
    for (int64_t i = 0; i < columns; ++i) {
      float v = data[i];
      if (e.scale) v *= e.scale[i];
      if (e.bias) v += e.bias[i];
      if (e.add) v += e.add[r * e.add_stride + i];
      if (v < e.lowest) v = e.lowest;
      if (v > e.highest) v = e.highest;
      data[i] = Activate(e.activation, v);
    }
  }
}

}  // namespace tare
