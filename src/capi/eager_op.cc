#include "capi/attr_list.h"
#include "capi/device.h"
#include "capi/eager.h"

using namespace tare;
using namespace tare::capi;

namespace {

// An op that could not be made is not there, and the status said so: setters pass it over.
void SetAttr(TFE_Op* op, const char* name, const AttrValue& value) {
  if (op && name) TryQuietly([&] { op->op.SetAttr(name, value); });
}

template <class T, class F>
void SetList(TFE_Op* op, const char* name, AttrKind kind, const T* values, int n, F&& make) {
  if (n < 0 || (n > 0 && !values)) return;
  TryQuietly([&] {
    std::vector<AttrValue> list;
    for (int i = 0; i < n; ++i) list.push_back(make(values[i]));
    SetAttr(op, name, AttrValue::List(kind, list));
  });
}

const ArgDef* FindArg(std::span<const ArgDef> args, std::string_view name) {
  for (const ArgDef& a : args) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

int ArgLength(TFE_Op* op, bool input, const char* name, TF_Status* status) {
  return TryGet<int>(status, -1, [&]() -> Result<int> {
    TARE_CAPI_REQUIRE(op);
    TARE_CAPI_REQUIRE(name);
    const OpDef& def = op->op.def();
    const ArgDef* arg = FindArg(input ? def.inputs : def.outputs, name);
    if (!arg) return InvalidArgument("{} '{}' not found", input ? "Input" : "Output", name);
    TARE_ASSIGN_OR_RETURN(int64_t n, ArgCount(def, *arg, op->op.attrs()));
    return static_cast<int>(n);
  });
}

}  // namespace

TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name, TF_Status* status) {
  return TryGet<TFE_Op*>(status, nullptr, [&]() -> Result<TFE_Op*> {
    TARE_CAPI_REQUIRE(ctx);
    TARE_CAPI_REQUIRE(op_or_function_name);
    if (std::unique_ptr<TFE_Op> spare = ctx->TakeSpare()) {
      TARE_RETURN_IF_ERROR(spare->op.Become(op_or_function_name));
      return spare.release();
    }
    TARE_ASSIGN_OR_RETURN(EagerOp op, EagerOp::Make(ctx->context, op_or_function_name));
    return new TFE_Op{ctx, std::move(op), {}};
  });
}

void TFE_DeleteOp(TFE_Op* op) {
  if (!op) return;
  // What it holds goes now; the object may serve again.
  op->op.Reset();
  op->promised.clear();
  op->context->KeepSpare(std::unique_ptr<TFE_Op>(op));
}

void TFE_OpReset(TFE_Op* op, const char* op_or_function_name, const char* raw_device_name, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(op);
    TARE_CAPI_REQUIRE(op_or_function_name);
    if (raw_device_name) TARE_RETURN_IF_ERROR(CheckDevice(raw_device_name));
    TARE_RETURN_IF_ERROR(op->op.Become(op_or_function_name));
    op->promised.clear();
    return OkStatus();
  });
}

const char* TFE_OpGetName(const TFE_Op* op, TF_Status* status) {
  return TryGet<const char*>(status, nullptr, [&]() -> Result<const char*> {
    TARE_CAPI_REQUIRE(op);
    return op->op.name().data();
  });
}

TFE_Context* TFE_OpGetContext(const TFE_Op* op, TF_Status* status) {
  return TryGet<TFE_Context*>(status, nullptr, [&]() -> Result<TFE_Context*> {
    TARE_CAPI_REQUIRE(op);
    return op->context;
  });
}

void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(op);
    return CheckDevice(device_name ? device_name : "");
  });
}

const char* TFE_OpGetDevice(const TFE_Op* op, TF_Status* status) {
  return TryGet<const char*>(status, nullptr, [&]() -> Result<const char*> {
    TARE_CAPI_REQUIRE(op);
    return kDeviceName;
  });
}

void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(op);
    TARE_CAPI_REQUIRE(input);
    if (input->promise) op->promised.emplace_back(op->op.inputs().size(), input->promise);
    return op->op.AddInput(input->tensor);
  });
}

void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(op);
    if (num_inputs < 0) return InvalidArgument("{} inputs", num_inputs);
    std::vector<Tensor> tensors;
    for (int i = 0; i < num_inputs; ++i) {
      TARE_CAPI_REQUIRE(inputs && inputs[i]);
      if (inputs[i]->promise) op->promised.emplace_back(op->op.inputs().size() + i, inputs[i]->promise);
      tensors.push_back(inputs[i]->tensor);
    }
    return op->op.AddInputList(tensors);
  });
}

int TFE_OpGetFlatInputCount(const TFE_Op* op, TF_Status* status) {
  return TryGet<int>(status, 0, [&]() -> Result<int> {
    TARE_CAPI_REQUIRE(op);
    return static_cast<int>(const_cast<TFE_Op*>(op)->op.inputs().size());
  });
}

TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op* op, int index, TF_Status* status) {
  return TryGet<TFE_TensorHandle*>(status, nullptr, [&]() -> Result<TFE_TensorHandle*> {
    TARE_CAPI_REQUIRE(op);
    std::span<Tensor> inputs = const_cast<TFE_Op*>(op)->op.inputs();
    if (index < 0 || static_cast<size_t>(index) >= inputs.size()) {
      return InvalidArgument("input {} of {}", index, inputs.size());
    }
    Ref<Promise> promise;
    for (const auto& [place, p] : op->promised) {
      if (place == static_cast<size_t>(index)) promise = p;
    }
    return new TFE_TensorHandle{inputs[index], std::move(promise)};
  });
}

TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name, unsigned char* is_list, TF_Status* status) {
  return TryGet<TF_AttrType>(status, TF_ATTR_INT, [&]() -> Result<TF_AttrType> {
    TARE_CAPI_REQUIRE(op);
    TARE_CAPI_REQUIRE(attr_name);
    const AttrDef* attr = op->op.def().FindAttrDef(attr_name);
    if (!attr) return InvalidArgument("Attribute '{}' does not exist for this operation", attr_name);
    if (is_list) *is_list = attr->is_list;
    return ToC(attr->kind);
  });
}

int TFE_OpGetInputLength(TFE_Op* op, const char* input_name, TF_Status* status) {
  return ArgLength(op, true, input_name, status);
}
int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name, TF_Status* status) {
  return ArgLength(op, false, output_name, status);
}

void TFE_OpSetAttrString(TFE_Op* op, const char* attr_name, const void* value, size_t length) {
  SetAttr(op, attr_name, AttrValue::String({static_cast<const char*>(value), length}));
}
void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value) {
  SetAttr(op, attr_name, AttrValue::Int(value));
}
void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value) {
  SetAttr(op, attr_name, AttrValue::Float(value));
}
void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name, unsigned char value) {
  SetAttr(op, attr_name, AttrValue::Bool(value != 0));
}
void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value) {
  SetAttr(op, attr_name, AttrValue::Type(FromC(value)));
}

void TFE_OpSetAttrShape(TFE_Op* op, const char* attr_name, const int64_t* dims, const int num_dims,
                        TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_ASSIGN_OR_RETURN(PartialShape shape, ShapeFromC(dims, num_dims));
    SetAttr(op, attr_name, AttrValue::OfShape(shape));
    return OkStatus();
  });
}

void TFE_OpSetAttrFunctionName(TFE_Op* op, const char* attr_name, const char* data, size_t length) {
  const FunctionRef function{{data, length}, {}};
  SetAttr(op, attr_name, AttrValue::OfFunction(&function));
}

void TFE_OpSetAttrTensor(TFE_Op* op, const char* attr_name, TF_Tensor* tensor, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(tensor);
    SetAttr(op, attr_name, AttrValue::OfTensor(&tensor->tensor));
    return OkStatus();
  });
}

void TFE_OpSetAttrStringList(TFE_Op* op, const char* attr_name, const void* const* values, const size_t* lengths,
                             int num_values) {
  if (!lengths && num_values > 0) return;
  int i = 0;
  SetList(op, attr_name, AttrKind::kString, values, num_values, [&](const void* v) {
    return AttrValue::String({static_cast<const char*>(v), lengths[i++]});
  });
}
void TFE_OpSetAttrIntList(TFE_Op* op, const char* attr_name, const int64_t* values, int num_values) {
  SetList(op, attr_name, AttrKind::kInt, values, num_values, [](int64_t v) { return AttrValue::Int(v); });
}
void TFE_OpSetAttrFloatList(TFE_Op* op, const char* attr_name, const float* values, int num_values) {
  SetList(op, attr_name, AttrKind::kFloat, values, num_values, [](float v) { return AttrValue::Float(v); });
}
void TFE_OpSetAttrBoolList(TFE_Op* op, const char* attr_name, const unsigned char* values, int num_values) {
  SetList(op, attr_name, AttrKind::kBool, values, num_values, [](unsigned char v) { return AttrValue::Bool(v != 0); });
}
void TFE_OpSetAttrTypeList(TFE_Op* op, const char* attr_name, const TF_DataType* values, int num_values) {
  SetList(op, attr_name, AttrKind::kType, values, num_values,
          [](const TF_DataType& v) { return AttrValue::Type(FromC(v)); });
}

void TFE_OpSetAttrShapeList(TFE_Op* op, const char* attr_name, const int64_t** dims, const int* num_dims,
                            int num_values, TF_Status* status) {
  Try(status, [&]() -> Status {
    if (num_values < 0 || (num_values > 0 && (!dims || !num_dims))) return InvalidArgument("no shapes");
    std::vector<AttrValue> list;
    for (int i = 0; i < num_values; ++i) {
      TARE_ASSIGN_OR_RETURN(PartialShape shape, ShapeFromC(dims[i], num_dims[i]));
      list.push_back(AttrValue::OfShape(shape));
    }
    SetAttr(op, attr_name, AttrValue::List(AttrKind::kShape, list));
    return OkStatus();
  });
}
