// Epilogues: what follows a convolution or MatMul becomes part of it, in the order batch norm and biases, the sum
// with another tensor, clamps, an activation. Weights stay as they are: a batch norm becomes one scale and one bias
// a channel, applied to the product.
#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/activation.h"
#include "passes/passes.h"

namespace tare {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A product and what was fused into it so far.
struct Product {
  int32_t node;
  Endpoint end;      // the value that the product will give
  int64_t channels;
  size_t rank;       // of `end`; 0: unknown
  bool depthwise = false;
  bool moved = false;          // `end` is another view of the product: only what needs no other place can be fused
  bool channels_last = true;   // whether end's last dimension is the channels
  std::vector<float> scale, bias;  // empty: none
  std::optional<Endpoint> add;
  float lowest = -kInfinity, highest = kInfinity;
  math::Activation activation = math::Activation::kNone;

  bool clamps() const { return lowest > -kInfinity || highest < kInfinity; }
  bool fused() const { return !scale.empty() || !bias.empty() || add || ends(); }
  // Whether affine operations come too late.
  bool ends() const { return clamps() || activation != math::Activation::kNone; }
};

class Fuser {
 public:
  explicit Fuser(PassGraph& g)
      : g_(g), flat_(g.flat), on_(g.settings.options), readers_(g.flat), activations_(g, readers_),
        visited_(g.flat.nodes.size()) {}

  Status Run() {
    for (size_t i = 0; i < visited_.size(); ++i) {
      if (visited_[i]) continue;
      if (auto p = ProductAt(static_cast<int32_t>(i))) TARE_RETURN_IF_ERROR(Grow(*p));
    }
    return OkStatus();
  }

 private:
  const FlatNode& node(int32_t i) const { return flat_.nodes[i]; }
  const FlatNode& node(Endpoint e) const { return flat_.nodes[e.node]; }

  std::optional<Product> ProductAt(int32_t i) const {
    const FlatNode& n = node(i);
    const bool conv = IsOp(n, "Conv2D"), depthwise = IsOp(n, "DepthwiseConv2dNative");
    if (!(conv || depthwise || IsOp(n, "MatMul")) || n.types[0] != DType::kFloat || n.inputs.size() != 2) return {};
    if ((conv || depthwise) && !ChannelsLast(n)) return {};
    const Tensor* weights = ConstantAt(flat_, n.inputs[1]);
    const int rank = conv || depthwise ? 4 : 2;
    if (!weights || weights->rank() != rank) return {};
    const AttrValue* turned = conv || depthwise ? nullptr : AttrOrDefault(*n.op, n.attrs, "transpose_b");
    const int64_t channels = depthwise ? weights->dim(2) * weights->dim(3) : weights->dim(turned && turned->i ? 0 : rank - 1);
    if (channels < 1 || channels > (1 << 20)) return {};
    Product p{i, {i, 0}, channels, static_cast<size_t>(rank)};
    p.depthwise = depthwise;
    return p;
  }

  bool ChannelsLast(const FlatNode& n) const {
    const AttrValue* format = AttrOrDefault(*n.op, n.attrs, "data_format");
    return !format || format->s == "NHWC";
  }

  Status Grow(Product& p) {
    while ((on_.affine && FuseAffine(p)) || (on_.residual && FuseSum(p)) || (on_.activation && FuseClamp(p)) ||
           (on_.activation && FuseActivation(p)) || PassView(p)) {
    }
    return p.fused() ? Commit(p) : OkStatus();
  }

  // The one reader of the product so far, where it waits for nothing and gives float.
  const FlatNode* Next(const Product& p, int32_t* at) const {
    *at = readers_.Sole(p.end.node);
    if (*at == Readers::kReturn) return nullptr;
    const FlatNode& n = node(*at);
    return n.what == FlatNode::What::kOp && n.op && n.controls.empty() && n.types[0] == DType::kFloat ? &n : nullptr;
  }

  // Who reads the node reads the product, which will give the same.
  void Absorb(Product& p, int32_t at) {
    readers_.Redirect({at, 0}, p.end);
    Drop(at);
  }

  // A control edge may still name the node.
  void Drop(int32_t i) {
    readers_.SetInputs(i, {});
    FlatNode group;
    group.what = FlatNode::What::kGroup;
    group.name = node(i).name;
    flat_.nodes[i] = std::move(group);
  }

  // A constant that is one value, or one a channel.
  std::vector<float> Vector(const Product& p, Endpoint e) const {
    const Tensor* t = ConstantAt(flat_, e);
    if (!t || t->dtype() != DType::kFloat || t->num_elements() == 0) return {};
    if (t->num_elements() == 1 && (t->rank() <= 1 || static_cast<size_t>(t->rank()) <= p.rank)) {
      return std::vector<float>(static_cast<size_t>(p.channels), t->as<float>()[0]);
    }
    const bool fits = p.channels_last && static_cast<size_t>(t->rank()) <= std::max<size_t>(p.rank, 1);
    if (!fits || t->num_elements() != p.channels || t->dim(t->rank() - 1) != p.channels) return {};
    return std::vector<float>(t->as<float>().begin(), t->as<float>().end());
  }

