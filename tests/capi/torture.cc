// Every implemented function of the C API while the nth allocation fails, for every n: an error or success, never
// a crash, and nothing left behind. All of malloc's family fails, in the library and beneath it.
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "capi_test.h"

namespace {

std::atomic<long> g_live{0}, g_count{0}, g_fail_at{-1};

bool Fails() { return g_count++ == g_fail_at; }

}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t n) {
  void* p = Fails() ? nullptr : __libc_malloc(n);
  if (p) ++g_live;
  return p;
}
void* calloc(size_t a, size_t b) {
  void* p = Fails() ? nullptr : __libc_calloc(a, b);
  if (p) ++g_live;
  return p;
}
void* realloc(void* old, size_t n) {
  if (Fails()) return nullptr;
  void* p = __libc_realloc(old, n);
  if (p && !old) ++g_live;
  return p;
}
void* aligned_alloc(size_t align, size_t n) {
  void* p = Fails() ? nullptr : __libc_memalign(align, n);
  if (p) ++g_live;
  return p;
}
void* memalign(size_t align, size_t n) { return aligned_alloc(align, n); }
int posix_memalign(void** p, size_t align, size_t n) {
  *p = aligned_alloc(align, n);
  return *p ? 0 : ENOMEM;
}
void free(void* p) {
  if (p) --g_live;
  __libc_free(p);
}
}

namespace capi_test {
namespace {

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      g_fail_at = -1;                                                                             \
      std::fprintf(stderr, "allocation %ld: failed: %s\n", g_at, #condition);                     \
      std::abort();                                                                               \
    }                                                                                             \
  } while (false)

long g_at = 0;

// Runs `scenario` with the first, second, ... allocation failing until a run meets no failure.
template <class F>
void FailEach(const char* name, F scenario) {
  scenario();  // what the C library keeps for itself is made
  long failed = 0;
  for (g_at = 0;; ++g_at) {
    const long before = g_live;
    g_count = 0;
    g_fail_at = g_at;
    scenario();
    const bool met = g_count > g_fail_at;
    g_fail_at = -1;
    if (g_live != before) std::fprintf(stderr, "%s: %ld blocks stay\n", name, g_live - before);
    CHECK(g_live == before);
    if (!met) break;
    ++failed;
  }
  std::printf("%s: %ld allocations failed in turn, nothing left behind\n", name, failed);
}

// Owned without the test's own vectors and strings, whose allocations would throw.
struct Scope {
  TF_Status* s = TF_NewStatus();
  ~Scope() { TF_DeleteStatus(s); }
  bool ok() const { return s && TF_GetCode(s) == TF_OK; }
};

TFE_TensorHandle* FloatHandle(TF_Status* s) {
  const int64_t dims[] = {2, 2};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 2, 16);
  if (!t) return nullptr;
  memset(TF_TensorData(t), 0, 16);
  TFE_TensorHandle* h = TFE_NewTensorHandle(t, s);
  TF_DeleteTensor(t);
  return h;
}

TFE_Context* MakeContext(TF_Status* s, bool async) {
  TFE_ContextOptions* o = TFE_NewContextOptions();
  TFE_ContextOptionsSetConfig(o, "\x10\x01", 2, s);
  TFE_ContextOptionsSetAsync(o, async);
  TFE_Context* c = TFE_NewContext(o, s);
  TFE_DeleteContextOptions(o);
  return c;
}

void ValuesScenario() {
  Scope x;
  TF_SetStatus(x.s, TF_ABORTED, "a message that is too long for the string object itself to hold it");
  TF_SetPayload(x.s, "a key that is too long for the string object itself", "and a value of the same kind");
  TF_SetStatusFromIOError(x.s, ENOENT, "a file whose name is too long for the string object itself");
  TF_DeleteBuffer(TF_NewBufferFromString("bytes", 5));
  const int64_t dims[] = {2};
  TF_Tensor* t = TF_AllocateTensor(TF_STRING, dims, 1, 2 * sizeof(TF_TString));
  if (t) {
    auto* p = static_cast<TF_TString*>(TF_TensorData(t));
    TF_StringCopy(p, "a string that is too long for the cell itself", 45);
    TFE_TensorHandle* h = TFE_NewTensorHandle(t, x.s);
    TF_DeleteTensor(TFE_TensorHandleResolve(h, x.s));
    TFE_DeleteTensorHandle(TFE_TensorHandleCopySharingTensor(h, x.s));
    TFE_DeleteTensorHandle(TFE_TensorHandleCopyToDevice(h, nullptr, "/device:CPU:0", x.s));
    TFE_DeleteTensorHandle(h);
    if (TF_Tensor* moved = TF_TensorMaybeMove(t)) t = moved;
  }
  TF_DeleteTensor(t);
  alignas(64) static char block[64];
  int freed = 0;
  auto count = [](void*, size_t, void* n) { ++*static_cast<int*>(n); };
  TF_DeleteTensor(TF_NewTensor(TF_FLOAT, dims, 1, block, 8, count, &freed));
  CHECK(freed == 1);
  TF_DeleteTensor(TF_NewTensor(TF_FLOAT, dims, 1, block + 4, 8, count, &freed));
  CHECK(freed == 2);
  TF_DeleteBuffer(TF_GetRegisteredKernelsForOp("Conv2D", x.s));
}

