#include "kernels/strided_copy.h"

namespace tare {
namespace {

// Rows and columns of a tile: both sides of a transposed tile stay in the first-level cache.
constexpr int64_t kTile = 16;
// Elements one piece of parallel work moves, about.
constexpr int64_t kPiece = 8192;

// The box with as few axes as it can have: written in order of memory, neighbours merged. The last two
// are the inner loops; where the innermost does not read neighbours, one that does comes next to it.
CopyAxes Simplify(std::span<const CopyAxis> axes) {
  CopyAxes r;
  for (const CopyAxis& a : axes) {
    if (a.n == 1) continue;
    int at = r.size++;
    for (; at > 0 && std::abs(r.axes[at - 1].to) < std::abs(a.to); --at) r.axes[at] = r.axes[at - 1];
    r.axes[at] = a;
  }
  int n = 0;
  for (int i = 0; i < r.size; ++i) {
    const CopyAxis& a = r.axes[i];
    CopyAxis* outer = n ? &r.axes[n - 1] : nullptr;
    if (outer && outer->from == a.from * a.n && outer->to == a.to * a.n) *outer = {outer->n * a.n, a.from, a.to};
    else r.axes[n++] = a;
  }
  while (n < 2) {
    std::copy_backward(r.axes.begin(), r.axes.begin() + n, r.axes.begin() + n + 1);
    r.axes[0] = {};
    ++n;
  }
  r.size = n;
  if (r.axes[n - 1].from != 1) {
    for (int i = n - 3; i >= 0; --i) {
      if (r.axes[i].from == 1) std::swap(r.axes[i], r.axes[n - 2]);
    }
  }
  return r;
}

// Four rows of four 32-bit elements, swapped in registers.
inline void Transpose4x4(const uint32_t* from, int64_t from_row, uint32_t* to, int64_t to_row) {
  using V = uint32_t __attribute__((vector_size(16)));
  V r[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&r[i], from + i * from_row, 16);
  V a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  V c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  V out[4] = {__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
              __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_row, &out[i], 16);
}

// One tile of at most kTile x kTile: rows of `to` are columns of `from`.
template <class T>
void TransposeTile(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t columns) {
  int64_t i0 = 0;
  if constexpr (sizeof(T) == 4) {
    for (; i0 + 4 <= rows; i0 += 4) {
      int64_t j = 0;
      for (; j + 4 <= columns; j += 4) Transpose4x4(from + j * from_row + i0, from_row, to + i0 * to_row + j, to_row);
      for (; j < columns; ++j) {
        for (int64_t i = i0; i < i0 + 4; ++i) to[i * to_row + j] = from[j * from_row + i];
      }
    }
  }
  for (int64_t i = i0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) PutElement(to[i * to_row + j], from[j * from_row + i]);
  }
}

// The two inner loops: `a` outside, `b` inside.
template <class T>
void CopyPlane(const T* from, T* to, const CopyAxis& a, const CopyAxis& b) {
  if (b.to == 1 && b.from == 1) {
    for (int64_t i = 0; i < a.n; ++i) CopyRun(from + i * a.from, to + i * a.to, b.n);
  } else if (b.to == 1 && b.from == 0) {
    for (int64_t i = 0; i < a.n; ++i) FillRun(from[i * a.from], to + i * a.to, b.n);
  } else if (b.to == 1 && a.from == 1) {
    for (int64_t i = 0; i < a.n; i += kTile) {
      for (int64_t j = 0; j < b.n; j += kTile) {
        TransposeTile(from + i + j * b.from, b.from, to + i * a.to + j, a.to, std::min(kTile, a.n - i),
                      std::min(kTile, b.n - j));
      }
    }
  } else {
    for (int64_t i = 0; i < a.n; ++i) {
      const T* f = from + i * a.from;
      T* t = to + i * a.to;
      for (int64_t j = 0; j < b.n; ++j) PutElement(t[j * b.to], f[j * b.from]);
    }
  }
}

// A box cut into planes, and planes into pieces of some rows.
struct Box {
  std::span<const CopyAxis> outer;
  CopyAxis a, b;
  int64_t rows, pieces_a_plane;  // rows of a piece

  template <class T>
  void CopyPiece(const T* from, T* to, int64_t piece) const {
    int64_t plane = piece / pieces_a_plane, row = piece % pieces_a_plane * rows;
    int64_t f = row * a.from, t = row * a.to;
    for (size_t k = outer.size(); k-- > 0; plane /= outer[k].n) {
      f += plane % outer[k].n * outer[k].from;
      t += plane % outer[k].n * outer[k].to;
    }
    CopyPlane(from + f, to + t, {std::min(rows, a.n - row), a.from, a.to}, b);
  }
};

}  // namespace

void StridedCopy(ThreadPool& threads, DType dtype, const void* from, void* to, std::span<const CopyAxis> axes) {
  for (const CopyAxis& a : axes) {
    if (a.n <= 0) return;
  }
  const CopyAxes s = Simplify(axes);
  Box box{std::span<const CopyAxis>(s).first(s.size - 2), s.axes[s.size - 2], s.axes[s.size - 1], 0, 0};
  box.rows = std::min(box.a.n, (std::max<int64_t>(kPiece / box.b.n, 1) + kTile - 1) / kTile * kTile);
  box.pieces_a_plane = (box.a.n + box.rows - 1) / box.rows;
  int64_t pieces = box.pieces_a_plane;
  for (const CopyAxis& a : box.outer) pieces *= a.n;

  ForElement(dtype, [&]<class T>() {
    const T* f = static_cast<const T*>(from);
    T* t = static_cast<T*>(to);
    if (pieces == 1) return CopyPlane(f, t, box.a, box.b);
    int64_t cost = box.rows * box.b.n / (std::is_trivially_copyable_v<T> ? 4 : 1) + 4;
    threads.ParallelFor(pieces, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) box.CopyPiece(f, t, i);
    });
  });
}

}  // namespace tare
