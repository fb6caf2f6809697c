#include "passes/activation.h"

#include <algorithm>
#include <bit>

#include "kernels/fused.h"

namespace tare {
namespace {

constexpr size_t kMostParts = 12;
constexpr float kTolerance = 2e-6f;  // of values around 1; Gelu and its approximation differ by 4e-4

constexpr std::string_view kElementary[] = {
    "Add", "AddV2", "Div", "Erf", "Erfc", "Exp", "Maximum", "Minimum", "Mul", "Neg", "Pow", "RealDiv", "Reciprocal",
    "Relu", "Relu6", "Sigmoid", "Square", "Sub", "Tanh",
};

constexpr int kSamples = 128;

std::array<float, kSamples> Samples() {
  std::array<float, kSamples> x;
  // Around zero closely, then to where all activations are flat.
  for (int i = 0; i < kSamples; ++i) {
    const float t = (static_cast<float>(i) - 63.5f) / 64;
    x[static_cast<size_t>(i)] = 4 * t + 16 * t * t * t;
  }
  return x;
}

const Tensor* Scalar(const FlatGraph& flat, Endpoint e) {
  const Tensor* t = ConstantAt(flat, e);
  return t && t->dtype() == DType::kFloat && t->num_elements() == 1 && t->rank() <= 1 ? t : nullptr;
}

}  // namespace

bool ActivationFinder::Elementary(const FlatNode& n, const std::vector<int32_t>& parts, Endpoint x) const {
  if (n.what != FlatNode::What::kOp || !n.op || !n.row || !n.controls.empty()) return false;
  if (n.types.size() != 1 || n.types[0] != DType::kFloat || std::ranges::count(kElementary, n.op->name) == 0) return false;
  return std::ranges::all_of(n.inputs, [&](Endpoint e) {
    return e == x || std::ranges::count(parts, e.node) > 0 || Scalar(g_.flat, e);
  });
}

// Whether nobody but the parts reads x or what they give, the last one's result apart.
bool ActivationFinder::Closed(const std::vector<int32_t>& parts, Endpoint x) const {
  auto inside = [&](int32_t node) {
    return std::ranges::all_of(readers_.of(node), [&](int32_t r) { return std::ranges::count(parts, r) > 0; });
  };
  return inside(x.node) && std::all_of(parts.begin(), parts.end() - 1, inside);
}

std::optional<ActivationFinder::Found> ActivationFinder::Find(Endpoint x) {
  std::vector<int32_t> parts, next(readers_.of(x.node).begin(), readers_.of(x.node).end());
  while (parts.size() < kMostParts && !next.empty()) {
    // Producers come before consumers.
    auto least = std::ranges::min_element(next);
    const int32_t i = *least;
    next.erase(least);
    if (std::ranges::count(parts, i) > 0) continue;
    if (i == Readers::kReturn || !Elementary(g_.flat.nodes[i], parts, x)) return std::nullopt;
    parts.push_back(i);
    if (Closed(parts, x)) {
      if (auto f = Recognise(parts, x)) return Found{*f, i, parts};
    }
    std::ranges::copy(readers_.of(i), std::back_inserter(next));
  }
  return std::nullopt;
}

std::optional<math::Activation> ActivationFinder::Recognise(const std::vector<int32_t>& parts, Endpoint x) {
  std::string spelling;
  for (int32_t i : parts) {
    const FlatNode& n = g_.flat.nodes[i];
    spelling += n.op->name;
    for (Endpoint e : n.inputs) {
      auto part = std::ranges::find(parts, e.node);
      if (e == x) spelling += " x";
      else if (part != parts.end()) spelling += fmt::format(" {}", part - parts.begin());
      else spelling += fmt::format(" #{:x}", std::bit_cast<uint32_t>(Scalar(g_.flat, e)->as<float>()[0]));
    }
    spelling += ';';
  }
  auto [it, is_new] = known_.try_emplace(spelling);
  if (!is_new) return it->second;
  const Tensor value = Evaluate(parts, x);
  if (!value.valid() || value.num_elements() != kSamples) return std::nullopt;
  for (auto f : {math::Activation::kSigmoid, math::Activation::kTanh, math::Activation::kSwish,
                 math::Activation::kHardSwish, math::Activation::kGelu, math::Activation::kGeluTanh}) {
    std::array<float, kSamples> want = Samples();
    math::Epilogue only;
    only.activation = f;
    ApplyEpilogue(only, want.data(), 1, kSamples);
    const bool same = std::ranges::equal(value.as<float>(), want, [](float a, float b) {
      return std::abs(a - b) <= kTolerance * std::max(1.0f, std::abs(b));
    });
    if (same) return it->second = f;
  }
  return std::nullopt;
}

Tensor ActivationFinder::Evaluate(const std::vector<int32_t>& parts, Endpoint x) const {
  auto samples = Tensor::Make(g_.settings.run->account, DType::kFloat, Shape{kSamples});
  if (!samples.ok()) return {};
  std::ranges::copy(Samples(), samples->mutable_data<float>());
  std::vector<Tensor> values;
  for (int32_t i : parts) {
    const FlatNode& n = g_.flat.nodes[i];
    std::vector<Tensor> in;
    for (Endpoint e : n.inputs) {
      auto part = std::ranges::find(parts, e.node);
      if (e == x) in.push_back(*samples);
      else if (part != parts.end()) in.push_back(values[static_cast<size_t>(part - parts.begin())]);
      else in.push_back(*Scalar(g_.flat, e));
    }
    values.push_back(Compute(g_, n, in));
    if (!values.back().valid()) return {};
  }
  return values.back();
}

}  // namespace tare
