// Eager ops by name, with Python values for inputs and attributes, as their definitions say.
#include <nanobind/stl/string.h>

#include <deque>

#include "common.h"

namespace tare::python {
namespace {

// Keeps what attribute values point to until the op has copied them.
struct AttrSpace {
  std::deque<std::string> strings;
  std::deque<std::vector<AttrValue>> lists;
  std::deque<std::vector<int64_t>> dims;
  std::deque<Tensor> tensors;
};

[[noreturn]] void WrongAttr(const AttrDef& def, nb::handle value) {
  PyErr_Clear();
  Throw(PyExc_TypeError, fmt::format("attribute '{}' is {}{}, not {}", def.name, def.is_list ? "a list of " : "",
                                     AttrKindName(def.kind), nb::repr(value).c_str()));
}

std::string TextOf(const AttrDef& def, nb::handle value) {
  if (nb::isinstance<nb::bytes>(value)) {
    nb::bytes b = nb::borrow<nb::bytes>(value);
    return std::string(b.c_str(), b.size());
  }
  if (!nb::isinstance<nb::str>(value)) WrongAttr(def, value);
  return nb::cast<std::string>(value);
}

AttrValue ShapeAttr(const AttrDef& def, nb::handle value, AttrSpace* space) {
  if (value.is_none()) return AttrValue::OfShape({});
  auto& dims = space->dims.emplace_back();
  if (PyIndex_Check(value.ptr())) {
    dims.push_back(nb::cast<int64_t>(value));
  } else if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    for (nb::handle d : value) dims.push_back(d.is_none() ? -1 : nb::cast<int64_t>(d));
  } else {
    WrongAttr(def, value);
  }
  return AttrValue::OfShape({false, dims});
}

AttrValue SingleAttr(EagerContext& context, const AttrDef& def, nb::handle value, AttrSpace* space) {
  switch (def.kind) {
    case AttrKind::kString: return AttrValue::String(space->strings.emplace_back(TextOf(def, value)));
    case AttrKind::kInt:
      if (!PyIndex_Check(value.ptr())) WrongAttr(def, value);
      return AttrValue::Int(nb::cast<int64_t>(nb::steal(PyNumber_Index(value.ptr()))));
    case AttrKind::kFloat: {
      double v = PyFloat_AsDouble(value.ptr());
      if (PyErr_Occurred()) WrongAttr(def, value);
      return AttrValue::Float(static_cast<float>(v));
    }
    case AttrKind::kBool: return AttrValue::Bool(PyObject_IsTrue(value.ptr()) == 1);
    case AttrKind::kType: return AttrValue::Type(ToDType(value));
    case AttrKind::kShape: return ShapeAttr(def, value, space);
    case AttrKind::kTensor:
      return AttrValue::OfTensor(&space->tensors.emplace_back(
          ToTensor(value, DType::kInvalid, context.account(), fmt::format("attribute '{}'", def.name))));
    default: Throw(PyExc_NotImplementedError, fmt::format("attribute '{}' is a {}, which eager calls of Tare do not take",
                                                          def.name, AttrKindName(def.kind)));
  }
}

AttrValue ToAttr(EagerContext& context, const AttrDef& def, nb::handle value, AttrSpace* space) {
  if (!def.is_list) return SingleAttr(context, def, value, space);
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) WrongAttr(def, value);
  std::vector<AttrValue> items;
  for (nb::handle item : value) items.push_back(SingleAttr(context, def, item, space));
  return AttrValue::List(def.kind, space->lists.emplace_back(std::move(items)));
}

// The inputs of one call, grouped by argument; dtypes that attributes share flow from the arguments that
// have one to those that are Python numbers.
class InputReader {
 public:
  InputReader(EagerContext& context, const OpDef& def, nb::dict attrs, nb::list values)
      : context_(context), def_(def), values_(values) {
    for (const AttrDef& a : def.attrs) {
      if (a.kind != AttrKind::kType || a.is_list) continue;
      nb::str name(a.name.data(), a.name.size());
      if (attrs.contains(name)) types_[a.name] = ToDType(attrs[name]);
    }
  }

  void AddTo(EagerOp* op) {
    if (values_.size() != def_.inputs.size()) {
      Throw(PyExc_TypeError, fmt::format("{} takes {} inputs, got {}", def_.name, def_.inputs.size(), values_.size()));
    }
    for (size_t i = 0; i < def_.inputs.size(); ++i) FindTypes(def_.inputs[i], values_[i]);
    for (size_t i = 0; i < def_.inputs.size(); ++i) {
      const ArgDef& arg = def_.inputs[i];
      if (!IsList(arg)) {
        Check(op->AddInput(Read(arg, values_[i])));
        continue;
      }
      std::vector<Tensor> tensors;
      for (nb::handle item : Items(arg, values_[i])) tensors.push_back(Read(arg, item));
      Check(op->AddInputList(tensors));
    }
  }

 private:
  static bool IsList(const ArgDef& arg) { return !arg.number_attr.empty() || !arg.type_list_attr.empty(); }

