#include "context/attr_builder.h"

#include <algorithm>
#include <cstring>

namespace tare {

std::string_view AttrBuilder::Copy(std::string_view s) {
  if (s.empty()) return {};
  char* p = static_cast<char*>(memory_.allocate(s.size(), 1));
  std::memcpy(p, s.data(), s.size());
  return {p, s.size()};
}

AttrValue AttrBuilder::Copy(const AttrValue& v) {
  AttrValue c = v;
  if (v.is_list) {
    auto* p = static_cast<AttrValue*>(memory_.allocate(v.list.size() * sizeof(AttrValue), alignof(AttrValue)));
    for (size_t i = 0; i < v.list.size(); ++i) new (p + i) AttrValue(Copy(v.list[i]));
    c.list = {p, v.list.size()};
    return c;
  }
  switch (v.kind) {
    case AttrKind::kString:
    case AttrKind::kPlaceholder: c.s = Copy(v.s); break;
    case AttrKind::kShape: {
      auto* p = static_cast<int64_t*>(memory_.allocate(v.shape.dims.size_bytes(), alignof(int64_t)));
      std::copy(v.shape.dims.begin(), v.shape.dims.end(), p);
      c.shape.dims = {p, v.shape.dims.size()};
      break;
    }
    case AttrKind::kTensor:
      tensors_.push_back(std::make_unique<Tensor>(*v.tensor));
      c.tensor = tensors_.back().get();
      break;
    case AttrKind::kFunction: {
      auto* attrs = static_cast<Attr*>(memory_.allocate(v.function->attrs.size() * sizeof(Attr), alignof(Attr)));
      for (size_t i = 0; i < v.function->attrs.size(); ++i) {
        new (attrs + i) Attr{Copy(v.function->attrs[i].name), Copy(v.function->attrs[i].value)};
      }
      c.function = new (memory_.allocate(sizeof(FunctionRef), alignof(FunctionRef)))
          FunctionRef{Copy(v.function->name), {attrs, v.function->attrs.size()}};
      break;
    }
    default: break;
  }
  return c;
}

}  // namespace tare
