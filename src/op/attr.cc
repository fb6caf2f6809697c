#include "op/attr.h"

namespace tare {

std::string_view AttrKindName(AttrKind kind) {
  static constexpr std::string_view kNames[] = {"none", "string", "int", "float", "bool",
                                                "type", "shape", "tensor", "func", "placeholder"};
  return kNames[static_cast<size_t>(kind)];
}

const AttrValue* FindAttr(Attrs attrs, std::string_view name) {
  for (const Attr& a : attrs) {
    if (a.name == name) return &a.value;
  }
  return nullptr;
}

std::string ToString(const AttrValue& v) {
  if (v.is_list) {
    std::string s = "[";
    for (size_t i = 0; i < v.list.size(); ++i) {
      if (i) s += ",";
      s += ToString(v.list[i]);
    }
    return s + "]";
  }
  switch (v.kind) {
    case AttrKind::kNone: return "<none>";
    case AttrKind::kString: return fmt::format("\"{}\"", v.s);
    case AttrKind::kInt: return std::to_string(v.i);
    case AttrKind::kFloat: return fmt::format("{}", v.f);
    case AttrKind::kBool: return v.i ? "true" : "false";
    case AttrKind::kType: return std::string(DTypeName(v.type()));
    case AttrKind::kShape: return v.shape.ToString();
    case AttrKind::kTensor:
      return fmt::format("tensor<{} {}>", DTypeName(v.tensor->dtype()), v.tensor->shape().ToString());
    case AttrKind::kFunction: return std::string(v.function->name);
    case AttrKind::kPlaceholder: return fmt::format("${}", v.s);
  }
  return "";
}

}  // namespace tare
