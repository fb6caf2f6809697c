// Indices into the first dimensions of a tensor, as GatherNd and ScatterNd take them: the last dimension of
// `indices` is one index, which names an element or a run of them.
#pragma once
#include "kernels/elements.h"
#include "kernels/kernel.h"

namespace tare {

// What attr bad_indices_policy says of an index outside.
enum class BadIndices { kError, kIgnore };
BadIndices ReadBadIndicesPolicy(AttrReader& a);

struct NdOffsets {
  Tensor offsets;     // int64, one an index: the flat element where its run begins, -1: to be ignored
  int depth = 0;      // dimensions that an index names
  int64_t run = 1;    // elements of a run
  std::span<const int64_t> values() const { return offsets.as<int64_t>(); }
};

// Checks every index against `shape`. InvalidArgument "indices[1] = [7] does not index into WHAT [3]".
// REQUIRES: indices of rank 1 or more, whose last dimension is at most the rank of `shape`.
Result<NdOffsets> ResolveNd(KernelCall& c, const Tensor& indices, const Shape& shape, BadIndices policy,
                            std::string_view what);

// The first value outside [0, limit), as a position in `indices`; -1 when there is none. Any integer type.
int64_t FirstOutside(const Tensor& indices, int64_t limit);

// "indices[0,1] = 7 is not in [0, 3)" for position `at`.
Status OutsideError(const Tensor& indices, int64_t at, int64_t limit, std::string_view name = "indices");

}  // namespace tare
