// Fold: a pure op of constants becomes the constant it gives.
//
// Only ops of the list below, so that the size of a result is known before it is made: a file cannot make a load
// take memory that its constants do not take already. A kernel that fails is left to fail when it runs.
#include <algorithm>

#include "kernels/broadcast.h"
#include "passes/passes.h"

namespace tare {
namespace {

// Results up to this size may be larger than what they are made from.
constexpr int64_t kSmall = 64 << 10;
// No result is larger; nothing larger is read in whole.
constexpr size_t kMost = 1 << 20;

enum class Size {
  kFew,        // a few numbers, whatever the inputs hold
  kInputs,     // at most as large as the inputs together
  kCast,       // one element an element
  kBroadcast,  // that of the inputs broadcast against each other
  kGather,     // at most as many slices of input 0 as input 1 has elements
  kFill,       // input 0 is the shape
};

struct Foldable {
  std::string_view op;
  Size size;
};

constexpr Foldable kFoldable[] = {
    {"Abs", Size::kInputs}, {"Add", Size::kBroadcast}, {"AddN", Size::kInputs}, {"AddV2", Size::kBroadcast},
    {"All", Size::kInputs}, {"Any", Size::kInputs}, {"ArgMax", Size::kCast}, {"ArgMin", Size::kCast},
    {"BiasAdd", Size::kInputs}, {"Cast", Size::kCast}, {"Ceil", Size::kInputs}, {"ConcatV2", Size::kInputs},
    {"Div", Size::kBroadcast}, {"Equal", Size::kBroadcast}, {"Exp", Size::kInputs}, {"ExpandDims", Size::kInputs},
    {"Fill", Size::kFill}, {"Floor", Size::kInputs}, {"FloorDiv", Size::kBroadcast}, {"FloorMod", Size::kBroadcast},
    {"GatherV2", Size::kGather}, {"Greater", Size::kBroadcast}, {"GreaterEqual", Size::kBroadcast},
    {"Identity", Size::kInputs}, {"Less", Size::kBroadcast}, {"LessEqual", Size::kBroadcast}, {"Log", Size::kInputs},
    {"LogicalAnd", Size::kBroadcast}, {"LogicalNot", Size::kInputs}, {"LogicalOr", Size::kBroadcast},
    {"Max", Size::kInputs}, {"Maximum", Size::kBroadcast}, {"Mean", Size::kInputs}, {"Min", Size::kInputs},
    {"Minimum", Size::kBroadcast}, {"Mul", Size::kBroadcast}, {"Neg", Size::kInputs},
    {"NotEqual", Size::kBroadcast}, {"Pack", Size::kInputs}, {"Pow", Size::kBroadcast}, {"Prod", Size::kInputs},
    {"Rank", Size::kFew}, {"RealDiv", Size::kBroadcast}, {"Reciprocal", Size::kInputs},
    {"Relu", Size::kInputs}, {"Reshape", Size::kInputs}, {"ReverseV2", Size::kInputs}, {"Rsqrt", Size::kInputs},
    {"Shape", Size::kFew}, {"Sigmoid", Size::kInputs}, {"Size", Size::kFew}, {"Slice", Size::kInputs},
    {"Softplus", Size::kInputs}, {"Sqrt", Size::kInputs}, {"Square", Size::kInputs},
    {"SquaredDifference", Size::kBroadcast}, {"Squeeze", Size::kInputs}, {"StridedSlice", Size::kInputs},
    {"Sub", Size::kBroadcast}, {"Sum", Size::kInputs}, {"Tanh", Size::kInputs}, {"Transpose", Size::kInputs},
    {"ZerosLike", Size::kInputs},
};
static_assert(std::ranges::is_sorted(kFoldable, {}, &Foldable::op));

const Foldable* Find(std::string_view op) {
  auto it = std::ranges::lower_bound(kFoldable, op, {}, &Foldable::op);
  return it != std::end(kFoldable) && it->op == op ? it : nullptr;
}

int64_t Bytes(std::span<const Tensor> tensors) {
  int64_t sum = 0;
  for (const Tensor& t : tensors) sum += static_cast<int64_t>(t.bytes());
  return sum;
}

// Whether the op's result is known to be small, or no larger than what it is made from.
bool Fits(Size size, std::span<const Tensor> in, DType type) {
  const int64_t inputs = Bytes(in), width = static_cast<int64_t>(DTypeSize(type));
  const int64_t most = std::max(kSmall, inputs);
  switch (size) {
    case Size::kFew:
    case Size::kInputs: return true;
    case Size::kCast: return in[0].num_elements() <= most / width;
    case Size::kBroadcast: {
      if (in.size() != 2) return false;
      auto shape = BroadcastShape(in[0].shape(), in[1].shape());
      return shape.ok() && shape->num_elements() <= most / width;
    }
    case Size::kGather:
      return in.size() >= 2 && (in[1].num_elements() == 0 || static_cast<int64_t>(in[0].bytes()) <= most / in[1].num_elements());
    case Size::kFill: {
      std::array<int64_t, kMaxRank> space;
      auto dims = IntValues(in[0], space);
      if (!dims.ok()) return false;
      auto shape = Shape::Make(*dims);
      return shape.ok() && shape->num_elements() <= most / width;
    }
  }
  return false;
}

class Folder {
 public:
  explicit Folder(PassGraph& g) : g_(g) {}

  void Run() {
    for (FlatNode& n : g_.flat.nodes) {
      const Foldable* fold = n.what == FlatNode::What::kOp && n.op ? Find(n.op->name) : nullptr;
      if (!fold || !IsPure(n) || !n.controls.empty() || n.types.size() != 1 || !IsPlain(n.types[0])) continue;
      std::vector<Tensor> in;
      for (Endpoint e : n.inputs) {
        const FlatNode& from = g_.flat.nodes[e.node];
        if (from.what != FlatNode::What::kConstant || !from.controls.empty() || !IsPlain(from.value.dtype())) break;
        in.push_back(from.value);
      }
      if (in.empty() || in.size() != n.inputs.size() || !Fits(fold->size, in, n.types[0])) continue;
      // Weights stay where they are mapped: their like in another order would be held beside them.
      const bool reads_all = fold->size != Size::kFew && fold->size != Size::kGather;
      if (reads_all && std::ranges::any_of(in, [](const Tensor& t) { return t.bytes() > kMost; })) continue;
      // Nobody may ask for what a branch computes: little is spent on it.
      if (g_.nested && Bytes(in) > kSmall) continue;
      Tensor value = Compute(g_, n, in);
      if (!value.valid() || value.dtype() != n.types[0] || value.bytes() > kMost) continue;
      n.what = FlatNode::What::kConstant;
      n.value = std::move(value);
      n.inputs.clear();
    }
  }

 private:
  PassGraph& g_;
};

}  // namespace

void FoldConstants(PassGraph& g) {
  if (g.settings.run) Folder(g).Run();
}

}  // namespace tare
