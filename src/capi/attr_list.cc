#include "capi/attr_list.h"

namespace tare::capi {

TF_AttrType ToC(AttrKind kind) {
  switch (kind) {
    case AttrKind::kString: return TF_ATTR_STRING;
    case AttrKind::kFloat: return TF_ATTR_FLOAT;
    case AttrKind::kBool: return TF_ATTR_BOOL;
    case AttrKind::kType: return TF_ATTR_TYPE;
    case AttrKind::kShape: return TF_ATTR_SHAPE;
    case AttrKind::kTensor: return TF_ATTR_TENSOR;
    case AttrKind::kFunction: return TF_ATTR_FUNC;
    case AttrKind::kPlaceholder: return TF_ATTR_PLACEHOLDER;
    default: return TF_ATTR_INT;
  }
}

Result<PartialShape> ShapeFromC(const int64_t* dims, int num_dims) {
  if (num_dims < 0) return PartialShape{};
  if (num_dims > 254) {
    return InvalidArgument("Value specified for a shape has {} dimensions which is over the limit of 254.", num_dims);
  }
  if (num_dims > 0 && !dims) return InvalidArgument("a shape without dimensions");
  return PartialShape{false, {dims, static_cast<size_t>(num_dims)}};
}

}  // namespace tare::capi
