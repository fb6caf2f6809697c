// Eager execution: what runs, what is refused and in which words, and what stays.
#include <thread>

#include "capi_test.h"
#include "soak/allocation_counter.h"

namespace capi_test {
namespace {

TEST(Eager, AddsAndInfersAttributes) {
  Context c = NewContext();
  Status s;
  Handle a = Floats({2}, {1, 2}), b = Floats({2}, {10, 20});
  Handle sum = RunOp(c.get(), "AddV2", {a.get(), b.get()}, s);
  ASSERT_OK(s);
  EXPECT_EQ(Values(sum.get()), (std::vector<float>{11, 22}));
  EXPECT_EQ(TFE_TensorHandleNumDims(sum.get(), s), 1);
  EXPECT_EQ(TFE_TensorHandleNumElements(sum.get(), s), 2);
  EXPECT_EQ(TFE_TensorHandleDim(sum.get(), 0, s), 2);
  TFE_TensorHandleDim(sum.get(), 1, s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  EXPECT_STREQ(TFE_TensorHandleDeviceName(sum.get(), s), "/job:localhost/replica:0/task:0/device:CPU:0");
}

// Words and codes: TensorFlow's (facts of the C API), but for the input too many, which crashes it.
TEST(Eager, RefusesInTensorFlowsWords) {
  Context c = NewContext();
  Status s;
  Handle f = Floats({2}, {1, 2});
  Handle i(TFE_NewTensorHandle(NewTensor<int32_t>(TF_INT32, {2}, {1, 2}).get(), s));
  EXPECT_EQ(TFE_NewOp(c.get(), "NoSuchOp", s), nullptr);
  EXPECT_ERROR(s, TF_NOT_FOUND, "'NoSuchOp' is neither a type of a primitive operation nor a name of a function");
  RunOp(c.get(), "AddV2", {f.get()}, s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "expected 2 inputs, got 1");
  RunOp(c.get(), "AddV2", {f.get(), i.get()}, s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT,
               "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor");
  RunOp(c.get(), "AddV2", {f.get(), f.get(), f.get()}, s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  RunOp(c.get(), "Softmax", {i.get()}, s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Value for attr 'T' of int32 is not in the list of allowed values");
  Op cast(TFE_NewOp(c.get(), "Cast", s));
  TFE_OpAddInput(cast.get(), f.get(), s);
  TFE_TensorHandle* out = f.get();
  int n = 1;
  TFE_Execute(cast.get(), &out, &n, s);
  EXPECT_NE(s.code(), TF_OK);
  EXPECT_EQ(out, nullptr);
  Op add(TFE_NewOp(c.get(), "AddV2", s));
  for (int k = 0; k < 2; ++k) TFE_OpAddInput(add.get(), f.get(), s);
  n = 0;
  TFE_Execute(add.get(), nullptr, &n, s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Expecting 1 outputs, but *num_retvals is 0");
  TFE_OpSetDevice(add.get(), "/gpu:0", s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  TFE_OpSetDevice(add.get(), "/device:CPU:0", s);
  EXPECT_OK(s);
}

TEST(Eager, NullIsAnErrorNotACrash) {
  Context c = NewContext();
  Status s;
  EXPECT_EQ(TFE_NewTensorHandle(nullptr, s), nullptr);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_NewOp(nullptr, "AddV2", s), nullptr);
  EXPECT_EQ(TFE_NewOp(c.get(), nullptr, s), nullptr);
  TFE_OpAddInput(nullptr, nullptr, s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  TFE_OpSetAttrInt(nullptr, "N", 1);
  TFE_Execute(nullptr, nullptr, nullptr, s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_TensorHandleResolve(nullptr, s), nullptr);
  TFE_DeleteContext(nullptr);
  TFE_DeleteOp(nullptr);
  TFE_DeleteTensorHandle(nullptr);
}

TEST(Eager, ListsSetCountsAndTypes) {
  Context c = NewContext();
  Status s;
  Handle a = Floats({1}, {1}), b = Floats({1}, {2});
  Handle axis(TFE_NewTensorHandle(NewTensor<int32_t>(TF_INT32, {}, {0}).get(), s));
  Op concat(TFE_NewOp(c.get(), "ConcatV2", s));
  TFE_TensorHandle* values[] = {a.get(), b.get()};
  TFE_OpAddInputList(concat.get(), values, 2, s);
  TFE_OpAddInput(concat.get(), axis.get(), s);
  ASSERT_OK(s);
  EXPECT_EQ(TFE_OpGetInputLength(concat.get(), "values", s), 2);
  EXPECT_EQ(TFE_OpGetOutputLength(concat.get(), "output", s), 1);
  EXPECT_EQ(TFE_OpGetFlatInputCount(concat.get(), s), 3);
  unsigned char is_list = 2;
  EXPECT_EQ(TFE_OpGetAttrType(concat.get(), "N", &is_list, s), TF_ATTR_INT);
  EXPECT_EQ(is_list, 0);
  TFE_TensorHandle* out[3] = {};
  int n = 3;
  TFE_Execute(concat.get(), out, &n, s);
  ASSERT_OK(s);
  EXPECT_EQ(n, 1);
  Handle result(out[0]);
  EXPECT_EQ(Values(result.get()), (std::vector<float>{1, 2}));
}

TEST(Eager, HandlesOutliveTheirContext) {
  Context c = NewContext();
  Status s;
  Handle a = Floats({1}, {1});
  Handle sum = RunOp(c.get(), "AddV2", {a.get(), a.get()}, s);
  Op variable(TFE_NewOp(c.get(), "VarHandleOp", s));
  TFE_OpSetAttrType(variable.get(), "dtype", TF_FLOAT);
  TFE_OpSetAttrShape(variable.get(), "shape", nullptr, 0, s);
  TFE_TensorHandle* h = nullptr;
  int n = 1;
  TFE_Execute(variable.get(), &h, &n, s);
  ASSERT_OK(s);
  Handle handle(h);
  variable.reset();
  c.reset();
  EXPECT_EQ(Values(sum.get()), std::vector<float>{2});
  Context other = NewContext();
  Op read(TFE_NewOp(other.get(), "ReadVariableOp", s));
  TFE_OpSetAttrType(read.get(), "dtype", TF_FLOAT);
  TFE_OpAddInput(read.get(), handle.get(), s);
  n = 1;
  TFE_Execute(read.get(), &h, &n, s);
  EXPECT_EQ(s.code(), TF_FAILED_PRECONDITION) << s.message();
}

TEST(Eager, ResetMakesAnotherOp) {
  Context c = NewContext();
  Status s;
  Handle a = Floats({1}, {3});
  Op op(TFE_NewOp(c.get(), "AddV2", s));
  for (const char* name : {"AddV2", "Mul", "Mul", "AddV2"}) {
    TFE_OpReset(op.get(), name, nullptr, s);
    for (int i = 0; i < 2; ++i) TFE_OpAddInput(op.get(), a.get(), s);
    TFE_TensorHandle* out = nullptr;
    int n = 1;
    TFE_Execute(op.get(), &out, &n, s);
    ASSERT_OK(s);
    Handle owned(out);
    EXPECT_EQ(Values(out), std::vector<float>{strcmp(name, "Mul") ? 6.0f : 9.0f});
    EXPECT_STREQ(TFE_OpGetName(op.get(), s), name);
  }
}

// 10,000 kernels are kept: twice as many more change nothing.
TEST(Eager, TheKernelCacheIsBounded) {
  Context c = NewContext();
  Status s;
  Handle x = Floats({2}, {-1, 1});
  int made = 0;
  auto fill = [&](int n) {
    for (int i = 0; i < n; ++i) {
      Op op(TFE_NewOp(c.get(), "LeakyRelu", s));
      TFE_OpAddInput(op.get(), x.get(), s);
      TFE_OpSetAttrFloat(op.get(), "alpha", static_cast<float>(++made) * 1e-6f);
      TFE_TensorHandle* out = nullptr;
      int one = 1;
      TFE_Execute(op.get(), &out, &one, s);
      ASSERT_OK(s);
      Handle owned(out);
    }
  };
  fill(12'000);
  const tare::HeapCount full = tare::CountHeap();
  fill(20'000);
  const tare::HeapCount after = tare::CountHeap();
  TFE_ContextClearCaches(c.get());
  if (tare::allocation_meter() != tare::AllocationMeter::kOwn) return;
  EXPECT_NEAR(after.bytes, full.bytes, 65536);
  EXPECT_LT(tare::CountHeap().bytes, full.bytes / 2);
}

TEST(Eager, ContextsLeaveNothing) {
  auto cycle = [] {
    for (bool async : {false, true}) {
      Context c = NewContext(async);
      Status s;
      const std::string function = BinaryFunction("both_of", "Add");
      TFE_ContextAddFunctionDef(c.get(), function.data(), function.size(), s);
      Handle a = Floats({2}, {1, 2});
      Handle sum = RunOp(c.get(), "both_of", {a.get()}, s);
      ASSERT_EQ(Values(sum.get()), (std::vector<float>{2, 4}));
    }
  };
  for (int i = 0; i < 3; ++i) cycle();
  const tare::HeapCount heap = tare::CountHeap();
  for (int i = 0; i < 20; ++i) cycle();
  if (tare::allocation_meter() != tare::AllocationMeter::kOwn) return;
  EXPECT_EQ(tare::CountHeap().bytes, heap.bytes);
  EXPECT_EQ(tare::CountHeap().blocks, heap.blocks);
}

TEST(Functions, RunUntilTheLastRemoval) {
  Context c = NewContext();
  Status s;
  auto add = [&](const std::string& def) { TFE_ContextAddFunctionDef(c.get(), def.data(), def.size(), s); };
  const std::string twice = BinaryFunction("both_of", "Add"), squared = BinaryFunction("both_of", "Mul");
  add(twice);
  ASSERT_OK(s);
  add(twice);
  ASSERT_OK(s);
  add(squared);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Attempting to add a duplicate function with name: both_of");
  Handle a = Floats({2}, {3, 4});
  EXPECT_EQ(Values(RunOp(c.get(), "both_of", {a.get()}, s).get()), (std::vector<float>{6, 8})) << s.message();
  TFE_ContextRemoveFunction(c.get(), "both_of", s);
  EXPECT_TRUE(TFE_ContextHasFunction(c.get(), "both_of")) << "it was added twice";
  auto call = [&] {
    Op op(TFE_NewOp(c.get(), "PartitionedCall", s));
    TFE_OpSetAttrFunctionName(op.get(), "f", "both_of", 7);
    const TF_DataType type = TF_FLOAT;
    TFE_OpSetAttrTypeList(op.get(), "Tout", &type, 1);
    TFE_TensorHandle* input = a.get();
    TFE_OpAddInputList(op.get(), &input, 1, s);
    TFE_TensorHandle* out = nullptr;
    int n = 1;
    TFE_Execute(op.get(), &out, &n, s);
    return Handle(out);
  };
  EXPECT_EQ(Values(call().get()), (std::vector<float>{6, 8})) << s.message();
  TFE_ContextRemoveFunction(c.get(), "both_of", s);
  EXPECT_OK(s);
  EXPECT_FALSE(TFE_ContextHasFunction(c.get(), "both_of"));
  TFE_ContextRemoveFunction(c.get(), "both_of", s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Tried to remove non-existent function 'both_of'.");
  EXPECT_EQ(call(), nullptr) << "its kernels went with it";
  add(squared);
  EXPECT_EQ(Values(RunOp(c.get(), "both_of", {a.get()}, s).get()), (std::vector<float>{9, 16})) << s.message();
  EXPECT_EQ(Values(call().get()), (std::vector<float>{9, 16})) << s.message();
}

TEST(Async, RunsInOrderAndTellsErrorsLater) {
  Context c = NewContext(true);
  Status s;
  Handle x = Floats({1}, {1});
  for (int i = 0; i < 50; ++i) x = RunOp(c.get(), "AddV2", {x.get(), x.get()}, s);
  ASSERT_OK(s);
  EXPECT_EQ(TFE_TensorHandleDataType(x.get()), TF_FLOAT);
  EXPECT_EQ(Values(x.get()), std::vector<float>{0x1p50f});
  Handle wide = Floats({3}, {1, 2, 3}), narrow = Floats({2}, {1, 2});
  Handle bad = RunOp(c.get(), "AddV2", {wide.get(), narrow.get()}, s);
  EXPECT_OK(s);
  Handle poisoned = RunOp(c.get(), "Neg", {bad.get()}, s);
  EXPECT_OK(s);
  EXPECT_EQ(TFE_TensorHandleResolve(poisoned.get(), s), nullptr);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Incompatible shapes: [3] vs. [2]");
  TFE_ContextAsyncWait(c.get(), s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  Executor own(TFE_ContextGetExecutorForThread(c.get()));
  EXPECT_TRUE(TFE_ExecutorIsAsync(own.get()));
  TFE_ExecutorClearError(own.get());
  Handle ok = RunOp(c.get(), "Neg", {wide.get()}, s);
  EXPECT_EQ(Values(ok.get()), (std::vector<float>{-1, -2, -3}));
}

TEST(Async, AnExecutorIsAThreadsOwn) {
  Context c = NewContext();
  Status s;
  Executor executor(TFE_NewExecutor(true, false, 2));
  TFE_ContextSetExecutorForThread(c.get(), executor.get());
  Handle a = Floats({1}, {1});
  std::vector<Handle> results;
  for (int i = 0; i < 20; ++i) results.push_back(RunOp(c.get(), "AddV2", {a.get(), a.get()}, s));
  TFE_ExecutorWaitForAllPendingNodes(executor.get(), s);
  EXPECT_OK(s);
  for (Handle& h : results) EXPECT_EQ(Values(h.get()), std::vector<float>{2});
  std::thread other([&] {
    Status t;
    Executor mine(TFE_ContextGetExecutorForThread(c.get()));
    EXPECT_FALSE(TFE_ExecutorIsAsync(mine.get()));
    EXPECT_EQ(Values(RunOp(c.get(), "Neg", {a.get()}, t).get()), std::vector<float>{-1});
  });
  other.join();
  TFE_ContextSetExecutorForThread(c.get(), nullptr);
}

TEST(Registry, ListsOpsAndKernels) {
  Buffer ops(TF_GetAllOpList());
  ASSERT_NE(ops, nullptr);
  const std::string bytes(static_cast<const char*>(ops->data), ops->length);
  // Conv2D's explicit_paddings default to an empty list, which is said.
  EXPECT_NE(bytes.find(Field(1, "explicit_paddings") + Field(2, "list(int)") + Field(3, Field(1, ""))), bytes.npos);
  Status s;
  Buffer one(TF_GetRegisteredKernelsForOp("Conv2D", s));
  ASSERT_OK(s);
  const std::string expected = Field(1, Field(1, "Conv2D") + Field(2, "CPU"));
  EXPECT_EQ(std::string(static_cast<const char*>(one->data), one->length), expected);
  Buffer none(TF_GetRegisteredKernelsForOp("NoSuchOp", s));
  EXPECT_OK(s);
  EXPECT_EQ(none->length, 0u);
  EXPECT_STREQ(TF_Version(), "2.21.0");
}

TEST(Unimplemented, SaysItsName) {
  Status s;
  Graph g(TF_NewGraph());
  TF_OperationDescription* d = TF_NewOperation(g.get(), "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  EXPECT_EQ(TF_FinishOperation(d, s), nullptr);
  EXPECT_ERROR(s, TF_UNIMPLEMENTED, "TF_FinishOperation is not implemented");
  EXPECT_EQ(TF_LoadLibrary("x.so", s), nullptr);
  EXPECT_ERROR(s, TF_UNIMPLEMENTED, "TF_LoadLibrary is not implemented");
}

}  // namespace
}  // namespace capi_test
