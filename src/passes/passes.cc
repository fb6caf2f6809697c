#include "passes/passes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tare {
namespace {

struct Name {
  std::string_view name;
  bool PassOptions::*on;
};
constexpr Name kNames[] = {
    {"freeze", &PassOptions::freeze},     {"clean", &PassOptions::clean},
    {"fold", &PassOptions::fold},         {"pad", &PassOptions::pad},
    {"affine", &PassOptions::affine},     {"activation", &PassOptions::activation},
    {"residual", &PassOptions::residual},
};

}  // namespace

PassOptions PassOptions::None() {
  PassOptions o;
  for (const Name& n : kNames) o.*n.on = false;
  return o;
}

Result<PassOptions> PassOptions::Parse(std::string_view list) {
  PassOptions o;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (name == "all" || name == "none") {
      o = name == "all" ? PassOptions() : None();
      continue;
    }
    const bool on = !name.starts_with('-');
    if (!on) name.remove_prefix(1);
    auto it = std::ranges::find(kNames, name, &Name::name);
    if (it == std::end(kNames)) return InvalidArgument("there is no pass '{}'", name);
    o.*it->on = on;
  }
  return o;
}

std::string PassOptions::Names() {
  std::string names;
  for (const Name& n : kNames) names += fmt::format("{}{}", names.empty() ? "" : ", ", n.name);
  return names;
}

bool IsPure(const FlatNode& n) {
  if (n.what != FlatNode::What::kOp) return true;
  if (!n.row || n.row->flags & (kStateful | kNeverCached)) return false;
  if (!n.op) return true;
  // Who takes a handle may change what it refers to, whatever the op's definition says.
  return !n.op->stateful && std::ranges::none_of(n.op->inputs, [](const ArgDef& a) {
    return a.is_ref || a.type == DType::kResource;
  });
}

std::vector<bool> ReachedNodes(const FlatGraph& flat) {
  std::vector<bool> reached(flat.nodes.size());
  for (Endpoint e : flat.returns) reached[e.node] = true;
  for (int32_t c : flat.control_returns) reached[c] = true;
  for (size_t i = flat.nodes.size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (Endpoint e : flat.nodes[i].inputs) reached[e.node] = true;
    for (int32_t c : flat.nodes[i].controls) reached[c] = true;
  }
  return reached;
}

void DropDeadNodes(FlatGraph& flat) {
  const std::vector<bool> reached = ReachedNodes(flat);
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    FlatNode& n = flat.nodes[i];
    if (reached[i] || n.what == FlatNode::What::kArg || n.what == FlatNode::What::kGroup) continue;
    FlatNode group;
    group.what = FlatNode::What::kGroup;
    group.name = n.name;
    n = std::move(group);
  }
}

Tensor Compute(const PassGraph& g, const FlatNode& n, std::span<Tensor> in) {
  constexpr size_t kMostInputs = 64;
  if (in.size() > kMostInputs || !CheckAttrs(*n.op, n.attrs).ok()) return {};
  auto kernel = n.row->make(KernelInit{*n.op, n.attrs, nullptr});
  if (!kernel.ok()) return {};
  std::array<Tensor*, kMostInputs> inputs;
  std::ranges::transform(in, inputs.begin(), [](Tensor& t) { return &t; });
  constexpr bool kKept[kMostInputs] = {};
  Tensor out;
  KernelCall call(*g.settings.run, {inputs.data(), in.size()}, {kKept, in.size()}, {&out, 1}, n.name);
  return (*kernel)->Run(call).ok() ? std::move(out) : Tensor();
}

const Tensor* ConstantAt(const FlatGraph& flat, Endpoint e) {
  const FlatNode& n = flat.nodes[e.node];
  return n.what == FlatNode::What::kConstant && n.controls.empty() ? &n.value : nullptr;
}

Endpoint AddConstant(FlatGraph& flat, Tensor value) {
  FlatNode n;
  n.what = FlatNode::What::kConstant;
  n.types = {value.dtype()};
  n.value = std::move(value);
  flat.nodes.push_back(std::move(n));
  return {static_cast<int32_t>(flat.nodes.size()) - 1, 0};
}

Readers::Readers(FlatGraph& flat) : flat_(flat), readers_(flat.nodes.size()) {
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    for (Endpoint e : flat.nodes[i].inputs) readers_[e.node].push_back(static_cast<int32_t>(i));
  }
  for (Endpoint e : flat.returns) readers_[e.node].push_back(kReturn);
}

std::span<const int32_t> Readers::of(int32_t node) const {
  if (static_cast<size_t>(node) >= readers_.size()) return {};
  return readers_[node];
}

int32_t Readers::Sole(int32_t node) const {
  auto all = of(node);
  return all.size() == 1 ? all[0] : kReturn;
}

void Readers::Redirect(Endpoint from, Endpoint to) {
  std::vector<int32_t> stay;
  for (int32_t r : std::exchange(readers_[from.node], {})) {
    // One reading at a time: a node that reads twice stands in the list twice.
    auto& inputs = r == kReturn ? flat_.returns : flat_.nodes[r].inputs;
    auto at = std::ranges::find(inputs, from);
    if (at == inputs.end()) {
      stay.push_back(r);  // it reads another output
      continue;
    }
    *at = to;
    readers_[to.node].push_back(r);
  }
  std::ranges::copy(stay, std::back_inserter(readers_[from.node]));
}

void Readers::SetInputs(int32_t node, std::vector<Endpoint> inputs) {
  auto forget = [this, node](Endpoint e) {
    if (static_cast<size_t>(e.node) < readers_.size()) {
      auto& readers = readers_[e.node];
      readers.erase(std::ranges::find(readers, node));
    }
  };
  for (Endpoint e : flat_.nodes[node].inputs) forget(e);
  for (Endpoint e : inputs) {
    if (static_cast<size_t>(e.node) < readers_.size()) readers_[e.node].push_back(node);
  }
  flat_.nodes[node].inputs = std::move(inputs);
}

Status RunPasses(PassGraph& g) {
  if (g.flat.dynamic) return OkStatus();
  const PassOptions& on = g.settings.options;
  if (on.freeze) TARE_RETURN_IF_ERROR(FreezeVariables(g));
  if (on.clean) CleanGraph(g);
  if (on.fold) FoldConstants(g);
  // Fusing asks who reads what.
  DropDeadNodes(g.flat);
  if (on.pad) FusePads(g);
  if (on.affine || on.activation || on.residual) TARE_RETURN_IF_ERROR(FuseEpilogues(g));
  DropDeadNodes(g.flat);
  return OkStatus();
}

}  // namespace tare
