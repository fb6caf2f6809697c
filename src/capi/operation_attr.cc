#include <algorithm>

#include "capi/attr_list.h"
#include "capi/buffer.h"
#include "capi/graph.h"
#include "capi/tensor.h"
#include "wire/attr_wire.h"
#include "wire/message.h"

using namespace tare;
using namespace tare::capi;
using wire::Bytes;
using wire::Reader;

namespace {

// The AttrValue of a node as it stands on the wire. NotFound in TensorFlow's words.
Result<std::string_view> FindAttrBytes(TF_Operation* oper, std::string_view name) {
  std::string_view found;
  bool any = false;
  TARE_RETURN_IF_ERROR(wire::ForEachField(oper->node_def, "node", [&](Reader& r) -> Status {
    if (r.tag() != 5) return OkStatus();
    TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(Bytes(r), "attribute"));
    if (e.key != name) return OkStatus();
    found = e.value;
    any = true;
    return OkStatus();
  }));
  if (!any) return InvalidArgument("Operation '{}' has no attr named '{}'.", oper->name, name);
  return found;
}

// Reads the attribute, else the definition's default, and calls f(value) on it while it lives.
template <class F>
Status WithAttr(TF_Operation* oper, const char* name, F&& f) {
  TARE_CAPI_REQUIRE(oper);
  TARE_CAPI_REQUIRE(name);
  auto bytes = FindAttrBytes(oper, name);
  if (!bytes.ok()) {
    TARE_ASSIGN_OR_RETURN(const OperationDetails* d, oper->graph->Details(oper));
    const AttrDef* def = d->op ? d->op->FindAttrDef(name) : nullptr;
    if (def && def->has_default) return f(def->default_value);
    return std::move(bytes).status();
  }
  Region scratch(oper->graph->account, Kind::kGraphs);
  wire::TensorStore tensors(oper->graph->account, nullptr);
  TARE_ASSIGN_OR_RETURN(AttrValue value, wire::ReadAttrValue(*bytes, scratch, tensors));
  return f(value);
}

Status CheckKind(const AttrValue& v, const char* name, AttrKind kind, bool list) {
  if (v.is_list == list && (v.kind == kind || (list && v.list.empty()))) return OkStatus();
  return InvalidArgument("Attribute '{}' is not {}{}", name, list ? "a list of " : "a ", AttrKindName(kind));
}

// Calls f(value) on an attribute of one kind.
template <class F>
void GetAttr(TF_Operation* oper, const char* name, AttrKind kind, bool list, TF_Status* status, F&& f) {
  Try(status, [&] {
    return WithAttr(oper, name, [&](const AttrValue& v) -> Status {
      TARE_RETURN_IF_ERROR(CheckKind(v, name, kind, list));
      return f(v);
    });
  });
}

// The first values of a list, as many as there is room for.
template <class T, class F>
void GetList(TF_Operation* oper, const char* name, AttrKind kind, T* values, int room, TF_Status* status, F&& get) {
  GetAttr(oper, name, kind, true, status, [&](const AttrValue& v) -> Status {
    if (room > 0) TARE_CAPI_REQUIRE(values);
    for (int i = 0; i < room && static_cast<size_t>(i) < v.list.size(); ++i) values[i] = get(v.list[i]);
    return OkStatus();
  });
}

// Bytes of strings, or dimensions of shapes: what the metadata calls the total size. -1 for other kinds.
int64_t SizeOf(const AttrValue& v) {
  if (v.kind == AttrKind::kString) return static_cast<int64_t>(v.s.size());
  if (v.kind == AttrKind::kShape) return v.shape.unknown_rank ? -1 : static_cast<int64_t>(v.shape.dims.size());
  return -1;
}

}  // namespace

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper, const char* attr_name, TF_Status* status) {
  TF_AttrMetadata m{0, -1, TF_ATTR_STRING, -1};
  Try(status, [&] {
    return WithAttr(oper, attr_name, [&](const AttrValue& v) -> Status {
      m.type = ToC(v.kind);
      if (!v.is_list) {
        m.total_size = SizeOf(v);
        return OkStatus();
      }
      m.is_list = 1;
      m.list_size = static_cast<int64_t>(v.list.size());
      // An empty list has no kind on the wire; the definition knows.
      TARE_ASSIGN_OR_RETURN(const OperationDetails* d, oper->graph->Details(oper));
      const AttrDef* def = d->op ? d->op->FindAttrDef(attr_name) : nullptr;
      const AttrKind kind = v.list.empty() && def ? def->kind : v.kind;
      m.type = ToC(kind);
      if (kind != AttrKind::kString && kind != AttrKind::kShape) return OkStatus();
      m.total_size = 0;
      for (const AttrValue& e : v.list) m.total_size += std::max<int64_t>(SizeOf(e), 0);
      return OkStatus();
    });
  });
  return m;
}

