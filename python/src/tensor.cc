// tare.Tensor: what calls give back. It shares its buffer with whoever asks for it.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "common.h"

namespace tare::python {
namespace {

struct DTypeNames {
  DType dtype;
  std::string_view numpy;  // as NumPy and tf.DType.name spell it
  const char* format;      // of the buffer protocol; null where there is none
};
// 'l' rather than 'q': NumPy has two types of 64 bits, and int64 is this one.
constexpr DTypeNames kNames[] = {
    {DType::kFloat, "float32", "f"},      {DType::kDouble, "float64", "d"},  {DType::kInt32, "int32", "i"},
    {DType::kUint8, "uint8", "B"},        {DType::kInt16, "int16", "h"},     {DType::kInt8, "int8", "b"},
    {DType::kString, "string", nullptr},  {DType::kComplex64, "complex64", "Zf"},
    {DType::kInt64, "int64", "l"},        {DType::kBool, "bool", "?"},       {DType::kQint8, "qint8", "b"},
    {DType::kQuint8, "quint8", "B"},      {DType::kQint32, "qint32", "i"},   {DType::kBfloat16, "bfloat16", "H"},
    {DType::kQint16, "qint16", "h"},      {DType::kQuint16, "quint16", "H"}, {DType::kUint16, "uint16", "H"},
    {DType::kComplex128, "complex128", "Zd"}, {DType::kHalf, "float16", "e"}, {DType::kUint32, "uint32", "I"},
    {DType::kUint64, "uint64", "L"},      {DType::kResource, "resource", nullptr},
    {DType::kVariant, "variant", nullptr},
};

const DTypeNames* NamesOf(DType t) {
  for (const DTypeNames& n : kNames) {
    if (n.dtype == t) return &n;
  }
  return nullptr;
}

// --- the buffer protocol ---

struct Exported {
  Py_ssize_t shape[kMaxRank], strides[kMaxRank];
};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  Tensor& t = *nb::inst_ptr<Tensor>(self);
  const DTypeNames* names = NamesOf(t.dtype());
  if (!names || !names->format) {
    PyErr_Format(PyExc_BufferError, "a tensor of %s has no buffer",
                 names ? std::string(names->numpy).c_str() : "this dtype");
    return -1;
  }
  const bool writable = t.may_reuse();
  if ((flags & PyBUF_WRITABLE) && !writable) {
    PyErr_SetString(PyExc_BufferError, "the tensor shares its bytes: it is read-only");
    return -1;
  }
  auto* exported = new Exported;
  Py_ssize_t stride = static_cast<Py_ssize_t>(DTypeSize(t.dtype()));
  view->itemsize = stride;
  for (int i = t.rank(); i-- > 0;) {
    exported->shape[i] = t.dim(i);
    exported->strides[i] = stride;
    stride *= t.dim(i);
  }
  view->buf = t.mutable_raw();
  view->len = static_cast<Py_ssize_t>(t.bytes());
  view->readonly = !writable;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(names->format) : nullptr;
  view->ndim = t.rank();
  view->shape = (flags & PyBUF_ND) ? exported->shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = exported;
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

PyType_Slot kSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
                        {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer)},
                        {0, nullptr}};

// --- lists ---

PyObject* Bytes(std::string_view s) {
  return PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
}

nb::object Element(const Tensor& t, int64_t i) {
  PyObject* o = nullptr;
  auto at = [&]<class T>(const T*) -> const T& { return t.data<T>()[i]; };
  switch (t.dtype()) {
    case DType::kFloat: o = PyFloat_FromDouble(at((float*)nullptr)); break;
    case DType::kDouble: o = PyFloat_FromDouble(at((double*)nullptr)); break;
    case DType::kHalf: o = PyFloat_FromDouble(static_cast<float>(at((Half*)nullptr))); break;
    case DType::kBfloat16: o = PyFloat_FromDouble(static_cast<float>(at((BFloat16*)nullptr))); break;
    case DType::kBool: o = PyBool_FromLong(at((bool*)nullptr)); break;
    case DType::kString: o = Bytes(at((StringCell*)nullptr).view()); break;
    case DType::kComplex64: {
      auto c = at((std::complex<float>*)nullptr);
      o = PyComplex_FromDoubles(c.real(), c.imag());
      break;
    }
    case DType::kComplex128: {
      auto c = at((std::complex<double>*)nullptr);
      o = PyComplex_FromDoubles(c.real(), c.imag());
      break;
    }
    case DType::kUint64: o = PyLong_FromUnsignedLongLong(at((uint64_t*)nullptr)); break;
    case DType::kQint8: o = PyLong_FromLong(static_cast<const int8_t*>(t.raw())[i]); break;
    case DType::kQuint8: o = PyLong_FromLong(static_cast<const uint8_t*>(t.raw())[i]); break;
    case DType::kQint16: o = PyLong_FromLong(static_cast<const int16_t*>(t.raw())[i]); break;
    case DType::kQuint16: o = PyLong_FromLong(static_cast<const uint16_t*>(t.raw())[i]); break;
    case DType::kQint32: o = PyLong_FromLong(static_cast<const int32_t*>(t.raw())[i]); break;
    default:
      Check(ForType(Integers{}, t.dtype(), [&]<class T>() -> Status {
        o = PyLong_FromLongLong(static_cast<long long>(t.data<T>()[i]));
        return OkStatus();
      }));
  }
  if (!o) throw nb::python_error();
  return nb::steal(o);
}

