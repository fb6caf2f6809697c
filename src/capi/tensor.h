// TF_Tensor: a tensor of the runtime's, whose buffer it shares with handles and runs.
#pragma once
#include "capi/common.h"
#include "tensor/tensor.h"

struct TF_Tensor {
  tare::Tensor tensor;
  size_t bytes = 0;         // as the caller gave them: at least the elements'
  bool allocated = false;   // by TF_AllocateTensor: memory nobody outside knows of
};

namespace tare::capi {

// A TF_Tensor that shares the value. Unimplemented for resources and variants, which have no bytes.
Result<TF_Tensor*> MakeTensor(const Tensor& value);
// The same for a value that its caller goes on holding. Strings that anybody else holds too are copied: there are
// clients (tfjs-node) that free the strings of a tensor they were given.
Result<TF_Tensor*> MakeSharedTensor(const Tensor& value);
// The dtype of a value from C, which may be any number; kInvalid when there is none such.
DType FromC(const TF_DataType& type);

}  // namespace tare::capi