void TF_OperationGetAttrString(TF_Operation* oper, const char* attr_name, void* value, size_t max_length,
                               TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kString, false, status, [&](const AttrValue& v) -> Status {
    if (max_length > 0) TARE_CAPI_REQUIRE(value);
    if (const size_t n = std::min(max_length, v.s.size()); n > 0) std::memcpy(value, v.s.data(), n);
    return OkStatus();
  });
}

void TF_OperationGetAttrStringList(TF_Operation* oper, const char* attr_name, void** values, size_t* lengths,
                                   int max_values, void* storage, size_t storage_size, TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kString, true, status, [&](const AttrValue& v) -> Status {
    const size_t n = std::min<size_t>(std::max(max_values, 0), v.list.size());
    if (n > 0) TARE_CAPI_REQUIRE(values && lengths);
    auto* to = static_cast<char*>(storage);
    for (size_t i = 0; i < n; ++i) {
      const std::string_view s = v.list[i].s;
      if (s.size() > storage_size) {
        return InvalidArgument("Not enough storage to hold the requested list of strings");
      }
      values[i] = to;
      lengths[i] = s.size();
      if (!s.empty()) std::memcpy(to, s.data(), s.size());
      to += s.size();
      storage_size -= s.size();
    }
    return OkStatus();
  });
}

void TF_OperationGetAttrInt(TF_Operation* oper, const char* attr_name, int64_t* value, TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kInt, false, status, [&](const AttrValue& v) -> Status {
    TARE_CAPI_REQUIRE(value);
    *value = v.i;
    return OkStatus();
  });
}
void TF_OperationGetAttrIntList(TF_Operation* oper, const char* attr_name, int64_t* values, int max_values,
                                TF_Status* status) {
  GetList(oper, attr_name, AttrKind::kInt, values, max_values, status, [](const AttrValue& v) { return v.i; });
}

void TF_OperationGetAttrFloat(TF_Operation* oper, const char* attr_name, float* value, TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kFloat, false, status, [&](const AttrValue& v) -> Status {
    TARE_CAPI_REQUIRE(value);
    *value = v.f;
    return OkStatus();
  });
}
void TF_OperationGetAttrFloatList(TF_Operation* oper, const char* attr_name, float* values, int max_values,
                                  TF_Status* status) {
  GetList(oper, attr_name, AttrKind::kFloat, values, max_values, status, [](const AttrValue& v) { return v.f; });
}

void TF_OperationGetAttrBool(TF_Operation* oper, const char* attr_name, unsigned char* value, TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kBool, false, status, [&](const AttrValue& v) -> Status {
    TARE_CAPI_REQUIRE(value);
    *value = v.i != 0;
    return OkStatus();
  });
}
void TF_OperationGetAttrBoolList(TF_Operation* oper, const char* attr_name, unsigned char* values, int max_values,
                                 TF_Status* status) {
  GetList(oper, attr_name, AttrKind::kBool, values, max_values, status,
          [](const AttrValue& v) { return static_cast<unsigned char>(v.i != 0); });
}

void TF_OperationGetAttrType(TF_Operation* oper, const char* attr_name, TF_DataType* value, TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kType, false, status, [&](const AttrValue& v) -> Status {
    TARE_CAPI_REQUIRE(value);
    *value = static_cast<TF_DataType>(v.type());
    return OkStatus();
  });
}
void TF_OperationGetAttrTypeList(TF_Operation* oper, const char* attr_name, TF_DataType* values, int max_values,
                                 TF_Status* status) {
  GetList(oper, attr_name, AttrKind::kType, values, max_values, status,
          [](const AttrValue& v) { return static_cast<TF_DataType>(v.type()); });
}

void TF_OperationGetAttrShape(TF_Operation* oper, const char* attr_name, int64_t* value, int num_dims,
                              TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kShape, false, status, [&](const AttrValue& v) -> Status {
    const size_t n = std::min<size_t>(std::max(num_dims, 0), v.shape.unknown_rank ? 0 : v.shape.dims.size());
    if (n > 0) TARE_CAPI_REQUIRE(value);
    std::copy_n(v.shape.dims.begin(), n, value);
    return OkStatus();
  });
}