  // end = end * scale + bias; an empty one is left out.
  void Apply(Product& p, const std::vector<float>& scale, const std::vector<float>& bias) {
    const auto n = static_cast<size_t>(p.channels);
    if (!scale.empty()) {
      if (p.scale.empty()) p.scale.assign(n, 1);
      for (size_t i = 0; i < n; ++i) p.scale[i] *= scale[i];
      for (size_t i = 0; i < p.bias.size(); ++i) p.bias[i] *= scale[i];
    }
    if (bias.empty()) return;
    if (p.bias.empty()) p.bias.assign(n, 0);
    for (size_t i = 0; i < n; ++i) p.bias[i] += bias[i];
  }

  bool FuseAffine(Product& p) {
    int32_t at;
    const FlatNode* n = Next(p, &at);
    if (!n || p.add || p.ends()) return false;
    std::vector<float> scale, bias;
    if (n->op->name.starts_with("FusedBatchNorm")) {
      if (!BatchNorm(p, at, &scale, &bias)) return false;
    } else {
      if (n->inputs.size() != 2) return false;
      const bool left = n->inputs[0] == p.end;
      const std::vector<float> v = Vector(p, n->inputs[left]);
      if (v.empty() || n->inputs[0] == n->inputs[1]) return false;
      auto map = [&](auto f) {
        std::vector<float> to(v.size());
        std::ranges::transform(v, to.begin(), f);
        return to;
      };
      if (IsOp(*n, "Add") || IsOp(*n, "AddV2") || (IsOp(*n, "BiasAdd") && left && ChannelsLast(*n))) bias = v;
      else if (IsOp(*n, "Mul")) scale = v;
      else if (IsOp(*n, "Sub") && left) bias = map(std::negate<>());
      else if (IsOp(*n, "Sub")) scale.assign(v.size(), -1), bias = v;
      else if ((IsOp(*n, "RealDiv") || IsOp(*n, "Div")) && left) scale = map([](float x) { return 1 / x; });
      else return false;
    }
    Apply(p, scale, bias);
    Absorb(p, at);
    return true;
  }

  // Inference alone, of constants.
  bool BatchNorm(const Product& p, int32_t at, std::vector<float>* scale, std::vector<float>* bias) const {
    const FlatNode& n = node(at);
    const AttrValue* training = AttrOrDefault(*n.op, n.attrs, "is_training");
    const AttrValue* epsilon = AttrOrDefault(*n.op, n.attrs, "epsilon");
    if (!training || training->i || !epsilon || n.inputs.size() != 5 || p.rank != 4 || !ChannelsLast(n)) return false;
    // Only the first output may be read.
    for (int32_t r : readers_.of(at)) {
      const auto& read = r == Readers::kReturn ? flat_.returns : node(r).inputs;
      if (std::ranges::any_of(read, [at](Endpoint e) { return e.node == at && e.port != 0; })) return false;
    }
    std::array<std::vector<float>, 4> of;
    for (size_t i = 0; i < 4; ++i) {
      of[i] = Vector(p, n.inputs[i + 1]);
      if (of[i].empty() || ConstantAt(flat_, n.inputs[i + 1])->num_elements() != p.channels) return false;
    }
    const auto& [gamma, beta, mean, variance] = of;
    for (size_t i = 0; i < gamma.size(); ++i) {
      scale->push_back(gamma[i] / std::sqrt(variance[i] + epsilon->f));
      bias->push_back(beta[i] - mean[i] * scale->back());
    }
    return true;
  }

  // The product moves to where the sum stands, since the other operand may be made later than itself.
  bool FuseSum(Product& p) {
    int32_t at;
    const FlatNode* n = Next(p, &at);
    if (!n || p.add || p.ends() || p.moved || p.depthwise || !(IsOp(*n, "Add") || IsOp(*n, "AddV2"))) return false;
    if (n->inputs[0] == n->inputs[1]) return false;
    const Endpoint other = n->inputs[n->inputs[0] == p.end];
    if (ConstantAt(flat_, other)) return false;
    p.add = other;
    FlatNode product = node(p.node);
    product.inputs = node(at).inputs;
    flat_.nodes[at] = product;
    readers_.SetInputs(at, {node(p.node).inputs[0], node(p.node).inputs[1], other});
    Drop(p.node);
    p.node = at;
    p.end = {at, 0};
    visited_[at] = true;
    return true;
  }

  bool FuseClamp(Product& p) {
    int32_t at;
    const FlatNode* n = Next(p, &at);
    if (!n || p.activation != math::Activation::kNone) return false;
    if (IsOp(*n, "Relu") || IsOp(*n, "Relu6")) {
      p.lowest = std::max(p.lowest, 0.0f), p.highest = std::max(p.highest, 0.0f);
      if (IsOp(*n, "Relu6")) p.highest = std::min(p.highest, 6.0f);
    } else if (IsOp(*n, "Maximum") || IsOp(*n, "Minimum")) {
      if (n->inputs[0] == n->inputs[1]) return false;
      const Tensor* bound = ConstantAt(flat_, n->inputs[n->inputs[0] == p.end]);
      if (!bound || bound->num_elements() != 1 || bound->rank() > 1 || std::isnan(bound->as<float>()[0])) return false;
      const float b = bound->as<float>()[0];
      if (IsOp(*n, "Maximum")) p.lowest = std::max(p.lowest, b), p.highest = std::max(p.highest, b);
      else p.lowest = std::min(p.lowest, b), p.highest = std::min(p.highest, b);
    } else {
      return false;
    }
    Absorb(p, at);
    return true;
  }