  nb::list Items(const ArgDef& arg, nb::handle value) const {
    if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) {
      Throw(PyExc_TypeError, fmt::format("{}: '{}' is a list of tensors", def_.name, arg.name));
    }
    return nb::list(value);
  }

  void FindTypes(const ArgDef& arg, nb::handle value) {
    if (arg.type_attr.empty() || types_.contains(arg.type_attr)) return;
    auto look = [&](nb::handle v) {
      if (HasDType(v) && !types_.contains(arg.type_attr)) {
        types_[arg.type_attr] = ToTensor(v, DType::kInvalid, context_.account(), arg.name).dtype();
      }
    };
    if (!IsList(arg)) return look(value);
    for (nb::handle item : Items(arg, value)) look(item);
  }

  Tensor Read(const ArgDef& arg, nb::handle value) {
    DType want = arg.type;
    auto known = types_.find(arg.type_attr);
    if (!arg.type_attr.empty() && known != types_.end()) want = known->second;
    Tensor t = ToTensor(value, want, context_.account(), fmt::format("{}: input '{}'", def_.name, arg.name));
    if (!arg.type_attr.empty()) types_.emplace(arg.type_attr, t.dtype());
    return t;
  }

  EagerContext& context_;
  const OpDef& def_;
  nb::list values_;
  std::map<std::string_view, DType> types_;
};

nb::object GroupOutputs(const OpDef& def, Attrs attrs, std::vector<Tensor> outputs) {
  nb::list groups;
  size_t next = 0;
  for (const ArgDef& arg : def.outputs) {
    if (arg.number_attr.empty() && arg.type_list_attr.empty()) {
      if (next < outputs.size()) groups.append(FromTensor(std::move(outputs[next++])));
      continue;
    }
    // An argument that is the only list takes what the others leave.
    auto count = ArgCount(def, arg, attrs);
    size_t n = count.ok() ? static_cast<size_t>(*count) : outputs.size() - next;
    nb::list list;
    for (size_t i = 0; i < n && next < outputs.size(); ++i) list.append(FromTensor(std::move(outputs[next++])));
    groups.append(list);
  }
  return groups;
}

nb::object Execute(const std::string& name, nb::list inputs, nb::dict attrs) {
  std::shared_ptr<EagerContext> context = TheContext();
  EagerOp op = Check(EagerOp::Make(*context, name));
  const OpDef& def = op.def();
  AttrSpace space;
  AttrBuilder given;
  for (auto [key, value] : attrs) {
    std::string attr = nb::cast<std::string>(key);
    const AttrDef* a = def.FindAttrDef(attr);
    if (!a) Throw(PyExc_TypeError, fmt::format("{} has no attribute '{}'", name, attr));
    AttrValue v = ToAttr(*context, *a, value, &space);
    op.SetAttr(a->name, v);
    given.Set(a->name, v);
  }
  InputReader(*context, def, attrs, inputs).AddTo(&op);
  auto execute = [&] {
    nb::gil_scoped_release release;
    return op.Execute();
  };
  auto outputs = execute();
  if (!outputs.ok()) Raise(outputs.status());
  return GroupOutputs(def, given.attrs(), *std::move(outputs));
}

std::string TypeOf(const ArgDef& a) {
  if (!a.type_list_attr.empty()) return fmt::format("list of {}", a.type_list_attr);
  std::string type(a.type_attr.empty() ? NumpyName(a.type) : a.type_attr);
  return a.number_attr.empty() ? type : fmt::format("list of {}", type);
}

nb::list ArgList(std::span<const ArgDef> args) {
  nb::list list;
  for (const ArgDef& a : args) list.append(nb::make_tuple(std::string(a.name), TypeOf(a)));
  return list;
}

// Whether inputs decide the attribute, so that a caller need not give it.
bool Deduced(const OpDef& def, std::string_view attr) {
  return std::ranges::any_of(def.inputs, [&](const ArgDef& a) {
    return a.type_attr == attr || a.number_attr == attr || a.type_list_attr == attr;
  });
}

// (inputs, attributes, outputs, whether Tare runs it), or None.
nb::object Describe(const std::string& name) {
  std::shared_ptr<EagerContext> context = TheContext();
  const OpDef* def = context->ops().Find(name);
  if (!def) return nb::none();
  nb::list attrs;
  for (const AttrDef& a : def->attrs) {
    std::string kind = std::string(a.is_list ? "list of " : "") + std::string(AttrKindName(a.kind));
    attrs.append(nb::make_tuple(std::string(a.name), kind, a.has_default ? nb::cast(ToString(a.default_value)) : nb::none(),
                                Deduced(*def, a.name)));
  }
  return nb::make_tuple(ArgList(def->inputs), attrs, ArgList(def->outputs), context->kernels().Find(name) != nullptr);
}

}  // namespace

void BindEager(nb::module_& m) {
  m.def("op_names", [] {
    nb::list names;
    for (const OpRow& row : OpTable()) names.append(std::string(row.name));
    return names;
  });
  m.def("describe_op", &Describe);
  m.def("execute", &Execute);
}

}  // namespace tare::python