nb::object ToList(const Tensor& t, int dim, int64_t* next) {
  if (dim == t.rank()) return Element(t, (*next)++);
  nb::list list;
  for (int64_t i = 0; i < t.dim(dim); ++i) list.append(ToList(t, dim + 1, next));
  return list;
}

nb::object ToNestedList(const Tensor& t) {
  int64_t next = 0;
  return ToList(t, 0, &next);
}

nb::object FlatList(const Tensor& t) {
  return ToNestedList(t.Reshaped(Shape{t.num_elements()}));
}

// --- NumPy and DLPack ---

nb::object ToNumpy(nb::handle_t<Tensor> self) {
  const Tensor& t = *nb::inst_ptr<Tensor>(self);
  return nb::module_::import_("tare._numpy").attr("from_tensor")(self, std::string(NumpyName(t.dtype())));
}

nb::dlpack::dtype DLPackType(DType t) {
  using Code = nb::dlpack::dtype_code;
  Code code;
  switch (t) {
    case DType::kFloat: case DType::kDouble: case DType::kHalf: code = Code::Float; break;
    case DType::kBfloat16: code = Code::Bfloat; break;
    case DType::kComplex64: case DType::kComplex128: code = Code::Complex; break;
    case DType::kBool: code = Code::Bool; break;
    case DType::kUint8: case DType::kUint16: case DType::kUint32: case DType::kUint64: code = Code::UInt; break;
    case DType::kInt8: case DType::kInt16: case DType::kInt32: case DType::kInt64: code = Code::Int; break;
    default: Throw(PyExc_BufferError, "DLPack has no type for " + std::string(NumpyName(t)));
  }
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(DTypeSize(t) * 8), 1};
}

nb::object ToDLPack(nb::handle_t<Tensor> self, nb::kwargs kwargs) {
  Tensor& t = *nb::inst_ptr<Tensor>(self);
  size_t shape[kMaxRank];
  for (int i = 0; i < t.rank(); ++i) shape[i] = static_cast<size_t>(t.dim(i));
  nb::ndarray<> array(t.mutable_raw(), static_cast<size_t>(t.rank()), shape, self, nullptr, DLPackType(t.dtype()));
  nb::object exporter = nb::cast(array);
  return exporter.attr("__dlpack__")(**kwargs);
}

std::string Repr(nb::handle_t<Tensor> self) {
  const Tensor& t = *nb::inst_ptr<Tensor>(self);
  std::string text = fmt::format("<tare.Tensor: {} {}", NumpyName(t.dtype()), t.shape().ToString());
  const bool readable = IsPlain(t.dtype()) || t.dtype() == DType::kString;
  if (readable && t.num_elements() <= 20) text += " " + std::string(nb::repr(ToNestedList(t)).c_str());
  return text + ">";
}

nb::object Item(const Tensor& t) {
  if (t.num_elements() != 1) {
    Throw(PyExc_ValueError, fmt::format("a tensor of {} elements is not one number", t.num_elements()));
  }
  return Element(t, 0);
}

}  // namespace

std::string_view NumpyName(DType t) {
  const DTypeNames* n = NamesOf(t);
  return n ? n->numpy : DTypeName(t);
}

DType ToDType(nb::handle h) {
  if (h.is_none()) return DType::kInvalid;
  if (nb::hasattr(h, "enum")) return DTypeFromWire(nb::cast<int64_t>(h.attr("enum")));
  nb::object text = nb::borrow(h);
  if (!nb::isinstance<nb::str>(h)) {
    for (const char* attribute : {"name", "__name__"}) {
      if (nb::hasattr(h, attribute)) {
        text = h.attr(attribute);
        break;
      }
    }
  }
  if (nb::isinstance<nb::str>(text)) {
    std::string_view name = nb::cast<nb::str>(text).c_str();
    for (const DTypeNames& n : kNames) {
      if (n.numpy == name) return n.dtype;
    }
    if (DType t = DTypeFromName(name); t != DType::kInvalid) return t;
    if (name == "object" || name == "str" || name == "bytes" || name.starts_with("str")) return DType::kString;
    if (name == "int") return DType::kInt32;
  }
  Throw(PyExc_TypeError, std::string("not a dtype: ") + nb::repr(h).c_str());
}

