// Boxes inside a tensor: the pieces a partitioned variable is stored in, and the part a restore asks for.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace tare {

// One extent a dimension, as files and specs have it: unchecked against any shape.
struct TensorSlice {
  static constexpr int64_t kWhole = -1;
  struct Extent {
    int64_t start = 0;
    int64_t length = kWhole;
  };
  std::array<Extent, kMaxRank> extents;
  int rank = 0;

  static TensorSlice Whole(int rank) {
    TensorSlice s;
    s.rank = rank;
    return s;
  }
  // From a TensorSliceProto. DataLoss when it is none.
  static Result<TensorSlice> FromMessage(std::string_view message);
  // "0,2:-" as in a shape_and_slice spec. InvalidArgument when malformed.
  static Result<TensorSlice> FromText(std::string_view text);
  std::string ToString() const;
};

// The key under which the index files the slice of tensor `name`.
std::string SliceKey(std::string_view name, const TensorSlice& slice);

// A slice of a known tensor: 0 <= start, start + length <= dimension.
struct Box {
  std::array<int64_t, kMaxRank> start;
  Shape shape;

  // Internal, in TensorFlow's words, for an extent out of bounds or another rank.
  static Result<Box> Make(const TensorSlice& slice, const Shape& whole);
  // The part in both; false when there is none.
  static bool Intersect(const Box& a, const Box& b, Box* both);
  bool operator==(const Box& o) const;
};

// What a SaveV2 or RestoreV2 spec such as "4 5 2,1:0,5" says.
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;
  static Result<ShapeAndSlice> Parse(std::string_view text);
};

// Copies the elements of `part` from a tensor that holds box `from_box` to one that holds `to_box`; both
// contain `part`, which is not empty. `to` holds valid elements.
void CopyBox(DType dtype, const Box& part, const void* from, const Box& from_box, void* to, const Box& to_box);

}  // namespace tare
