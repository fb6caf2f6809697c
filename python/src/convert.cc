// Python values to tensors, by TensorFlow's rules: a signature's dtype decides for Python numbers; arrays
// keep theirs.
#include <nanobind/ndarray.h>

#include <cstring>

#include "common.h"

namespace tare::python {
namespace {

// Smaller arrays are copied: counting a share of them, and taking the GIL to drop it, costs more.
constexpr size_t kShareFrom = 4096;

bool IsNumpy(PyObject* o) { return std::string_view(Py_TYPE(o)->tp_name).starts_with("numpy."); }
bool IsNumpyScalar(PyObject* o) { return IsNumpy(o) && !nb::hasattr(o, "__setitem__"); }
bool IsBool(PyObject* o) {
  return PyBool_Check(o) || std::string_view(Py_TYPE(o)->tp_name).starts_with("numpy.bool");
}
bool IsText(PyObject* o) { return PyBytes_Check(o) || PyUnicode_Check(o); }
bool IsSequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

[[noreturn]] void WrongValue(PyObject* o, DType want, std::string_view what) {
  PyErr_Clear();
  Throw(PyExc_TypeError, fmt::format("{} is {}, and {} cannot become one", what, NumpyName(want),
                                     nb::repr(nb::handle(o)).c_str()));
}

// --- one Python number or string ---

// Calls `write` with the bytes of a str (as UTF-8) or of bytes.
template <class F>
bool WithText(PyObject* o, F&& write) {
  char* data;
  Py_ssize_t size;
  if (PyUnicode_Check(o)) {
    data = const_cast<char*>(PyUnicode_AsUTF8AndSize(o, &size));
    if (!data) throw nb::python_error();
  } else if (!PyBytes_Check(o) || PyBytes_AsStringAndSize(o, &data, &size) != 0) {
    return false;
  }
  write(std::string_view(data, static_cast<size_t>(size)));
  return true;
}

template <class T>
bool Write(PyObject* o, T* to) {
  if constexpr (std::is_same_v<T, StringCell>) {
    return WithText(o, [&](std::string_view s) { to->Assign(s); });
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!IsBool(o)) return false;
    *to = PyObject_IsTrue(o) == 1;
    return true;
  } else {
    if (IsBool(o) || IsText(o)) return false;
    if constexpr (std::is_integral_v<T>) {
      if (PyFloat_Check(o)) return false;
      nb::object index = nb::steal(PyNumber_Index(o));
      if (!index.is_valid()) return false;
      if constexpr (std::is_same_v<T, uint64_t>) {
        *to = PyLong_AsUnsignedLongLong(index.ptr());
        return !PyErr_Occurred();
      } else {
        long long v = PyLong_AsLongLong(index.ptr());
        *to = static_cast<T>(v);
        return !PyErr_Occurred() && static_cast<long long>(*to) == v;
      }
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      Py_complex c = PyComplex_AsCComplex(o);
      *to = T(static_cast<typename T::value_type>(c.real), static_cast<typename T::value_type>(c.imag));
      return !PyErr_Occurred();
    } else {
      double v = PyFloat_AsDouble(o);
      if constexpr (std::is_same_v<T, double>) *to = v;
      else *to = T(static_cast<float>(v));
      return !PyErr_Occurred();
    }
  }
}

// --- nested lists ---

// The shape along first elements; whether all agree is seen when elements are written.
Shape ShapeOf(PyObject* value, std::string_view what) {
  Shape shape;
  while (IsSequence(value)) {
    if (shape.rank() == kMaxRank) Throw(PyExc_ValueError, fmt::format("{} is nested too deeply", what));
    Py_ssize_t n = PySequence_Fast_GET_SIZE(value);
    shape.Append(n);
    if (n == 0) break;
    value = PySequence_Fast_GET_ITEM(value, 0);
  }
  return shape;
}

template <class F>
void ForLeaves(PyObject* value, const Shape& shape, int dim, std::string_view what, F& leaf) {
  if (dim == shape.rank()) {
    if (IsSequence(value)) Throw(PyExc_ValueError, fmt::format("{}: its lists differ in depth", what));
    leaf(value);
    return;
  }
  if (!IsSequence(value) || PySequence_Fast_GET_SIZE(value) != shape[dim]) {
    Throw(PyExc_ValueError, fmt::format("{}: its lists differ in length", what));
  }
  for (Py_ssize_t i = 0; i < shape[dim]; ++i) {
    // A leaf may run Python code, which may change the list.
    if (i >= PySequence_Fast_GET_SIZE(value)) Throw(PyExc_RuntimeError, "the list changed while it was read");
    nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(value, i));
    ForLeaves(item.ptr(), shape, dim + 1, what, leaf);
  }
}

