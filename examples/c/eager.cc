// A dense layer by eager ops, from C++: objects of the C API in smart pointers free themselves.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tensorflow/c/eager/c_api.h"

namespace {

template <class T, void (*Delete)(T*)>
struct Deleter {
  void operator()(T* object) const { Delete(object); }
};
template <class T, void (*Delete)(T*)>
using Owned = std::unique_ptr<T, Deleter<T, Delete>>;
using Status = Owned<TF_Status, TF_DeleteStatus>;
using Tensor = Owned<TF_Tensor, TF_DeleteTensor>;
using Handle = Owned<TFE_TensorHandle, TFE_DeleteTensorHandle>;
using Context = Owned<TFE_Context, TFE_DeleteContext>;
using Options = Owned<TFE_ContextOptions, TFE_DeleteContextOptions>;
using Op = Owned<TFE_Op, TFE_DeleteOp>;

void Check(const Status& status) {
  if (TF_GetCode(status.get()) == TF_OK) return;
  std::fprintf(stderr, "%s\n", TF_Message(status.get()));
  std::exit(1);
}

Handle Matrix(std::vector<int64_t> dims, const std::vector<float>& values, const Status& status) {
  const size_t bytes = values.size() * sizeof(float);
  Tensor tensor(TF_AllocateTensor(TF_FLOAT, dims.data(), static_cast<int>(dims.size()), bytes));
  std::memcpy(TF_TensorData(tensor.get()), values.data(), bytes);
  Handle handle(TFE_NewTensorHandle(tensor.get(), status.get()));
  Check(status);
  return handle;
}

Handle Run(const Context& context, const char* name, std::initializer_list<TFE_TensorHandle*> inputs,
           const Status& status) {
  Op op(TFE_NewOp(context.get(), name, status.get()));
  Check(status);
  for (TFE_TensorHandle* input : inputs) {
    TFE_OpAddInput(op.get(), input, status.get());
    Check(status);
  }
  TFE_TensorHandle* output = nullptr;
  int outputs = 1;
  TFE_Execute(op.get(), &output, &outputs, status.get());
  Check(status);
  return Handle(output);
}

}  // namespace

int main() {
  Status status(TF_NewStatus());
  Context context(TFE_NewContext(Options(TFE_NewContextOptions()).get(), status.get()));
  Check(status);
  Handle x = Matrix({1, 2}, {1, 2}, status), weights = Matrix({2, 2}, {1, -1, 3, -3}, status);
  Handle bias = Matrix({2}, {0.5, 0.5}, status);
  Handle product = Run(context, "MatMul", {x.get(), weights.get()}, status);
  Handle sum = Run(context, "BiasAdd", {product.get(), bias.get()}, status);
  Handle y = Run(context, "Relu", {sum.get()}, status);
  Tensor result(TFE_TensorHandleResolve(y.get(), status.get()));
  Check(status);
  const auto* values = static_cast<const float*>(TF_TensorData(result.get()));
  std::printf("%g %g\n", values[0], values[1]);  // 7.5 0
}
