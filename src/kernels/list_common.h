// What the two files of list kernels share.
#pragma once
#include "kernels/kernel.h"
#include "resource/tensor_list.h"

namespace tare {

// The list in input i. InvalidArgument when the input is not a scalar, or holds something else.
Result<const TensorListObject*> GetList(const KernelCall& c, int i);
// The same, of elements of `dtype`.
Result<const TensorListObject*> GetList(const KernelCall& c, int i, DType dtype);
// The list in input `in` as output `out`, to be changed: itself where nobody else holds it, else a
// copy. The input is given up; what it says must be checked before.
Result<TensorListObject*> TakeList(KernelCall& c, int in, int out);
Status OutputList(KernelCall& c, int out, Ref<TensorListObject> list);

// The value of a scalar int32 input.
Result<int64_t> ScalarInput(const KernelCall& c, int i, std::string_view name);

// `shape` merged with the shapes of those elements that are set.
Result<ElementShape> MergeElements(ElementShape shape, std::span<const Tensor> elements);

}  // namespace tare
