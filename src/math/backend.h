// The functions that are compiled once per instruction set, and their table. backend_*.cc each include
// the same *.inc sources under other compiler flags; nothing else may be compiled with those flags, so
// that no inline function of the standard library ends up needing AVX in a program for older machines.
#pragma once
#include "math/depthwise.h"
#include "math/gemm.h"

namespace tare::math {

struct Range {
  int64_t begin, end;
};

// One thread's share of a GEMM.
struct GemmShare {
  const GemmProblem* problem;
  Range rows, columns;
  bool copies_b;
  float* a_panel;  // block_rows x panel_stride floats where A is gathered or copied, else null
  float* b_panel;  // block_depth x tile_columns floats where B is copied
};

struct Backend {
  Isa isa;
  int tile_rows;
  int tile_columns;
  int block_depth;      // K is cut into blocks of at most this
  int block_rows;       // gathered rows of A at most
  int panel_stride;     // floats between rows of a gathered panel
  int rows_worth_copy;  // from so many rows on, copying a panel of B pays
  void (*tiles)(const GemmShare&);
  // m == 1, B not transposed.
  void (*vector)(const GemmProblem&, Range columns);
  float (*dot)(const float* a, const float* b, int64_t n);
  // Output rows [rows.begin, rows.end) of all images, counted together.
  void (*depthwise)(const DepthwiseProblem&, Range rows);
  // to[i] = the maximum over j of from[j][i] and `start`; NaNs are passed over.
  void (*max_rows)(float* to, const float* const* from, int count, int64_t n, float start);
  // to[i] = scale times the sum over j of from[j][i].
  void (*sum_rows)(float* to, const float* const* from, int count, int64_t n, float scale);
  // In place, `rows` rows of n floats that lie `stride` apart.
  void (*activate)(Activation activation, float* rows_data, int64_t rows, int64_t n, int64_t stride);
  // `rounds` times peak_flops floating-point operations in registers: see peak.h.
  float (*multiply_adds)(int64_t rounds);
  int peak_flops;
};

// The table of an instruction set; the caller's processor must have it.
const Backend& BackendFor(Isa isa);
// That of DetectIsa(), found once.
const Backend& ThisBackend();

namespace portable { extern const Backend kBackend; }
namespace avx2 { extern const Backend kBackend; }
namespace avx512 { extern const Backend kBackend; }

}  // namespace tare::math
