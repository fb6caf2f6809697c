// Pad: a Pad with zeros before a convolution becomes the convolution's own padding.
#include <algorithm>

#include "passes/passes.h"

namespace tare {
namespace {

// Beyond this the window code refuses a padding, which Pad would take.
constexpr int64_t kMostPadding = 1 << 20;

// [before, after] of the dimensions in order, where a Pad with constant zeros adds none to batch and channels.
std::vector<int64_t> ZeroPaddings(const FlatGraph& flat, const FlatNode& pad, size_t rank) {
  if (!(IsOp(pad, "Pad") || IsOp(pad, "PadV2")) || !pad.controls.empty()) return {};
  const Tensor* paddings = ConstantAt(flat, pad.inputs[1]);
  if (!paddings || paddings->num_elements() != 2 * static_cast<int64_t>(rank)) return {};
  if (IsOp(pad, "PadV2")) {
    const Tensor* fill = ConstantAt(flat, pad.inputs[2]);
    if (!fill || fill->dtype() != DType::kFloat || fill->num_elements() != 1 || fill->as<float>()[0] != 0) return {};
  }
  std::vector<int64_t> sizes;
  if (paddings->dtype() == DType::kInt32) std::ranges::copy(paddings->as<int32_t>(), std::back_inserter(sizes));
  else if (paddings->dtype() == DType::kInt64) std::ranges::copy(paddings->as<int64_t>(), std::back_inserter(sizes));
  if (std::ranges::any_of(sizes, [](int64_t n) { return n < 0 || n > kMostPadding; })) return {};
  if (sizes.empty() || sizes[0] || sizes[1] || sizes[2 * rank - 1] || sizes[2 * rank - 2]) return {};
  return sizes;
}

bool Is(const FlatNode& n, std::string_view attr, std::string_view value) {
  const AttrValue* v = AttrOrDefault(*n.op, n.attrs, attr);
  return v && v->kind == AttrKind::kString && !v->is_list && v->s == value;
}

Attrs WithPaddings(const FlatNode& n, std::span<const int64_t> sizes, Region* region) {
  std::vector<Attr> attrs;
  for (const Attr& a : n.attrs) {
    if (a.name != "padding" && a.name != "explicit_paddings") attrs.push_back(a);
  }
  std::vector<AttrValue> list;
  for (int64_t size : sizes) list.push_back(AttrValue::Int(size));
  const auto kept = region->CopyArray(std::span<const AttrValue>(list));
  attrs.push_back({"padding", AttrValue::String("EXPLICIT")});
  attrs.push_back({"explicit_paddings", AttrValue::List(AttrKind::kInt, kept)});
  return region->CopyArray(std::span<const Attr>(attrs));
}

}  // namespace

void FusePads(PassGraph& g) {
  Readers readers(g.flat);
  for (size_t i = 0; i < g.flat.nodes.size(); ++i) {
    FlatNode& n = g.flat.nodes[i];
    if (!(IsOp(n, "Conv2D") || IsOp(n, "DepthwiseConv2dNative")) || n.types[0] != DType::kFloat) continue;
    if (!Is(n, "padding", "VALID") || !Is(n, "data_format", "NHWC")) continue;
    const Endpoint from = n.inputs[0];
    const std::vector<int64_t> sizes = ZeroPaddings(g.flat, g.flat.nodes[from.node], 4);
    if (sizes.empty() || readers.Sole(from.node) != static_cast<int32_t>(i)) continue;
    n.attrs = WithPaddings(n, sizes, g.region);
    readers.SetInputs(static_cast<int32_t>(i), {g.flat.nodes[from.node].inputs[0], n.inputs[1]});
  }
}

}  // namespace tare
