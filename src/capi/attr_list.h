// Attribute values between C and the runtime.
#pragma once
#include "capi/common.h"
#include "op/attr.h"

namespace tare::capi {

TF_AttrType ToC(AttrKind kind);
// A view of the caller's dimensions; num_dims -1 is an unknown rank. InvalidArgument below that.
Result<PartialShape> ShapeFromC(const int64_t* dims, int num_dims);

}  // namespace tare::capi
