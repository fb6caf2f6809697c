#include "kernels/kernel.h"

namespace tare {

Result<Tensor*> KernelCall::Output(int i, DType dtype, const Shape& shape) {
  TARE_ASSIGN_OR_RETURN(outputs_[i], Temp(dtype, shape));
  return &outputs_[i];
}

Result<Tensor*> KernelCall::OutputOver(int i, std::initializer_list<int> candidates, DType dtype,
                                       const Shape& shape) {
  for (int c : candidates) {
    const Tensor& in = *inputs_[c];
    if (!last_use_[c] || in.dtype() != dtype || !in.may_reuse()) continue;
    if (in.num_elements() != shape.num_elements()) continue;
    // The input keeps its view, so that the kernel can still read through it.
    outputs_[i] = in.Reshaped(shape);
    return &outputs_[i];
  }
  return Output(i, dtype, shape);
}

Tensor KernelCall::TakeInput(int i) { return last_use_[i] ? std::move(*inputs_[i]) : *inputs_[i]; }

const AttrValue* AttrReader::Find(std::string_view name, AttrKind kind, bool list) {
  const AttrValue* v = AttrOrDefault(op_, attrs_, name);
  if (!v) {
    Fail(NotFound("No attr named '{}' in NodeDef: op {}", name, op_.name));
    return nullptr;
  }
  // An empty list has no kind on the wire.
  if (v->is_list != list || (v->kind != kind && !(list && v->list.empty()))) {
    Fail(InvalidArgument("attr '{}' of {} is not {}{}", name, op_.name, list ? "a list of " : "of type ",
                         AttrKindName(kind)));
    return nullptr;
  }
  return v;
}

bool AttrReader::Bool(std::string_view name) {
  auto* v = Find(name, AttrKind::kBool, false);
  return v && v->i != 0;
}
int64_t AttrReader::Int(std::string_view name) {
  auto* v = Find(name, AttrKind::kInt, false);
  return v ? v->i : 0;
}
float AttrReader::Float(std::string_view name) {
  auto* v = Find(name, AttrKind::kFloat, false);
  return v ? v->f : 0;
}
DType AttrReader::Type(std::string_view name) {
  auto* v = Find(name, AttrKind::kType, false);
  return v ? v->type() : DType::kInvalid;
}
std::string AttrReader::String(std::string_view name) {
  auto* v = Find(name, AttrKind::kString, false);
  return v ? std::string(v->s) : std::string();
}
PartialShape AttrReader::ShapeAttr(std::string_view name) {
  if (!Has(name)) return {};
  auto* v = Find(name, AttrKind::kShape, false);
  return v ? v->shape : PartialShape{};
}
const Tensor* AttrReader::TensorAttr(std::string_view name) {
  auto* v = Find(name, AttrKind::kTensor, false);
  return v ? v->tensor : nullptr;
}

namespace {

template <class T, class F>
std::vector<T> ListOf(const AttrValue* v, F f) {
  std::vector<T> r;
  if (!v) return r;
  r.reserve(v->list.size());
  for (const AttrValue& e : v->list) r.push_back(f(e));
  return r;
}

}  // namespace

std::vector<int64_t> AttrReader::Ints(std::string_view name) {
  return ListOf<int64_t>(Find(name, AttrKind::kInt, true), [](auto& e) { return e.i; });
}
std::vector<float> AttrReader::Floats(std::string_view name) {
  return ListOf<float>(Find(name, AttrKind::kFloat, true), [](auto& e) { return e.f; });
}
std::vector<DType> AttrReader::TypeList(std::string_view name) {
  return ListOf<DType>(Find(name, AttrKind::kType, true), [](auto& e) { return e.type(); });
}
std::vector<std::string> AttrReader::Strings(std::string_view name) {
  return ListOf<std::string>(Find(name, AttrKind::kString, true), [](auto& e) { return std::string(e.s); });
}
std::vector<PartialShape> AttrReader::Shapes(std::string_view name) {
  return ListOf<PartialShape>(Find(name, AttrKind::kShape, true), [](auto& e) { return e.shape; });
}

}  // namespace tare