void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* attr_name, int64_t** dims, int* num_dims,
                                  int num_shapes, int64_t* storage, int storage_size, TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kShape, true, status, [&](const AttrValue& v) -> Status {
    const size_t n = std::min<size_t>(std::max(num_shapes, 0), v.list.size());
    if (n > 0) TARE_CAPI_REQUIRE(dims && num_dims);
    for (size_t i = 0; i < n; ++i) {
      const PartialShape& s = v.list[i].shape;
      num_dims[i] = s.unknown_rank ? -1 : static_cast<int>(s.dims.size());
      dims[i] = storage;
      if (s.unknown_rank) continue;
      if (static_cast<int64_t>(s.dims.size()) > storage_size) {
        return InvalidArgument("Not enough storage to hold the requested list of shapes");
      }
      std::ranges::copy(s.dims, storage);
      storage += s.dims.size();
      storage_size -= static_cast<int>(s.dims.size());
    }
    return OkStatus();
  });
}

void TF_OperationGetAttrTensor(TF_Operation* oper, const char* attr_name, TF_Tensor** value, TF_Status* status) {
  if (value) *value = nullptr;
  GetAttr(oper, attr_name, AttrKind::kTensor, false, status, [&](const AttrValue& v) -> Status {
    TARE_CAPI_REQUIRE(value);
    TARE_ASSIGN_OR_RETURN(*value, MakeTensor(*v.tensor));
    return OkStatus();
  });
}

void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* attr_name, TF_Tensor** values, int max_values,
                                   TF_Status* status) {
  GetAttr(oper, attr_name, AttrKind::kTensor, true, status, [&](const AttrValue& v) -> Status {
    const size_t n = std::min<size_t>(std::max(max_values, 0), v.list.size());
    if (n > 0) TARE_CAPI_REQUIRE(values);
    std::vector<std::unique_ptr<TF_Tensor>> made;
    made.reserve(n);
    for (size_t i = 0; i < n; ++i) {
      TARE_ASSIGN_OR_RETURN(TF_Tensor* t, MakeTensor(*v.list[i].tensor));
      made.emplace_back(t);
    }
    for (size_t i = 0; i < n; ++i) values[i] = made[i].release();
    return OkStatus();
  });
}

void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* attr_name, TF_Buffer* output_attr_value,
                                   TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(oper);
    TARE_CAPI_REQUIRE(attr_name);
    TARE_CAPI_REQUIRE(output_attr_value);
    TARE_ASSIGN_OR_RETURN(std::string_view bytes, FindAttrBytes(oper, attr_name));
    return Fill(output_attr_value, bytes);
  });
}

namespace {

// Calls f(shape) on what the node states of an output: its annotation, or the attribute of a placeholder; an
// unknown rank where it says nothing.
Status WithShape(TF_Graph* graph, TF_Output output, const std::function<Status(const PartialShape&)>& f) {
  TARE_CAPI_REQUIRE(graph);
  if (!output.oper || output.oper->graph != graph) return InvalidArgument("Node is not in the graph");
  TARE_ASSIGN_OR_RETURN(const OperationDetails* d, graph->Details(output.oper));
  if (output.index < 0 || static_cast<size_t>(output.index) >= d->output_types.size()) {
    return OutOfRange("Node '{}' has {} outputs, not {}", output.oper->name, d->output_types.size(), output.index);
  }
  const bool annotated = FindAttrBytes(output.oper, "_output_shapes").ok();
  if (!annotated && !FindAttrBytes(output.oper, "shape").ok()) return f(PartialShape{});
  return WithAttr(output.oper, annotated ? "_output_shapes" : "shape", [&](const AttrValue& v) -> Status {
    if (!v.is_list && v.kind == AttrKind::kShape) return f(v.shape);
    if (v.is_list && v.kind == AttrKind::kShape && static_cast<size_t>(output.index) < v.list.size()) {
      return f(v.list[output.index].shape);
    }
    return f(PartialShape{});
  });
}

}  // namespace

int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status) {
  int rank = -1;
  Try(status, [&] {
    return WithShape(graph, output, [&](const PartialShape& s) {
      if (!s.unknown_rank) rank = static_cast<int>(s.dims.size());
      return OkStatus();
    });
  });
  return rank;
}

void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims, int num_dims, TF_Status* status) {
  Try(status, [&] {
    return WithShape(graph, output, [&](const PartialShape& s) -> Status {
      if (s.unknown_rank) return OkStatus();
      if (static_cast<int64_t>(s.dims.size()) != num_dims) {
        return InvalidArgument("Expected rank is {} but actual rank is {}", num_dims, s.dims.size());
      }
      if (num_dims > 0) TARE_CAPI_REQUIRE(dims);
      std::ranges::copy(s.dims, dims);
      return OkStatus();
    });
  });
}
