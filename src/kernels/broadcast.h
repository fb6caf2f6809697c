// How operands of different shapes walk together under NumPy's broadcasting rules, for every element-wise op.
//
// An op supplies a function for a run of contiguous elements; what is broadcast is copied, a block at a time,
// into a buffer that stays in L1. So each op and dtype has one loop, which the compiler vectorises, whatever
// the shapes. Half and bfloat16 ride on the float loop: widened and narrowed a block at a time.
#pragma once
#include <array>
#include <span>

#include "kernels/kernel.h"

namespace tare {

constexpr int kMaxOperands = 3;

// An output's dimensions, merged where all operands allow, innermost first, with each operand's strides in
// elements: 0 where it is broadcast.
struct BroadcastPlan {
  // REQUIRES: every operand's shape broadcasts to `out`.
  BroadcastPlan(std::span<const Shape* const> operands, const Shape& out);
  BroadcastPlan(std::initializer_list<const Shape*> operands, const Shape& out)
      : BroadcastPlan(std::span(operands.begin(), operands.size()), out) {}

  int rank = 0;
  std::array<int64_t, kMaxRank> dims;
  std::array<std::array<int64_t, kMaxRank>, kMaxOperands> strides;
};

// A position in a plan's output and the element of each operand that it reads.
class BroadcastCursor {
 public:
  // Starts at the `at`-th output element. REQUIRES: at is within the output, or the output is empty.
  BroadcastCursor(const BroadcastPlan& plan, int operands, int64_t at) : plan_(plan), operands_(operands) {
    Seek(at);
  }
  void Seek(int64_t at);
  int64_t offset(int operand) const { return offsets_[operand]; }
  // Elements left in the innermost dimension.
  int64_t run() const { return plan_.rank ? plan_.dims[0] - index_[0] : 1; }
  // Moves on by n. REQUIRES: n <= run().
  void Advance(int64_t n);

 private:
  const BroadcastPlan& plan_;
  int operands_;
  std::array<int64_t, kMaxRank> index_{};
  std::array<int64_t, kMaxOperands> offsets_{};
};

// What an element-wise op does to a run: `in[k]` and `out` are `n` contiguous elements each; `out` may be one
// of `in`. `param` is the op's own (a kernel's attributes), or null.
struct BlockOp {
  using Fn = void (*)(const void* const* in, void* out, int64_t n, const void* param);
  Fn fn;
  const void* param = nullptr;
  int cost = 1;        // nanoseconds an element
  bool widen = false;  // fn takes and gives float where the tensors are half or bfloat16
};

// Runs `op` over plain operands that broadcast to out's shape. `out` may lie over an operand of as many
// elements (KernelCall::OutputOver).
void RunBlocks(ThreadPool& threads, std::span<const Tensor* const> operands, Tensor& out, const BlockOp& op);

// For elements that are not plain bytes: calls f(output index, operand offsets...) in order.
template <class F>
void ForEachBroadcast(const Shape& a, const Shape& b, const Shape& out, F f) {
  BroadcastPlan plan({&a, &b}, out);
  BroadcastCursor at(plan, 2, 0);
  for (int64_t i = 0, n = out.num_elements(); i < n; ++i, at.Advance(1)) f(i, at.offset(0), at.offset(1));
}

}  // namespace tare
