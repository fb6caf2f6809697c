#include <algorithm>

#include "capi/buffer.h"
#include "capi/graph.h"
#include "capi/writer.h"
#include "kernels/registry.h"
#include "graph/flat_graph.h"

using namespace tare;
using namespace tare::capi;

namespace {

// An empty message must be added as such: the writer leaves out a part in which nothing was written.
void WriteShape(pbf_writer& value, const PartialShape& s) {
  if (!s.unknown_rank && s.dims.empty()) return value.add_message(7, std::string());
  pbf_writer w(value, 7);
  if (s.unknown_rank) return w.add_bool(3, true);
  for (int64_t d : s.dims) pbf_writer(w, 2).add_int64(1, d);
}

// An element of an AttrValue (tags from 2) or of its list: the tags are the same but for functions.
void WriteElement(pbf_writer& w, const AttrValue& v) {
  switch (v.kind) {
    case AttrKind::kString: w.add_bytes(2, v.s.data(), v.s.size()); break;
    case AttrKind::kInt: w.add_int64(3, v.i); break;
    case AttrKind::kFloat: w.add_float(4, v.f); break;
    case AttrKind::kBool: w.add_bool(5, v.i != 0); break;
    case AttrKind::kType: w.add_int32(6, static_cast<int32_t>(v.i)); break;
    case AttrKind::kShape: WriteShape(w, v.shape); break;
    default: break;
  }
}

void WriteValue(pbf_writer& w, const AttrValue& v) {
  if (!v.is_list) return WriteElement(w, v);
  if (v.list.empty()) return w.add_message(1, std::string());
  pbf_writer list(w, 1);
  for (const AttrValue& e : v.list) WriteElement(list, e);
}

void WriteArg(pbf_writer w, const ArgDef& a) {
  w.add_string(1, a.name.data(), a.name.size());
  if (a.type != DType::kInvalid) w.add_int32(3, static_cast<int32_t>(a.type));
  if (!a.type_attr.empty()) w.add_string(4, a.type_attr.data(), a.type_attr.size());
  if (!a.number_attr.empty()) w.add_string(5, a.number_attr.data(), a.number_attr.size());
  if (!a.type_list_attr.empty()) w.add_string(6, a.type_list_attr.data(), a.type_list_attr.size());
  if (a.is_ref) w.add_bool(16, true);
}

void WriteAttrDef(pbf_writer w, const AttrDef& a) {
  w.add_string(1, a.name.data(), a.name.size());
  const std::string kind(AttrKindName(a.kind));
  w.add_string(2, a.is_list ? "list(" + kind + ")" : kind);
  if (a.has_default) {
    pbf_writer value(w, 3);
    WriteValue(value, a.default_value);
  }
  if (a.has_minimum) {
    w.add_bool(5, true);
    w.add_int64(6, a.minimum);
  }
  if (!a.allowed.empty()) {
    pbf_writer value(w, 7);
    WriteValue(value, AttrValue::List(a.kind, a.allowed));
  }
}

// An OpDef message.
void WriteOp(pbf_writer w, const OpDef& op) {
  w.add_string(1, op.name.data(), op.name.size());
  for (const ArgDef& a : op.inputs) WriteArg(pbf_writer(w, 2), a);
  for (const ArgDef& a : op.outputs) WriteArg(pbf_writer(w, 3), a);
  for (const AttrDef& a : op.attrs) WriteAttrDef(pbf_writer(w, 4), a);
  if (op.stateful) w.add_bool(17, true);
}

TF_Buffer* NewBuffer(std::string_view bytes) {
  std::unique_ptr<TF_Buffer, decltype(&TF_DeleteBuffer)> buffer(new TF_Buffer{}, TF_DeleteBuffer);
  if (!Fill(buffer.get(), bytes).ok()) return nullptr;
  return buffer.release();
}

// A KernelList of the kernels of one op, or of all.
std::string Kernels(std::string_view only) {
  std::string bytes;
  pbf_writer list(bytes);
  const KernelRegistry registry;
  for (const KernelRow* row : registry.rows()) {
    if (!only.empty() && row->op != only) continue;
    pbf_writer kernel(list, 1);
    kernel.add_string(1, row->op.data(), row->op.size());
    kernel.add_string(2, "CPU");
  }
  return bytes;
}

}  // namespace

TF_Buffer* TF_GetAllOpList() {
  return TryGet<TF_Buffer*>(nullptr, nullptr, []() -> Result<TF_Buffer*> {
    const OpRegistry ops(MakeRef<Account>("op list"));
    const KernelRegistry kernels;
    std::string bytes;
    pbf_writer list(bytes);
    for (const OpRow& row : OpTable()) {
      if (!kernels.Find(row.name) && !IsFunctionalOp(row.name) && !IsDataflowOp(row.name)) continue;
      WriteOp(pbf_writer(list, 1), *ops.Find(row.name));
    }
    return NewBuffer(bytes);
  });
}

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  return TryGet<TF_Buffer*>(status, nullptr, []() -> Result<TF_Buffer*> { return NewBuffer(Kernels({})); });
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  return TryGet<TF_Buffer*>(status, nullptr, [&]() -> Result<TF_Buffer*> {
    TARE_CAPI_REQUIRE(name);
    return NewBuffer(*name ? Kernels(name) : std::string());
  });
}

void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name, TF_Buffer* output_op_def, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(graph);
    TARE_CAPI_REQUIRE(op_name);
    TARE_CAPI_REQUIRE(output_op_def);
    const OpDef* op = graph->ops.Find(op_name);
    if (!op) return NotFound("Op type not registered '{}' in binary", op_name);
    std::string bytes;
    WriteOp(pbf_writer(bytes), *op);
    return Fill(output_op_def, bytes);
  });
}