nb::object FromDType(DType t) {
  return nb::module_::import_("tare.dtypes").attr("of_enum")(static_cast<int>(t));
}

nb::tuple FromShape(const Shape& s) {
  nb::list dims;
  for (int64_t d : s.dims()) dims.append(d);
  return nb::tuple(dims);
}

nb::object FromShape(const PartialShape& s) {
  if (s.unknown_rank) return nb::none();
  nb::list dims;
  for (int64_t d : s.dims) dims.append(d < 0 ? nb::none() : nb::cast(d));
  return nb::tuple(dims);
}

nb::object MakeSpec(std::string_view name, DType dtype, const PartialShape& shape) {
  return nb::module_::import_("tare.dtypes").attr("TensorSpec")(
      FromShape(shape), FromDType(dtype), nb::str(name.data(), name.size()));
}

nb::object FromTensor(Tensor t) { return nb::cast(std::move(t)); }

void BindTensor(nb::module_& m) {
  nb::class_<Tensor>(m, "Tensor", nb::type_slots(kSlots), nb::is_weak_referenceable(),
                     "A tensor: dtype, shape and a share of a buffer, which it keeps alive.\n\n"
                     "What calls return. Read it by numpy() (shares the bytes), tolist(), the buffer protocol or\n"
                     "DLPack. Strings are bytes. Immutable; outlives the model it came from.")
      .def_prop_ro("shape", [](const Tensor& t) { return FromShape(t.shape()); }, "The dimensions, a tuple of int.")
      .def_prop_ro("dtype", [](const Tensor& t) { return FromDType(t.dtype()); }, "A tare.DType.")
      .def_prop_ro("ndim", [](const Tensor& t) { return t.rank(); })
      .def_prop_ro("size", [](const Tensor& t) { return t.num_elements(); })
      .def_prop_ro("nbytes", [](const Tensor& t) { return t.bytes(); })
      .def("tolist", &ToNestedList, "Python numbers (or bytes) in nested lists; needs no NumPy.")
      .def("_flat", &FlatList)
      .def("numpy", &ToNumpy,
           "A NumPy array over the same bytes; a NumPy scalar, or bytes, for a tensor without dimensions.\n\n"
           "The array is read-only where the bytes are shared. Strings give an object array of bytes; bfloat16\n"
           "needs ml_dtypes, and without it gives the bits as uint16. TypeError for a resource or variant.")
      .def("__array__",
           [](nb::handle_t<Tensor> self, nb::object dtype, nb::object copy) {
             return nb::module_::import_("tare._numpy").attr("as_array")(
                 self, std::string(NumpyName(nb::inst_ptr<Tensor>(self)->dtype())), dtype, copy);
           },
           nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__", &ToDLPack)
      .def("__dlpack_device__", [](const Tensor&) { return nb::make_tuple(1, 0); })
      .def("__len__", [](const Tensor& t) {
        if (t.rank() == 0) Throw(PyExc_TypeError, "a scalar tensor has no len()");
        return t.dim(0);
      })
      .def("__getitem__", [](nb::handle_t<Tensor> self, nb::object key) -> nb::object { return ToNumpy(self)[key]; })
      .def("__iter__", [](nb::handle_t<Tensor> self) -> nb::object { return nb::iter(ToNumpy(self)); })
      .def("item", &Item, "The only element, as a Python number or bytes. ValueError if there are more.")
      .def("__float__", [](const Tensor& t) -> nb::object { return nb::steal(PyNumber_Float(Item(t).ptr())); })
      .def("__int__", [](const Tensor& t) -> nb::object { return nb::steal(PyNumber_Long(Item(t).ptr())); })
      .def("__bool__", [](const Tensor& t) { return nb::cast<bool>(nb::steal(PyBool_FromLong(PyObject_IsTrue(Item(t).ptr())))); })
      .def("__repr__", &Repr);
  m.def("tensor", [](nb::object value, nb::object dtype) {
    return ToTensor(value, ToDType(dtype), TheContext()->account(), "value");
  }, nb::arg("value"), nb::arg("dtype") = nb::none());
}

}  // namespace tare::python
