// C[m,n] = act(A[m,k] * B[k,n] * scale + bias + add), in float, on operands where they lie.
//
// B is usually a weight in TensorFlow's own layout ([K,N], or HWIO seen as [KH*KW*Cin, Cout]), read straight
// from the mapped file at any byte offset that is a multiple of 4: nothing is packed ahead, so a load is a
// mapping and the weights exist once. A is read in place too, or made a panel at a time by a RowSource
// (convolution gathers pixels; transposed operands are turned).
//
// How one thread works through its share: blocks of rows (so that their part of A stays in L2), blocks of
// depth (so that a panel of B stays in L1), panels of columns (the width of a micro-tile), tiles of rows.
// Three things make reading in place as fast as reading packed weights:
// - While the tiles of a panel run, they prefetch the next group of four panels between them, a little at a time:
//   cold strided reads are beyond the hardware's prefetcher, and too many at once beyond its buffers.
// - A panel's rows lie a row of B apart, each on a page of its own and often in the same few cache sets; panels are
//   copied to scratch first, when enough rows share the cost. Transposed panels always are, and rows of A whose
//   stride is a multiple of 4 KiB.
// - Rows are cut into balanced tiles (49 = 13+12+12+12), so that no tile is nearly empty.
#pragma once
#include <cstdint>
#include <limits>

#include "math/isa.h"
#include "threads/thread_pool.h"

namespace tare::math {

// Makes rows of A on demand. Called from several threads at once.
class RowSource {
 public:
  // Writes columns [k0, k1) of rows [row, row + rows) to `panel`, whose rows are `stride` floats apart.
  virtual void Gather(int64_t row, int64_t rows, int64_t k0, int64_t k1, float* panel,
                      int64_t stride) const = 0;

 protected:
  ~RowSource() = default;
};

// Row-major, rows `stride` floats apart. Transposed: stored as [columns, rows].
struct Matrix {
  const float* data = nullptr;
  int64_t stride = 0;
  bool transposed = false;
};

// Applied last, to what was clamped. Swish is x * sigmoid(x); Gelu is x times the normal distribution's
// function at x, kGeluTanh its usual approximation.
enum class Activation : uint8_t { kNone, kSigmoid, kTanh, kSwish, kHardSwish, kGelu, kGeluTanh };

// What is done to A*B before it is stored: * scale[column], + bias[column], + add[row, column], then clamped and
// activated.
struct Epilogue {
  const float* scale = nullptr;
  const float* bias = nullptr;
  const float* add = nullptr;  // may be C, unless there is a scale
  int64_t add_stride = 0;
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  Activation activation = Activation::kNone;
  bool clamps() const {
    return lowest > -std::numeric_limits<float>::infinity() || highest < std::numeric_limits<float>::infinity();
  }
};

struct GemmProblem {
  int64_t m = 0, n = 0, k = 0;
  Matrix a;
  const RowSource* a_rows = nullptr;  // instead of `a`
  Matrix b;
  float* c = nullptr;
  int64_t c_stride = 0;
  Epilogue epilogue;
};

struct Backend;

// A problem with the way it is divided among threads. Cheap to make, runs any number of times.
class Gemm {
 public:
  // k may be 0: the product is then 0. REQUIRES: m, n > 0.
  Gemm(const GemmProblem& problem, int threads, Isa isa);
  Gemm(const GemmProblem& problem, int threads);

  // Floats of scratch that Run needs; 0 when everything is read in place.
  int64_t scratch() const { return lanes_ * (scratch_a_ + scratch_b_); }
  // REQUIRES: scratch() floats, 64-byte aligned, used by no one else meanwhile.
  void Run(ThreadPool& pool, float* scratch) const;
  // The same on the calling thread alone.
  void RunHere(float* scratch) const;

 private:
  // `scratch`: one lane's.
  void RunPart(int64_t part, float* scratch) const;
  void RunDots(int64_t part) const;
  enum class Form { kTiles, kVector, kDots };
  GemmProblem p_;
  const Backend& backend_;
  Form form_;
  bool split_columns_ = false;
  bool copies_b_ = false;
  // Threads that work at once, and the parts that they take one after the other: a thread that wakes late, or whose
  // processor is busy with something else, does fewer.
  int64_t lanes_ = 1, parts_ = 1;
  int64_t scratch_a_ = 0, scratch_b_ = 0;
};

}  // namespace tare::math
