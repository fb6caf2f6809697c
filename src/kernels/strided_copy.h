// The one loop beneath slices, transposes, reversals, tiles, pads and block permutations: copying a box of
// elements from one arrangement in memory to another.
#pragma once
#include <span>

#include "kernels/elements.h"
#include "threads/thread_pool.h"

namespace tare {

// One dimension of the box: `n` steps, each `from` and `to` elements further (negative: back, 0 `from`:
// the same element again).
struct CopyAxis {
  int64_t n = 1;
  int64_t from = 0;
  int64_t to = 0;
};
// Rank of any two shapes together: each dimension split in two.
constexpr int kMaxCopyAxes = 2 * kMaxRank + 2;

// Copies the element at from[sum of i_k * axes[k].from] to to[sum of i_k * axes[k].to] for every i in the
// box. Order of the axes does not matter. REQUIRES: no element is written twice or read after it was
// written, and both sides lie in memory of valid elements of `dtype`.
void StridedCopy(ThreadPool& threads, DType dtype, const void* from, void* to, std::span<const CopyAxis> axes);

// Axes that walk all of a contiguous `shape` on both sides; callers then change what differs.
struct CopyAxes {
  std::array<CopyAxis, kMaxCopyAxes> axes;
  int size = 0;
  void Add(int64_t n, int64_t from, int64_t to) { axes[size++] = {n, from, to}; }
  operator std::span<const CopyAxis>() const { return {axes.data(), static_cast<size_t>(size)}; }  // NOLINT
};

// Elements between neighbours along each dimension of a contiguous tensor.
inline std::array<int64_t, kMaxRank> StridesOf(const Shape& s) {
  std::array<int64_t, kMaxRank> strides{};
  int64_t n = 1;
  for (int i = s.rank() - 1; i >= 0; --i) {
    strides[i] = n;
    n *= s[i];
  }
  return strides;
}

// Axes that spread a tensor of shape `from` over one of shape `to`. REQUIRES: `from` broadcasts to `to`.
inline CopyAxes BroadcastAxes(const Shape& from, const Shape& to) {
  const auto read = StridesOf(from), write = StridesOf(to);
  CopyAxes axes;
  for (int i = 0; i < to.rank(); ++i) {
    int k = i - to.rank() + from.rank();
    axes.Add(to[i], k >= 0 && from[k] != 1 ? read[k] : 0, write[i]);
  }
  return axes;
}

}  // namespace tare
