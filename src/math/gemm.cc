#include "math/gemm.h"

#include <algorithm>
#include <atomic>

#include "math/backend.h"

namespace tare::math {
namespace {

// Below this, handing work to other threads costs more than it saves.
constexpr double kSerialFlops = 2e6;
// Parts for each thread, where each is still worth taking: see gemm.h.
constexpr int64_t kPartsPerLane = 4;
// Memory-bound forms: bytes of weights that make a second thread worth waking.
constexpr double kSerialFloats = 64 << 10;

// Rows so many floats apart fall into the same few cache sets.
bool Aliases(int64_t stride) { return stride > 0 && stride % 1024 == 0; }

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

Gemm::Gemm(const GemmProblem& problem, int threads) : Gemm(problem, threads, ThisBackend().isa) {}

Gemm::Gemm(const GemmProblem& problem, int threads, Isa isa) : p_(problem), backend_(BackendFor(isa)) {
  const double work = 2.0 * static_cast<double>(p_.m) * static_cast<double>(p_.n) * static_cast<double>(p_.k);
  const bool plain_a = !p_.a_rows && !p_.a.transposed;
  // Rows of A against rows of a transposed B: contiguous dot products, no panels.
  const bool dots = plain_a && p_.b.transposed && p_.m <= 3;
  // The same for one column of B, whose elements are contiguous.
  const bool column = plain_a && p_.n == 1 && (p_.b.transposed || p_.b.stride == 1);
  const bool is_vector = plain_a && p_.m == 1 && !p_.b.transposed;
  form_ = dots || column ? Form::kDots : is_vector ? Form::kVector : Form::kTiles;
  const double serial = form_ == Form::kTiles ? kSerialFlops : 2 * kSerialFloats;
  const int64_t most = work < 2 * serial ? 1 : std::min<int64_t>(threads, static_cast<int64_t>(work / serial));
  if (form_ != Form::kTiles) {
    split_columns_ = p_.n > 1;
    const int64_t pieces = DivideUp(split_columns_ ? p_.n : p_.m, 16);
    lanes_ = std::clamp<int64_t>(most, 1, pieces);
    parts_ = lanes_ == 1 ? 1 : std::min(pieces, 2 * lanes_);
    return;
  }
  const int64_t panels = DivideUp(p_.n, backend_.tile_columns), tiles = DivideUp(p_.m, backend_.tile_rows);
  split_columns_ = p_.n > p_.m && panels >= 2 * most;
  const int64_t pieces = split_columns_ ? panels : tiles;
  lanes_ = std::clamp<int64_t>(most, 1, pieces);
  if (lanes_ > 1) {
    const int64_t worthwhile = static_cast<int64_t>(std::min(work / kSerialFlops, 1e9));
    parts_ = std::max(lanes_, std::min({kPartsPerLane * lanes_, worthwhile, pieces / kPartsPerLane}));
  }
  const int64_t rows = split_columns_ ? p_.m : DivideUp(p_.m, parts_);
  copies_b_ = rows >= backend_.rows_worth_copy;
  const bool copies_a = plain_a && Aliases(p_.a.stride) && p_.n >= 4 * backend_.tile_columns;
  if (!plain_a || copies_a) {
    // Balanced tiles are no fuller than full ones, so a block never has more rows than this.
    scratch_a_ = std::min<int64_t>(DivideUp(rows, backend_.tile_rows) * backend_.tile_rows, backend_.block_rows) *
                 backend_.panel_stride;
  }
  if (copies_b_ || p_.b.transposed) scratch_b_ = int64_t{backend_.block_depth} * backend_.tile_columns;
}

void Gemm::RunDots(int64_t part) const {
  const bool column = p_.n == 1;
  const int64_t many = column ? p_.m : p_.n, few = column ? 1 : p_.m;
  const Matrix& rows = column ? p_.a : p_.b;  // of which there are many
  for (int64_t i = many * part / parts_; i < many * (part + 1) / parts_; ++i) {
    for (int64_t j = 0; j < few; ++j) {
      const float* other = column ? p_.b.data : p_.a.data + j * p_.a.stride;
      const int64_t m = column ? i : j, n = column ? 0 : i;
      float x = backend_.dot(rows.data + i * rows.stride, other, p_.k);
      if (p_.epilogue.scale) x *= p_.epilogue.scale[n];
      if (p_.epilogue.bias) x += p_.epilogue.bias[n];
      if (p_.epilogue.add) x += p_.epilogue.add[m * p_.epilogue.add_stride + n];
      if (p_.epilogue.clamps()) {
        if (x < p_.epilogue.lowest) x = p_.epilogue.lowest;
        if (x > p_.epilogue.highest) x = p_.epilogue.highest;
      }
      p_.c[m * p_.c_stride + n] = x;
      backend_.activate(p_.epilogue.activation, &p_.c[m * p_.c_stride + n], 1, 1, 1);
    }
  }
}

void Gemm::RunPart(int64_t part, float* scratch) const {
  if (form_ == Form::kDots) return RunDots(part);
  // Pieces are whole tiles, so that only the last has a ragged edge.
  auto piece = [&](int64_t size, int64_t unit) {
    const int64_t units = DivideUp(size, unit);
    return Range{std::min(size, units * part / parts_ * unit), std::min(size, units * (part + 1) / parts_ * unit)};
  };
  if (form_ == Form::kVector) return backend_.vector(p_, piece(p_.n, 16));
  GemmShare share{&p_, {0, p_.m}, {0, p_.n}, copies_b_, nullptr, nullptr};
  if (split_columns_) share.columns = piece(p_.n, backend_.tile_columns);
  else share.rows = Range{p_.m * part / parts_, p_.m * (part + 1) / parts_};
  if (scratch) {
    if (scratch_a_ > 0) share.a_panel = scratch;
    share.b_panel = scratch + scratch_a_;
  }
  backend_.tiles(share);
}

void Gemm::RunHere(float* scratch) const {
  for (int64_t part = 0; part < parts_; ++part) RunPart(part, scratch);
}

void Gemm::Run(ThreadPool& pool, float* scratch) const {
  if (lanes_ == 1) return RunHere(scratch);
  std::atomic<int64_t> next{0};
  // Costs enough to be sure that the pool wakes: the decision was made above.
  pool.ParallelFor(lanes_, 1'000'000, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane) {
      float* own = scratch ? scratch + lane * (scratch_a_ + scratch_b_) : nullptr;
      for (int64_t part; (part = next.fetch_add(1, std::memory_order_relaxed)) < parts_;) RunPart(part, own);
    }
  });
}

}  // namespace tare::math
