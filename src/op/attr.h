// Attribute values as nodes carry them. Everything here is a view: the bytes belong to the region of the
// graph, to the op registry, or to the AttrBuilder of an eager call, and outlive the value.
#pragma once
#include <span>
#include <string_view>

#include "tensor/tensor.h"

namespace tare {

struct Attr;
using Attrs = std::span<const Attr>;

// A function named by an attribute, with the attributes it is to be instantiated with.
struct FunctionRef {
  std::string_view name;
  Attrs attrs;
};

// kPlaceholder stands for the attribute `s` of the calling node, to be put in at instantiation.
enum class AttrKind : uint8_t {
  kNone, kString, kInt, kFloat, kBool, kType, kShape, kTensor, kFunction, kPlaceholder
};
std::string_view AttrKindName(AttrKind kind);

struct AttrValue {
  AttrValue() : i(0) {}
  AttrKind kind = AttrKind::kNone;  // of the elements, where is_list
  bool is_list = false;
  union {
    int64_t i;  // kInt; kBool as 0 or 1; kType as a DType
    float f;
    std::string_view s;  // kString, kPlaceholder
    PartialShape shape;
    const Tensor* tensor;
    const FunctionRef* function;
    std::span<const AttrValue> list;
  };
  DType type() const { return static_cast<DType>(i); }

  static AttrValue Int(int64_t v) { AttrValue a; a.kind = AttrKind::kInt; a.i = v; return a; }
  static AttrValue Bool(bool v) { AttrValue a; a.kind = AttrKind::kBool; a.i = v; return a; }
  static AttrValue Type(DType v) { AttrValue a; a.kind = AttrKind::kType; a.i = static_cast<int64_t>(v); return a; }
  static AttrValue Float(float v) { AttrValue a; a.kind = AttrKind::kFloat; a.f = v; return a; }
  static AttrValue String(std::string_view v) { AttrValue a; a.kind = AttrKind::kString; a.s = v; return a; }
  static AttrValue OfShape(PartialShape v) { AttrValue a; a.kind = AttrKind::kShape; a.shape = v; return a; }
  static AttrValue OfTensor(const Tensor* v) { AttrValue a; a.kind = AttrKind::kTensor; a.tensor = v; return a; }
  static AttrValue OfFunction(const FunctionRef* v) { AttrValue a; a.kind = AttrKind::kFunction; a.function = v; return a; }
  static AttrValue Placeholder(std::string_view v) { AttrValue a; a.kind = AttrKind::kPlaceholder; a.s = v; return a; }
  static AttrValue List(AttrKind kind, std::span<const AttrValue> v) {
    AttrValue a; a.kind = kind; a.is_list = true; a.list = v; return a;
  }
};

struct Attr {
  std::string_view name;
  AttrValue value;
};

// Null when there is none of that name.
const AttrValue* FindAttr(Attrs attrs, std::string_view name);
// For messages and reports: `"VALID"`, `[1,2]`, `float`, `[?,3]`.
std::string ToString(const AttrValue& v);

}  // namespace tare