// As tf.constant: bool, int32 (int64 where a number needs it), float32, complex128, string.
DType InferType(PyObject* value, const Shape& shape, std::string_view what) {
  int rank = 0;  // 1 bool, 2 int32, 3 int64, 4 float, 5 complex
  bool text = false;
  auto look = [&](PyObject* o) {
    if (IsText(o)) {
      text = true;
    } else if (IsBool(o)) {
      rank = std::max(rank, 1);
    } else if (PyComplex_Check(o)) {
      rank = 5;
    } else if (PyIndex_Check(o)) {
      int overflow = 0;
      nb::object index = nb::steal(PyNumber_Index(o));
      if (!index.is_valid()) throw nb::python_error();
      long long v = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
      rank = std::max(rank, overflow == 0 && v == static_cast<int32_t>(v) ? 2 : 3);
    } else {
      rank = std::max(rank, 4);
    }
  };
  if (shape.num_elements() > 0) ForLeaves(value, shape, 0, what, look);
  if (text) return DType::kString;
  constexpr DType kTypes[] = {DType::kFloat, DType::kBool,  DType::kInt32,
                              DType::kInt64, DType::kFloat, DType::kComplex128};
  return kTypes[rank];
}

Tensor FromNested(PyObject* value, DType dtype, const Ref<Account>& account, std::string_view what) {
  Shape shape = ShapeOf(value, what);
  if (dtype == DType::kInvalid) dtype = InferType(value, shape, what);
  Tensor t = Check(Tensor::Make(account, dtype, shape));
  if (shape.num_elements() == 0) return t;
  auto fill = [&]<class T>() -> Status {
    T* to = t.mutable_data<T>();
    auto leaf = [&](PyObject* o) {
      if (!Write(o, to)) WrongValue(o, dtype, what);
      ++to;
    };
    ForLeaves(value, shape, 0, what, leaf);
    return OkStatus();
  };
  Check(ForType(Join<Numbers, Types<bool, StringCell>>{}, dtype, fill));
  return t;
}

// --- arrays ---

[[noreturn]] void WrongArray(DType is, DType want, std::string_view what) {
  Throw(PyExc_TypeError, fmt::format("{} is an array of {}, expected {}", what, NumpyName(is), NumpyName(want)));
}

// Quantized numbers have no type in NumPy: their integers stand for them.
bool StandsFor(DType is, DType want) {
  return is == want || (is == DType::kInt8 && want == DType::kQint8) ||
         (is == DType::kUint8 && want == DType::kQuint8) || (is == DType::kInt16 && want == DType::kQint16) ||
         (is == DType::kUint16 && want == DType::kQuint16) || (is == DType::kInt32 && want == DType::kQint32);
}

// A struct code of the native byte order and its size.
DType FormatType(const char* format, Py_ssize_t size) {
  if (!format) return DType::kUint8;
  if (*format == '>' || *format == '!') {
    if (size > 1) return DType::kInvalid;
    ++format;
  } else if (*format == '@' || *format == '=' || *format == '<') {
    ++format;
  }
  constexpr DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
  constexpr DType kUnsigned[] = {DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64};
  std::string_view code = format;
  if (code == "Zf") return DType::kComplex64;
  if (code == "Zd") return DType::kComplex128;
  if (code.size() != 1) return DType::kInvalid;
  const int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  switch (code[0]) {
    case '?': return DType::kBool;
    case 'e': return DType::kHalf;
    case 'f': return DType::kFloat;
    case 'd': return DType::kDouble;
    case 'b': case 'h': case 'i': case 'l': case 'q': case 'n': return kSigned[log];
    case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N': return kUnsigned[log];
    default: return DType::kInvalid;
  }
}

// The last share may go on any thread, with or without the GIL.
void ReleaseView(void*, size_t, void* arg) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  auto* view = static_cast<Py_buffer*>(arg);
  PyBuffer_Release(view);
  delete view;
  PyGILState_Release(state);
}

struct View {
  Py_buffer buffer{};
  bool held = false;
  ~View() {
    if (held) PyBuffer_Release(&buffer);
  }
};

