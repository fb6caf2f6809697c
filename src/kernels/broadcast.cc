#include "kernels/broadcast.h"

#include <algorithm>
#include <cstring>

#include "math/small_float.h"

namespace tare {

BroadcastPlan::BroadcastPlan(std::span<const Shape* const> operands, const Shape& out) {
  // The stride that the next dimension outwards has, and whether the last one was broadcast.
  std::array<int64_t, kMaxOperands> next;
  std::array<bool, kMaxOperands> repeated{};
  next.fill(1);
  for (int d = out.rank() - 1; d >= 0; --d) {
    if (out[d] == 1) continue;
    std::array<bool, kMaxOperands> repeats{};
    for (size_t k = 0; k < operands.size(); ++k) {
      int own = d - out.rank() + operands[k]->rank();
      repeats[k] = own < 0 || (*operands[k])[own] == 1;
    }
    if (rank > 0 && repeats == repeated) {
      dims[rank - 1] *= out[d];
    } else {
      dims[rank] = out[d];
      for (size_t k = 0; k < operands.size(); ++k) strides[k][rank] = repeats[k] ? 0 : next[k];
      ++rank;
      repeated = repeats;
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!repeats[k]) next[k] *= out[d];
    }
  }
}

void BroadcastCursor::Seek(int64_t at) {
  offsets_.fill(0);
  index_.fill(0);
  if (at == 0) return;  // also where a dimension is empty and nothing can be divided by it
  for (int d = 0; d < plan_.rank; ++d) {
    index_[d] = at % plan_.dims[d];
    at /= plan_.dims[d];
    for (int k = 0; k < operands_; ++k) offsets_[k] += index_[d] * plan_.strides[k][d];
  }
}

void BroadcastCursor::Advance(int64_t n) {
  for (int d = 0; d < plan_.rank; ++d, n = 1) {
    index_[d] += n;
    for (int k = 0; k < operands_; ++k) offsets_[k] += n * plan_.strides[k][d];
    if (index_[d] < plan_.dims[d]) return;
    for (int k = 0; k < operands_; ++k) offsets_[k] -= index_[d] * plan_.strides[k][d];
    index_[d] = 0;
  }
}

namespace {

constexpr int64_t kBlock = 512;
// Inner runs at least this long are read where they lie instead of being gathered into a block.
constexpr int64_t kLongRun = 128;
constexpr int64_t kSerial = 16384;

template <class T>
void SplatAs(const void* from, void* to, int64_t n) {
  T v;
  std::memcpy(&v, from, sizeof v);
  std::fill_n(static_cast<T*>(to), n, v);
}

void Splat(size_t size, const void* from, void* to, int64_t n) {
  switch (size) {
    case 1: return SplatAs<uint8_t>(from, to, n);
    case 2: return SplatAs<uint16_t>(from, to, n);
    case 4: return SplatAs<uint32_t>(from, to, n);
    case 8: return SplatAs<uint64_t>(from, to, n);
    default: return SplatAs<std::complex<double>>(from, to, n);
  }
}

bool IsSmallFloat(DType t) { return t == DType::kHalf || t == DType::kBfloat16; }

// The work of one thread: a range of the output, block by block.
class BlockRunner {
 public:
  BlockRunner(std::span<const Tensor* const> operands, Tensor& out, const BlockOp& op, const BroadcastPlan& plan)
      : operands_(operands), out_(out), op_(op), plan_(plan), count_(static_cast<int>(operands.size())) {
    narrow_ = op.widen && IsSmallFloat(out.dtype());
    for (int k = 0; k < count_; ++k) {
      sizes_[k] = DTypeSize(operands[k]->dtype());
      widen_[k] = op.widen && IsSmallFloat(operands[k]->dtype());
      bool any = false, all = true;
      for (int d = 0; d < plan.rank; ++d) (plan.strides[k][d] ? any : all) = plan.strides[k][d] != 0;
      kinds_[k] = all ? kDirect : any ? kPartly : kScalar;
    }
  }