void EagerScenario(bool async) {
  Scope x;
  TFE_Context* c = MakeContext(x.s, async);
  if (!c) return;
  TF_DeleteDeviceList(TFE_ContextListDevices(c, x.s));
  TFE_TensorHandle* a = FloatHandle(x.s);
  for (const char* name : {"AddV2", "both"}) {
    TFE_Op* op = TFE_NewOp(c, name, x.s);
    if (!strcmp(name, "AddV2")) TFE_OpAddInput(op, a, x.s);
    TFE_OpAddInput(op, a, x.s);
    TFE_OpSetDevice(op, "/device:CPU:0", x.s);
    TFE_DeleteTensorHandle(TFE_OpGetFlatInput(op, 0, x.s));
    TFE_TensorHandle* out[6] = {};
    int n = 6;
    TFE_Execute(op, out, &n, x.s);
    TF_DeleteTensor(TFE_TensorHandleResolve(out[0], x.s));
    TFE_OpReset(op, "Identity", nullptr, x.s);
    TFE_DeleteTensorHandle(out[0]);
    TFE_DeleteOp(op);
    static const std::string function = BinaryFunction("both", "Add");
    TFE_ContextAddFunctionDef(c, function.data(), function.size(), x.s);
  }
  TFE_Op* op = TFE_NewOp(c, "VarHandleOp", x.s);
  const int64_t dims[] = {1, 2, 3};
  const int64_t* lists[] = {dims, dims};
  const int ranks[] = {3, 2};
  const void* strings[] = {"one", "two"};
  const size_t lengths[] = {3, 3};
  const float floats[] = {1, 2};
  const unsigned char bools[] = {1, 0};
  const TF_DataType types[] = {TF_FLOAT, TF_INT32};
  TFE_OpSetAttrShape(op, "shape", dims, 3, x.s);
  TFE_OpSetAttrShapeList(op, "shapes", lists, ranks, 2, x.s);
  TFE_OpSetAttrStringList(op, "strings", strings, lengths, 2);
  TFE_OpSetAttrIntList(op, "ints", dims, 3);
  TFE_OpSetAttrFloatList(op, "floats", floats, 2);
  TFE_OpSetAttrBoolList(op, "bools", bools, 2);
  TFE_OpSetAttrTypeList(op, "types", types, 2);
  TFE_OpSetAttrFunctionName(op, "f", "function", 8);
  TFE_OpSetAttrString(op, "shared_name", "a name that is longer than any small buffer in the op is", 56);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_TensorHandle* out = nullptr;
  int n = 1;
  TFE_Execute(op, &out, &n, x.s);
  TFE_DeleteTensorHandle(out);
  TFE_DeleteOp(op);
  TFE_ContextRemoveFunction(c, "both", x.s);
  TFE_ContextClearCaches(c);
  TFE_Executor* e = TFE_ContextGetExecutorForThread(c);
  TFE_ContextSetExecutorForThread(c, e);
  TFE_DeleteExecutor(e);
  TFE_ContextAsyncWait(c, x.s);
  TFE_DeleteTensorHandle(a);
  TFE_DeleteContext(c);
}

void Run(TF_Session* session, TF_Graph* graph, const char* in, const char* out, const int64_t* dims, TF_Status* s) {
  TF_Output input{TF_GraphOperationByName(graph, in), 0}, output{TF_GraphOperationByName(graph, out), 0};
  TF_Tensor* value = TF_AllocateTensor(TF_FLOAT, dims, 2, static_cast<size_t>(dims[0] * dims[1] * 4));
  if (value) {
    memset(TF_TensorData(value), 0, TF_TensorByteSize(value));
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, nullptr, &input, &value, 1, &output, &result, 1, nullptr, 0, nullptr, s);
    CHECK(!s || (result != nullptr) == (TF_GetCode(s) == TF_OK));
    TF_DeleteTensor(result);
  }
  TF_DeleteTensor(value);
}

