// What tests of the C API share: objects that free themselves, and checks of statuses.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/c/eager/c_api_experimental.h"

namespace capi_test {

template <class T, void (*Delete)(T*)>
struct Deleter {
  void operator()(T* p) const { Delete(p); }
};
template <class T, void (*Delete)(T*)>
using Owned = std::unique_ptr<T, Deleter<T, Delete>>;
using Tensor = Owned<TF_Tensor, TF_DeleteTensor>;
using Handle = Owned<TFE_TensorHandle, TFE_DeleteTensorHandle>;
using Op = Owned<TFE_Op, TFE_DeleteOp>;
using Context = Owned<TFE_Context, TFE_DeleteContext>;
using Graph = Owned<TF_Graph, TF_DeleteGraph>;
using Buffer = Owned<TF_Buffer, TF_DeleteBuffer>;
using Executor = Owned<TFE_Executor, TFE_DeleteExecutor>;
using Function = Owned<TF_Function, TF_DeleteFunction>;

class Status {
 public:
  operator TF_Status*() const { return s_.get(); }  // NOLINT
  TF_Code code() const { return TF_GetCode(s_.get()); }
  std::string message() const { return TF_Message(s_.get()); }

 private:
  Owned<TF_Status, TF_DeleteStatus> s_{TF_NewStatus()};
};

#define EXPECT_OK(status) EXPECT_EQ((status).code(), TF_OK) << (status).message()
#define ASSERT_OK(status) ASSERT_EQ((status).code(), TF_OK) << (status).message()
// Code, and the beginning of the message.
#define EXPECT_ERROR(status, error, text)                     \
  do {                                                        \
    EXPECT_EQ((status).code(), error) << (status).message();  \
    EXPECT_EQ((status).message().substr(0, strlen(text)), text); \
  } while (false)

inline Context NewContext(bool async = false) {
  Status s;
  Owned<TFE_ContextOptions, TFE_DeleteContextOptions> options(TFE_NewContextOptions());
  TFE_ContextOptionsSetAsync(options.get(), async);
  return Context(TFE_NewContext(options.get(), s));
}

template <class T>
Tensor NewTensor(TF_DataType type, std::vector<int64_t> dims, const std::vector<T>& values) {
  Tensor t(TF_AllocateTensor(type, dims.data(), static_cast<int>(dims.size()), values.size() * sizeof(T)));
  memcpy(TF_TensorData(t.get()), values.data(), values.size() * sizeof(T));
  return t;
}

inline Handle Floats(std::vector<int64_t> dims, std::vector<float> values) {
  Status s;
  return Handle(TFE_NewTensorHandle(NewTensor(TF_FLOAT, std::move(dims), values).get(), s));
}

inline std::vector<float> Values(const TF_Tensor* t) {
  const auto* p = static_cast<const float*>(TF_TensorData(t));
  return {p, p + TF_TensorElementCount(t)};
}
inline std::vector<float> Values(TFE_TensorHandle* h) {
  Status s;
  Tensor t(TFE_TensorHandleResolve(h, s));
  return t ? Values(t.get()) : std::vector<float>();
}

// One op with inputs; its single output, null after an error.
inline Handle RunOp(TFE_Context* context, const char* name, std::vector<TFE_TensorHandle*> inputs, TF_Status* s) {
  Op op(TFE_NewOp(context, name, s));
  if (!op) return nullptr;
  for (TFE_TensorHandle* h : inputs) {
    TFE_OpAddInput(op.get(), h, s);
    if (TF_GetCode(s) != TF_OK) return nullptr;
  }
  TFE_TensorHandle* output = nullptr;
  int n = 1;
  TFE_Execute(op.get(), &output, &n, s);
  return Handle(output);
}

// A field of a message: tag and bytes.
inline std::string Field(int tag, const std::string& bytes) {
  std::string out(1, static_cast<char>(tag << 3 | 2));
  for (size_t n = bytes.size();; n >>= 7) {
    out += static_cast<char>(n >= 0x80 ? (n & 0x7f) | 0x80 : n);
    if (n < 0x80) return out + bytes;
  }
}
inline std::string Number(int tag, int value) { return {static_cast<char>(tag << 3), static_cast<char>(value)}; }

// FunctionDef NAME(x: float) -> y: float = OP(x, x).
inline std::string BinaryFunction(const std::string& name, const std::string& op) {
  auto arg = [](const char* n) { return Field(1, n) + Number(3, TF_FLOAT); };
  std::string signature = Field(1, name) + Field(2, arg("x")) + Field(3, arg("y"));
  std::string node = Field(1, "both") + Field(2, op) + Field(3, "x") + Field(3, "x") +
                     Field(5, Field(1, "T") + Field(2, Number(6, TF_FLOAT)));
  return Field(1, signature) + Field(3, node) + Field(4, Field(1, "y") + Field(2, "both:z:0"));
}

inline std::string TestData(const std::string& path) {
  const char* root = getenv("TARE_TEST_DATA");
  return std::string(root ? root : "build/test_data") + "/" + path;
}

}  // namespace capi_test
