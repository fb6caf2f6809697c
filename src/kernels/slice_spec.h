// What a strided slice selects: begin, end and stride per dimension, and the five masks of NumPy's slicing
// syntax, resolved against a shape.
#pragma once
#include "kernels/kernel.h"
#include "kernels/strided_copy.h"

namespace tare {

// The masks; bit i speaks of entry i of begin, end and strides.
struct SliceMasks {
  explicit SliceMasks(AttrReader& a)
      : begin(a.Int("begin_mask")),
        end(a.Int("end_mask")),
        ellipsis(a.Int("ellipsis_mask")),
        new_axis(a.Int("new_axis_mask")),
        shrink(a.Int("shrink_axis_mask")) {
    if (ellipsis & (ellipsis - 1)) a.Fail(InvalidArgument("Multiple ellipses in slice spec not allowed"));
  }
  int64_t begin, end, ellipsis, new_axis, shrink;
};

struct SliceSpec {
  // Elements first, first + stride, ...: n of them.
  struct Dim {
    int64_t first = 0, stride = 1, n = 0;
  };
  Shape in;
  std::array<Dim, kMaxRank> dims;  // one per dimension of `in`
  Shape out;                       // with new axes, without shrunk ones

  // A slice of all of `in`.
  explicit SliceSpec(const Shape& in);
  static Result<SliceSpec> Make(const SliceMasks& masks, const Tensor& begin, const Tensor& end,
                                const Tensor& strides, const Shape& in);

  bool empty() const { return out.num_elements() == 0; }
  // The flat index of the first selected element. REQUIRES: !empty().
  int64_t offset() const;
  // Whether the selected elements lie side by side.
  bool contiguous() const;
  // Axes that walk the selection in `from` and a contiguous result in `to`.
  CopyAxes Axes() const;
};

}  // namespace tare