void SessionScenario() {
  static const std::string dir = TestData("cycle/keras_dense_sm");
  Scope x;
  TF_SessionOptions* o = TF_NewSessionOptions();
  TF_SetConfig(o, "\x10\x01", 2, x.s);
  TF_Graph* graph = TF_NewGraph();
  TF_Buffer* meta = TF_NewBuffer();
  const char* tag = "serve";
  TF_Session* session = TF_LoadSessionFromSavedModel(o, nullptr, dir.c_str(), &tag, 1, graph, meta, x.s);
  if (session) {
    const int64_t dims[] = {1, 32};
    Run(session, graph, "serving_default_keras_tensor", "StatefulPartitionedCall_1", dims, x.s);
    TF_DeleteDeviceList(TF_SessionListDevices(session, x.s));
    TF_CloseSession(session, x.s);
  }
  TF_DeleteSession(session, x.s);
  TF_DeleteGraph(graph);
  TF_DeleteBuffer(meta);
  TF_DeleteSessionOptions(o);
}

void GraphScenario() {
  static const std::string def = [] {
    auto type = [](const char* name) { return Field(5, Field(1, name) + Field(2, Number(6, TF_FLOAT))); };
    return Field(1, Field(1, "x") + Field(2, "Placeholder") + type("dtype")) +
           Field(1, Field(1, "y") + Field(2, "AddV2") + Field(3, "x") + Field(3, "x") + Field(3, "^x") + type("T")) +
           Field(2, Field(1, BinaryFunction("both", "Add")));
  }();
  Scope x;
  TF_Graph* graph = TF_NewGraph();
  TF_Buffer* bytes = TF_NewBufferFromString(def.data(), def.size());
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetDefaultDevice(o, "/device:CPU:0 that is long enough to need memory");
  TF_GraphImportGraphDef(graph, bytes, o, x.s);
  TF_ImportGraphDefOptionsSetPrefix(o, "a prefix that is long enough to need memory");
  TF_Operation* y = TF_GraphOperationByName(graph, "y");
  TF_ImportGraphDefOptionsAddInputMapping(o, "x", 0, {y, 0});
  TF_ImportGraphDefOptionsAddReturnOutput(o, "y", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(o, "x");
  TF_DeleteImportGraphDefResults(TF_GraphImportGraphDefWithResults(graph, bytes, o, x.s));
  TF_OperationNumInputs(y);
  TF_OperationOutputNumConsumers({TF_GraphOperationByName(graph, "x"), 0});
  TF_DataType type;
  TF_OperationGetAttrType(y, "T", &type, x.s);
  TF_GraphGetTensorNumDims(graph, {y, 0}, x.s);
  TF_Function* f = nullptr;
  TF_GraphGetFunctions(graph, &f, 1, x.s);
  TF_GraphCopyFunction(graph, f, nullptr, x.s);
  TF_DeleteFunction(f);
  TF_Buffer* out = TF_NewBuffer();
  TF_GraphToGraphDef(graph, out, x.s);
  TF_DeleteBuffer(out);
  out = TF_NewBuffer();
  TF_GraphGetOpDef(graph, "Conv2D", out, x.s);
  TF_DeleteBuffer(out);
  TF_SessionOptions* so = TF_NewSessionOptions();
  TF_SetConfig(so, "\x10\x01", 2, x.s);
  if (TF_Session* session = TF_NewSession(graph, so, x.s)) {
    const int64_t dims[] = {2, 2};
    Run(session, graph, "x", "y", dims, x.s);
    TF_DeleteSession(session, x.s);
  }
  TF_DeleteSessionOptions(so);
  TF_DeleteImportGraphDefOptions(o);
  TF_DeleteBuffer(bytes);
  TF_DeleteGraph(graph);
}

}  // namespace
}  // namespace capi_test

int main() {
  using namespace capi_test;
  FailEach("statuses, buffers, tensors", ValuesScenario);
  FailEach("eager", [] { EagerScenario(false); });
  FailEach("eager, asynchronous", [] { EagerScenario(true); });
  FailEach("sessions", SessionScenario);
  FailEach("graphs", GraphScenario);
}
