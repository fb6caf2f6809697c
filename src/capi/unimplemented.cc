// What clients import and is not there yet: each says so by its name. A status gets UNIMPLEMENTED; a builder
// without one is made all the same, so that TF_FinishOperation can tell.
#include "capi/common.h"
#include "tensorflow/c/c_api.h"

struct TF_OperationDescription {};

using namespace tare;
using namespace tare::capi;

namespace {

void NotYet(const char* function, TF_Status* status) noexcept {
  Try(status, [&] { return Unimplemented("{} is not implemented", function); });
}

}  // namespace

// ---- Building graphs ----
TF_OperationDescription* TF_NewOperation(TF_Graph*, const char*, const char*) {
  return TryNew<TF_OperationDescription>();
}
void TF_SetDevice(TF_OperationDescription*, const char*) {}
void TF_AddInput(TF_OperationDescription*, TF_Output) {}
void TF_AddInputList(TF_OperationDescription*, const TF_Output*, int) {}
void TF_AddControlInput(TF_OperationDescription*, TF_Operation*) {}
void TF_SetAttrString(TF_OperationDescription*, const char*, const void*, size_t) {}
void TF_SetAttrStringList(TF_OperationDescription*, const char*, const void* const*, const size_t*, int) {}
void TF_SetAttrInt(TF_OperationDescription*, const char*, int64_t) {}
void TF_SetAttrIntList(TF_OperationDescription*, const char*, const int64_t*, int) {}
void TF_SetAttrFloat(TF_OperationDescription*, const char*, float) {}
void TF_SetAttrFloatList(TF_OperationDescription*, const char*, const float*, int) {}
void TF_SetAttrBool(TF_OperationDescription*, const char*, unsigned char) {}
void TF_SetAttrBoolList(TF_OperationDescription*, const char*, const unsigned char*, int) {}
void TF_SetAttrType(TF_OperationDescription*, const char*, TF_DataType) {}
void TF_SetAttrTypeList(TF_OperationDescription*, const char*, const TF_DataType*, int) {}
void TF_SetAttrShape(TF_OperationDescription*, const char*, const int64_t*, int) {}
void TF_SetAttrShapeList(TF_OperationDescription*, const char*, const int64_t* const*, const int*, int) {}
void TF_SetAttrFuncName(TF_OperationDescription*, const char*, const char*, size_t) {}
void TF_SetAttrTensor(TF_OperationDescription*, const char*, TF_Tensor*, TF_Status* status) {
  NotYet(__func__, status);
}
void TF_SetAttrTensorList(TF_OperationDescription*, const char*, TF_Tensor* const*, int, TF_Status* status) {
  NotYet(__func__, status);
}
TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status) {
  delete desc;
  NotYet(__func__, status);
  return nullptr;
}

// ---- Functions, loops, gradients ----
TF_Function* TF_GraphToFunction(const TF_Graph*, const char*, unsigned char, int, const TF_Operation* const*, int,
                                const TF_Output*, int, const TF_Output*, const char* const*,
                                const TF_FunctionOptions*, const char*, TF_Status* status) {
  NotYet(__func__, status);
  return nullptr;
}
TF_WhileParams TF_NewWhile(TF_Graph*, TF_Output*, int, TF_Status* status) {
  NotYet(__func__, status);
  return {};
}
void TF_FinishWhile(const TF_WhileParams*, TF_Status* status, TF_Output*) { NotYet(__func__, status); }
void TF_AbortWhile(const TF_WhileParams*) {}
void TF_AddGradientsWithPrefix(TF_Graph*, const char*, TF_Output*, int, TF_Output*, int, TF_Output*,
                               TF_Status* status, TF_Output*) {
  NotYet(__func__, status);
}

// ---- Partial runs ----
void TF_SessionPRunSetup(TF_Session*, const TF_Output*, int, const TF_Output*, int, const TF_Operation* const*, int,
                         const char** handle, TF_Status* status) {
  if (handle) *handle = nullptr;
  NotYet(__func__, status);
}
void TF_SessionPRun(TF_Session*, const char*, const TF_Output*, TF_Tensor* const*, int, const TF_Output*, TF_Tensor**,
                    int, const TF_Operation* const*, int, TF_Status* status) {
  NotYet(__func__, status);
}
void TF_DeletePRunHandle(const char*) {}

// ---- Libraries of ops ----
TF_Library* TF_LoadLibrary(const char*, TF_Status* status) {
  NotYet(__func__, status);
  return nullptr;
}
TF_Buffer TF_GetOpList(TF_Library*) { return {}; }
void TF_DeleteLibraryHandle(TF_Library*) {}