Tensor FromView(View& view, DType dtype, const Ref<Account>& account, std::string_view what) {
  Py_buffer& b = view.buffer;
  std::array<int64_t, kMaxRank> dims;
  if (b.ndim > kMaxRank) Throw(PyExc_ValueError, fmt::format("{} has {} dimensions", what, b.ndim));
  for (int i = 0; i < b.ndim; ++i) dims[i] = b.shape[i];
  Shape shape = Check(Shape::Make({dims.data(), static_cast<size_t>(b.ndim)}));
  const bool contiguous = PyBuffer_IsContiguous(&b, 'C');
  const bool aligned = reinterpret_cast<uintptr_t>(b.buf) % static_cast<uintptr_t>(b.itemsize) == 0;
  if (contiguous && aligned && static_cast<size_t>(b.len) >= kShareFrom) {
    auto* kept = new Py_buffer(b);
    // shape and strides may lie in the struct itself, which now lies elsewhere; nobody reads them again.
    view.held = false;
    return Tensor(dtype, shape, Buffer::Foreign(kept->buf, static_cast<size_t>(kept->len), ReleaseView, kept));
  }
  Tensor t = Check(Tensor::Make(account, dtype, shape));
  if (b.len > 0 && PyBuffer_ToContiguous(t.mutable_raw(), &b, b.len, 'C') != 0) throw nb::python_error();
  return t;
}

// Arrays of objects and of fixed-width strings, and bfloat16, which the buffer protocol cannot say.
Tensor FromOddArray(nb::handle value, DType want, const Ref<Account>& account, std::string_view what) {
  if (!nb::hasattr(value, "dtype")) {
    Throw(PyExc_TypeError, fmt::format("{}: no tensor can be made of {}", what, nb::repr(value.type()).c_str()));
  }
  std::string name = nb::str(value.attr("dtype").attr("name")).c_str();
  if (name == "bfloat16") {
    if (want != DType::kInvalid && want != DType::kBfloat16) WrongArray(DType::kBfloat16, want, what);
    nb::object array = nb::hasattr(value, "numpy") ? value.attr("numpy")() : nb::borrow(value);
    Tensor bits = ToTensor(array.attr("view")("uint16"), DType::kUint16, account, what);
    return Tensor(DType::kBfloat16, bits.shape(), bits.buffer(), bits.mutable_raw());
  }
  nb::object kind = value.attr("dtype").attr("kind");
  std::string_view k = nb::cast<nb::str>(kind).c_str();
  if (k != "O" && k != "S" && k != "U" && k != "T") {
    Throw(PyExc_TypeError, fmt::format("{} is an array of {}, which no tensor holds in this byte order", what, name));
  }
  if (want != DType::kInvalid && want != DType::kString) WrongArray(DType::kString, want, what);
  Shape shape;
  for (nb::handle d : nb::borrow<nb::tuple>(value.attr("shape"))) shape.Append(nb::cast<int64_t>(d));
  nb::object flat = value.attr("reshape")(-1).attr("tolist")();
  Tensor t = FromNested(flat.ptr(), DType::kString, account, what);
  return t.Reshaped(shape);
}

Tensor FromDLPack(nb::handle value, DType want, const Ref<Account>& account, std::string_view what);

Tensor FromArray(nb::handle value, DType want, const Ref<Account>& account, std::string_view what) {
  View view;
  if (PyObject_GetBuffer(value.ptr(), &view.buffer, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return FromOddArray(value, want, account, what);
  }
  view.held = true;
  DType dtype = FormatType(view.buffer.format, view.buffer.itemsize);
  if (dtype == DType::kInvalid) return FromOddArray(value, want, account, what);
  if (want != DType::kInvalid && !StandsFor(dtype, want)) WrongArray(dtype, want, what);
  return FromView(view, want == DType::kInvalid ? dtype : want, account, what);
}

DType TypeOfDLPack(nb::dlpack::dtype t) {
  using Code = nb::dlpack::dtype_code;
  constexpr DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
  constexpr DType kUnsigned[] = {DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64};
  const int log = std::countr_zero(static_cast<unsigned>(t.bits)) - 3;
  if (t.lanes != 1 || log < 0 || log > 4) return DType::kInvalid;
  switch (static_cast<Code>(t.code)) {
    case Code::Int: return log < 4 ? kSigned[log] : DType::kInvalid;
    case Code::UInt: return log < 4 ? kUnsigned[log] : DType::kInvalid;
    case Code::Float: return log == 1 ? DType::kHalf : log == 2 ? DType::kFloat : log == 3 ? DType::kDouble : DType::kInvalid;
    case Code::Bfloat: return log == 1 ? DType::kBfloat16 : DType::kInvalid;
    case Code::Complex: return log == 3 ? DType::kComplex64 : log == 4 ? DType::kComplex128 : DType::kInvalid;
    case Code::Bool: return DType::kBool;
    default: return DType::kInvalid;
  }
}

using ForeignArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

void ReleaseDLPack(void*, size_t, void* arg) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  delete static_cast<ForeignArray*>(arg);
  PyGILState_Release(state);
}