  void Run(int64_t begin, int64_t end) {
    bool blocked = narrow_, partly = false;
    for (int k = 0; k < count_; ++k) {
      blocked |= widen_[k] || kinds_[k] != kDirect;
      rows_ready_[k] = 0;
      partly |= kinds_[k] == kPartly;
      if (kinds_[k] == kScalar) PrepareScalar(k, std::min(kBlock, end - begin));
    }
    BroadcastCursor at(plan_, count_, partly ? begin : 0);
    bool long_runs = partly && plan_.dims[0] >= kLongRun;
    // Blocks of whole rows: what repeats in every row is gathered once.
    bool whole_rows = partly && !long_runs && plan_.rank == 2;
    for (int64_t pos = begin; pos < end;) {
      int64_t n = blocked ? std::min(kBlock, end - pos) : end - pos;
      if (long_runs || (whole_rows && at.run() != plan_.dims[0])) n = std::min(n, at.run());
      else if (whole_rows && n > plan_.dims[0]) n -= n % plan_.dims[0];
      const void* in[kMaxOperands];
      for (int k = 0; k < count_; ++k) in[k] = Fetch(k, pos, n, at, long_runs);
      std::byte* to = static_cast<std::byte*>(out_.mutable_raw()) + pos * DTypeSize(out_.dtype());
      op_.fn(in, narrow_ ? static_cast<void*>(narrowed_) : to, n, op_.param);
      if (narrow_) {
        if (out_.dtype() == DType::kHalf) math::Narrow(narrowed_, reinterpret_cast<Half*>(to), n);
        else math::Narrow(narrowed_, reinterpret_cast<BFloat16*>(to), n);
      }
      pos += n;
      if (partly) at.Seek(pos);
    }
  }

 private:
  enum Source : uint8_t { kDirect, kPartly, kScalar };

  const std::byte* Element(int k, int64_t i) const {
    return static_cast<const std::byte*>(operands_[k]->raw()) + i * static_cast<int64_t>(sizes_[k]);
  }

  void Widen(int k, const void* from, int64_t n) {
    if (operands_[k]->dtype() == DType::kHalf) math::Widen(static_cast<const Half*>(from), widened_[k], n);
    else math::Widen(static_cast<const BFloat16*>(from), widened_[k], n);
  }

  void PrepareScalar(int k, int64_t n) {
    Splat(sizes_[k], Element(k, 0), blocks_[k], n);
    if (widen_[k]) Widen(k, blocks_[k], n);
  }

  // Where the operand's next n elements can be read contiguously.
  const void* Fetch(int k, int64_t pos, int64_t n, const BroadcastCursor& at, bool long_runs) {
    if (kinds_[k] == kScalar) return widen_[k] ? static_cast<void*>(widened_[k]) : blocks_[k];
    const void* from = blocks_[k];
    if (kinds_[k] == kDirect) {
      from = Element(k, pos);
    } else if (long_runs && plan_.strides[k][0]) {
      from = Element(k, at.offset(k));
    } else {
      bool repeats = plan_.rank == 2 && plan_.strides[k][1] == 0 && at.run() == plan_.dims[0];
      if (repeats && n <= rows_ready_[k]) return widen_[k] ? static_cast<void*>(widened_[k]) : blocks_[k];
      Gather(k, n, at);
      rows_ready_[k] = repeats ? n : 0;
    }
    if (!widen_[k]) return from;
    Widen(k, from, n);
    return widened_[k];
  }

  void Gather(int k, int64_t n, BroadcastCursor at) {
    std::byte* to = blocks_[k];
    while (n > 0) {
      int64_t run = std::min(n, at.run());
      if (plan_.strides[k][0]) std::memcpy(to, Element(k, at.offset(k)), run * sizes_[k]);
      else Splat(sizes_[k], Element(k, at.offset(k)), to, run);
      to += run * static_cast<int64_t>(sizes_[k]);
      n -= run;
      at.Advance(run);
    }
  }

  std::span<const Tensor* const> operands_;
  Tensor& out_;
  const BlockOp& op_;
  const BroadcastPlan& plan_;
  int count_;
  bool narrow_;
  std::array<Source, kMaxOperands> kinds_;
  std::array<bool, kMaxOperands> widen_;
  std::array<size_t, kMaxOperands> sizes_;
  std::array<int64_t, kMaxOperands> rows_ready_;  // elements of a block that hold repeated rows from their start
  alignas(64) std::byte blocks_[kMaxOperands][kBlock * 16];
  alignas(64) float widened_[kMaxOperands][kBlock];
  alignas(64) float narrowed_[kBlock];
};

}  // namespace

void RunBlocks(ThreadPool& threads, std::span<const Tensor* const> operands, Tensor& out, const BlockOp& op) {
  int64_t n = out.num_elements();
  if (n == 0) return;
  std::array<const Shape*, kMaxOperands> shapes{};
  for (size_t k = 0; k < operands.size(); ++k) shapes[k] = &operands[k]->shape();
  BroadcastPlan plan(std::span(shapes.data(), operands.size()), out.shape());
  auto run = [&](int64_t begin, int64_t end) { BlockRunner(operands, out, op, plan).Run(begin, end); };
  if (n * op.cost <= kSerial) run(0, n);
  else threads.ParallelFor(n, op.cost, run);
}

}  // namespace tare