  bool FuseActivation(Product& p) {
    if (p.activation != math::Activation::kNone) return false;
    auto found = activations_.Find(p.end);
    if (!found) return false;
    p.activation = found->activation;
    readers_.Redirect({found->node, 0}, p.end);
    for (int32_t part : found->parts) Drop(part);
    return true;
  }

  // A Reshape or Squeeze of the product's result: element-wise operations may run before it as well.
  bool PassView(Product& p) {
    int32_t at;
    const FlatNode* n = Next(p, &at);
    if (!n || n->inputs[0] != p.end) return false;
    size_t rank = 0;
    bool channels_last = false;
    if (IsOp(*n, "Reshape")) LastOfShape(p, n->inputs[1], &rank, &channels_last);
    else if (IsOp(*n, "Squeeze")) channels_last = SqueezesOthers(p, *n, &rank);
    else return false;
    p.channels_last = channels_last;
    p.rank = rank;
    p.moved = true;
    p.end = {at, 0};
    return true;
  }

  // What is known of a Reshape's shape: a constant, or put together with a constant at its end.
  void LastOfShape(const Product& p, Endpoint shape, size_t* rank, bool* channels_last) const {
    const FlatNode& n = node(shape);
    Endpoint last = shape;
    const bool packs = IsOp(n, "Pack"), concats = IsOp(n, "ConcatV2");
    if (packs) last = n.inputs.back();
    if (concats && n.inputs.size() >= 3) last = n.inputs[n.inputs.size() - 2];
    const Tensor* t = ConstantAt(flat_, last);
    if (packs) *rank = n.inputs.size();
    if (!t || t->num_elements() < 1) return;
    if (!packs && !concats) *rank = static_cast<size_t>(t->num_elements());
    const auto end = static_cast<size_t>(t->num_elements() - 1);
    const int64_t size = t->dtype() == DType::kInt32   ? t->as<int32_t>()[end]
                         : t->dtype() == DType::kInt64 ? t->as<int64_t>()[end]
                                                       : -1;
    *channels_last = p.channels_last && size == p.channels;
  }

  bool SqueezesOthers(const Product& p, const FlatNode& n, size_t* rank) const {
    const AttrValue* dims = AttrOrDefault(*n.op, n.attrs, "squeeze_dims");
    if (!dims || dims->list.empty() || p.rank < dims->list.size()) return false;
    const auto last = static_cast<int64_t>(p.rank) - 1;
    for (const AttrValue& d : dims->list) {
      if (d.i == -1 || d.i >= last) return false;
    }
    *rank = p.rank - dims->list.size();
    return p.channels_last;
  }

  // Writes what was fused into the product's node: attributes, and operands behind its own.
  Status Commit(Product& p) {
    std::vector<Attr> attrs(node(p.node).attrs.begin(), node(p.node).attrs.end());
    std::vector<Endpoint> inputs(node(p.node).inputs.begin(), node(p.node).inputs.begin() + 2);
    for (auto& [name, values] : {std::pair{"_scale", &p.scale}, std::pair{"_bias", &p.bias}}) {
      if (values->empty()) continue;
      TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(g_.settings.run->account, DType::kFloat, Shape{p.channels}, Kind::kWeights));
      std::ranges::copy(*values, t.mutable_data<float>());
      inputs.push_back(AddConstant(flat_, std::move(t)));
      attrs.push_back({name, AttrValue::Bool(true)});
    }
    if (p.add) {
      inputs.push_back(*p.add);
      attrs.push_back({"_add", AttrValue::Bool(true)});
    }
    if (p.lowest > -kInfinity) attrs.push_back({"_lowest", AttrValue::Float(p.lowest)});
    if (p.highest < kInfinity) attrs.push_back({"_highest", AttrValue::Float(p.highest)});
    if (p.activation != math::Activation::kNone) {
      attrs.push_back({"_activation", AttrValue::Int(static_cast<int64_t>(p.activation))});
    }
    readers_.SetInputs(p.node, std::move(inputs));
    flat_.nodes[p.node].attrs = g_.region->CopyArray(std::span<const Attr>(attrs));
    return OkStatus();
  }

  PassGraph& g_;
  FlatGraph& flat_;
  const PassOptions& on_;
  Readers readers_;
  ActivationFinder activations_;
  std::vector<bool> visited_;  // products that were grown already
};

}  // namespace

Status FuseEpilogues(PassGraph& g) {
  return g.settings.run ? Fuser(g).Run() : OkStatus();
}

}  // namespace tare