Tensor FromDLPack(nb::handle value, DType want, const Ref<Account>&, std::string_view what) {
  ForeignArray array;
  // Strided arrays are copied by nanobind.
  if (!nb::try_cast(value, array)) {
    Throw(PyExc_TypeError, fmt::format("{}: its DLPack tensor is not one in CPU memory", what));
  }
  DType dtype = TypeOfDLPack(array.dtype());
  if (dtype == DType::kInvalid) Throw(PyExc_TypeError, fmt::format("{}: no tensor has its DLPack type", what));
  if (want != DType::kInvalid && !StandsFor(dtype, want)) WrongArray(dtype, want, what);
  std::array<int64_t, kMaxRank> dims;
  if (array.ndim() > kMaxRank) Throw(PyExc_ValueError, fmt::format("{} has {} dimensions", what, array.ndim()));
  for (size_t i = 0; i < array.ndim(); ++i) dims[i] = static_cast<int64_t>(array.shape(i));
  Shape shape = Check(Shape::Make({dims.data(), array.ndim()}));
  void* data = const_cast<void*>(static_cast<const void*>(array.data()));
  auto* kept = new ForeignArray(std::move(array));
  return Tensor(want == DType::kInvalid ? dtype : want, shape,
                Buffer::Foreign(data, static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype), ReleaseDLPack, kept));
}

bool IsNumber(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || IsText(o) || PyComplex_Check(o) || PyBool_Check(o);
}

// A list whose elements are arrays is an array to NumPy.
bool HoldsArrays(PyObject* value) {
  while (IsSequence(value) && PySequence_Fast_GET_SIZE(value) > 0) value = PySequence_Fast_GET_ITEM(value, 0);
  return !IsNumber(value) && !IsSequence(value) && !IsNumpyScalar(value) &&
         (PyObject_CheckBuffer(value) || nb::hasattr(value, "__array__"));
}

}  // namespace

bool HasDType(nb::handle value) {
  PyObject* o = value.ptr();
  if (nb::isinstance<Tensor>(value)) return true;
  if (IsNumber(o) && !IsNumpy(o)) return false;
  if (IsSequence(o)) return HoldsArrays(o);
  return true;
}

Tensor ToTensor(nb::handle value, DType dtype, const Ref<Account>& account, std::string_view what) {
  PyObject* o = value.ptr();
  if (nb::isinstance<Tensor>(value)) {
    const Tensor& t = *nb::inst_ptr<Tensor>(value);
    if (dtype != DType::kInvalid && t.dtype() != dtype) {
      Throw(PyExc_TypeError,
            fmt::format("{} is a tensor of {}, expected {}", what, NumpyName(t.dtype()), NumpyName(dtype)));
    }
    return t;
  }
  if (IsNumber(o)) {
    // Without a dtype asked for, a NumPy scalar keeps its own.
    if (dtype == DType::kInvalid && IsNumpy(o) && !IsText(o)) return FromArray(value, dtype, account, what);
    return FromNested(o, dtype, account, what);
  }
  if (IsSequence(o)) {
    if (!HoldsArrays(o)) return FromNested(o, dtype, account, what);
    return FromArray(nb::module_::import_("numpy").attr("array")(value), dtype, account, what);
  }
  if (dtype != DType::kInvalid && IsNumpyScalar(o)) return FromNested(o, dtype, account, what);
  if (dtype == DType::kString && PyByteArray_Check(o)) {
    return FromNested(nb::steal(PyBytes_FromObject(o)).ptr(), dtype, account, what);
  }
  if (PyObject_CheckBuffer(o)) return FromArray(value, dtype, account, what);
  if (nb::hasattr(value, "__dlpack__")) return FromDLPack(value, dtype, account, what);
  if (nb::hasattr(value, "__array__")) return FromArray(value.attr("__array__")(), dtype, account, what);
  if (dtype != DType::kInvalid && (PyIndex_Check(o) || nb::hasattr(value, "__float__"))) {
    return FromNested(o, dtype, account, what);
  }
  Throw(PyExc_TypeError, fmt::format("{}: no tensor can be made of {}", what, nb::repr(value).c_str()));
}

}  // namespace tare::python
