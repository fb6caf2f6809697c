// tare.load, Model, Signature, Receipt.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "common.h"

namespace tare::python {
namespace {

struct LoadedModel {
  std::shared_ptr<EagerContext> context;
  std::unique_ptr<Model> model;
  std::string path;
  ~LoadedModel() {
    model.reset();
    PruneAccounts();
  }
};

// Inputs that share foreign memory are kept until the GIL is ours again, where dropping them is cheap.
class Inputs {
 public:
  explicit Inputs(size_t n) : tensors_(n) {}
  void Set(size_t i, Tensor t) {
    if (t.buffer() && !t.buffer()->owned()) kept_.push_back(t);
    tensors_[i] = std::move(t);
  }
  std::vector<Tensor> Take() { return std::move(tensors_); }

 private:
  std::vector<Tensor> tensors_, kept_;
};

Result<std::vector<Tensor>> RunWithoutGil(Model& model, const Signature& s, Inputs& inputs) {
  nb::gil_scoped_release release;
  return model.Run(s, inputs.Take());
}

// A signature of a model, which it keeps loaded.
class PySignature {
 public:
  PySignature(std::shared_ptr<LoadedModel> owner, const Signature& s) : owner_(std::move(owner)), signature_(s) {
    for (const SignaturePort& p : s.inputs) inputs_.push_back(Intern(p.name));
    for (const SignaturePort& p : s.outputs) outputs_.push_back(Intern(p.name));
    for (const SignaturePort& p : s.inputs) labels_.push_back(fmt::format("signature '{}': input '{}'", s.name, p.name));
  }

  nb::object Call(const nb::args& args, const nb::kwargs& kwargs) const {
    Model& model = *owner_->model;
    Inputs inputs(inputs_.size());
    Fill(args, kwargs, model, &inputs);
    auto outputs = RunWithoutGil(model, signature_, inputs);
    if (!outputs.ok()) Raise(outputs.status());
    nb::object dict = nb::steal(PyDict_New());
    for (size_t i = 0; i < outputs->size(); ++i) {
      nb::object t = FromTensor(std::move((*outputs)[i]));
      if (PyDict_SetItem(dict.ptr(), outputs_[i].ptr(), t.ptr()) != 0) throw nb::python_error();
    }
    return dict;
  }

  const std::string& name() const { return signature_.name; }
  nb::dict Specs(const std::vector<SignaturePort>& ports) const {
    nb::dict d;
    for (const SignaturePort& p : ports) d[p.name.c_str()] = MakeSpec(p.name, p.dtype, p.shape());
    return d;
  }
  nb::dict inputs() const { return Specs(signature_.inputs); }
  nb::dict outputs() const { return Specs(signature_.outputs); }
  std::string Repr() const {
    auto list = [](const std::vector<SignaturePort>& ports) {
      std::string text;
      for (const SignaturePort& p : ports) {
        text += fmt::format("{}{}: {} {}", text.empty() ? "" : ", ", p.name, NumpyName(p.dtype), p.shape().ToString());
      }
      return text;
    };
    if (!signature_.unavailable.ok()) return fmt::format("<tare signature {}: {}>", name(), signature_.unavailable.ToString());
    return fmt::format("<tare signature {}({}) -> {}>", name(), list(signature_.inputs), list(signature_.outputs));
  }

 private:
  static nb::object Intern(const std::string& s) {
    PyObject* o = PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
    if (!o) throw nb::python_error();
    PyUnicode_InternInPlace(&o);
    return nb::steal(o);
  }

  void Fill(const nb::args& args, const nb::kwargs& kwargs, Model& model, Inputs* inputs) const {
    const Ref<Account>& account = owner_->context->account();
    auto set = [&](size_t i, nb::handle value) {
      inputs->Set(i, ToTensor(value, signature_.inputs[i].dtype, account, labels_[i]));
    };
    size_t found = args.size();
    if (found > 1 || (found == 1 && inputs_.size() != 1)) {
      Throw(PyExc_TypeError, fmt::format("signature '{}' takes its {} inputs by keyword", name(), inputs_.size()));
    }
    if (found == 1) set(0, args[0]);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      PyObject* value = PyDict_GetItemWithError(kwargs.ptr(), inputs_[i].ptr());
      if (!value) continue;
      set(i, value);
      ++found;
    }
    if (found != args.size() + kwargs.size() || (args.size() == 1 && kwargs.size() > 0)) Unknown(args, kwargs);
    (void)model;
  }

  [[noreturn]] void Unknown(const nb::args& args, const nb::kwargs& kwargs) const {
    for (auto [key, value] : kwargs) {
      bool known = false;
      for (const nb::object& i : inputs_) known |= i.equal(key);
      if (!known || args.size() > 0) {
        Throw(PyExc_TypeError, fmt::format("signature '{}' has no {}input '{}': {}", name(), known ? "further " : "",
                                           nb::str(key).c_str(), Repr()));
      }
    }
    Throw(PyExc_TypeError, "an input was given twice");
  }

  std::shared_ptr<LoadedModel> owner_;
  const Signature& signature_;
  std::vector<nb::object> inputs_, outputs_;
  std::vector<std::string> labels_;
};

class PyModel {
 public:
  explicit PyModel(std::shared_ptr<LoadedModel> m) : loaded_(std::move(m)) {
    for (const Signature& s : loaded_->model->signatures()) {
      signatures_[s.name.c_str()] = nb::cast(PySignature(loaded_, s));
    }
  }
  Model& model() const { return *loaded_->model; }
  const std::string& path() const { return loaded_->path; }
  // Read-only to the caller: signatures cannot be added.
  nb::object signatures() const { return nb::steal(PyDictProxy_New(signatures_.ptr())); }
  bool loaded() const { return !receipt_; }

  Receipt Unload(bool cancel) {
    Receipt r;
    {
      // Running calls need the GIL to end.
      nb::gil_scoped_release release;
      r = model().Unload(cancel ? Model::Running::kCancel : Model::Running::kWait);
    }
    receipt_ = std::make_shared<Receipt>(r);
    return r;
  }

  nb::list Variables() const {
    nb::list list;
    for (const VariableInfo& v : model().Variables()) {
      list.append(nb::module_::import_("tare.model").attr("Variable")(
          nb::str(v.name.c_str()), FromDType(v.dtype), FromShape(v.shape), nb::cast(this, nb::rv_policy::reference),
          nb::str(v.resource.c_str())));
    }
    return list;
  }

  std::string Repr() const {
    if (receipt_) return fmt::format("<tare.Model {} (unloaded)>", path());
    std::string text;
    for (const Signature& s : model().signatures()) text += (text.empty() ? "" : ", ") + s.name;
    return fmt::format("<tare.Model {}: signatures [{}], {} variables, {} bytes>", path(), text,
                       model().resources().variables, model().account().total());
  }

 private:
  std::shared_ptr<LoadedModel> loaded_;
  nb::dict signatures_;
  std::shared_ptr<Receipt> receipt_;
};

nb::dict ByKind(const std::array<int64_t, kKindCount>& bytes) {
  nb::dict d;
  for (size_t i = 0; i < kKindCount; ++i) {
    if (bytes[i] != 0) d[std::string(KindName(static_cast<Kind>(i))).c_str()] = bytes[i];
  }
  return d;
}

LoadOptions MakeOptions(nb::handle tags, const std::string& files, const std::string& loader, bool checksums) {
  LoadOptions options;
  if (nb::isinstance<nb::str>(tags)) options.tags = {nb::cast<std::string>(tags)};
  else if (!tags.is_none()) for (nb::handle t : tags) options.tags.push_back(nb::cast<std::string>(t));
  if (files != "map" && files != "read") Throw(PyExc_ValueError, "files must be 'map' or 'read'");
  options.files = files == "map" ? MappedFile::Mode::kMap : MappedFile::Mode::kRead;
  options.verify_checksums = checksums;
  using Loader = LoadOptions::Loader;
  if (loader == "auto") options.loader = Loader::kAuto;
  else if (loader == "objects") options.loader = Loader::kObjects;
  else if (loader == "graph") options.loader = Loader::kGraph;
  else Throw(PyExc_ValueError, "loader must be 'auto', 'objects' or 'graph'");
  return options;
}

PyModel Load(nb::object path, nb::object tags, const std::string& files, const std::string& loader, bool checksums) {
  std::string dir = nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(path));
  LoadOptions options = MakeOptions(tags, files, loader, checksums);
  auto loaded = std::make_shared<LoadedModel>();
  loaded->context = TheContext();
  loaded->path = dir;
  auto load = [&] {
    nb::gil_scoped_release release;
    return Model::Load(*loaded->context, dir, options);
  };
  loaded->model = Check(load());
  RegisterAccount(loaded->model->account());
  return PyModel(std::move(loaded));
}

void BindReceipt(nb::module_& m) {
  nb::class_<Receipt>(m, "Receipt",
                      "What unloading gave back: bytes ever charged, and bytes still held, by kind.")
      .def_ro("model", &Receipt::model, "The path it was loaded from.")
      .def_ro("peak", &Receipt::peak, "The most bytes that were charged at once.")
      .def_prop_ro("charged", [](const Receipt& r) { return ByKind(r.charged); }, "By kind, all ever charged.")
      .def_prop_ro("held", [](const Receipt& r) { return ByKind(r.held); },
                   "By kind, what is charged still: outputs the caller keeps.")
      .def_prop_ro("total_charged", &Receipt::total_charged)
      .def_prop_ro("total_held", &Receipt::total_held)
      .def("dict", [](const Receipt& r) {
        nb::dict d;
        d["model"] = r.model;
        d["peak"] = r.peak;
        d["charged"] = ByKind(r.charged);
        d["held"] = ByKind(r.held);
        d["total_charged"] = r.total_charged();
        d["total_held"] = r.total_held();
        return d;
      }, "The same as a dict, for JSON.")
      .def("__str__", &Receipt::ToString)
      .def("__repr__", [](const Receipt& r) {
        return fmt::format("<tare.Receipt {}: {} bytes charged, {} held>", r.model, r.total_charged(), r.total_held());
      });
}

}  // namespace

void BindModel(nb::module_& m) {
  BindReceipt(m);
  nb::class_<PySignature>(m, "Signature",
                          "A signature, called with its inputs by keyword: s(text=[\"rain\"]).\n\n"
                          "Python numbers and strings become the input's dtype; arrays must have it. Returns a dict\n"
                          "of tare.Tensor. TypeError names an input that does not fit; tare.errors tell the rest.")
      .def("__call__", &PySignature::Call)
      .def_prop_ro("name", &PySignature::name)
      .def_prop_ro("inputs", &PySignature::inputs, "Name to tare.TensorSpec.")
      .def_prop_ro("outputs", &PySignature::outputs, "Name to tare.TensorSpec.")
      .def_prop_ro("structured_outputs", &PySignature::outputs)
      .def_prop_ro("structured_input_signature", [](const PySignature& s) { return nb::make_tuple(nb::make_tuple(), s.inputs()); })
      .def("__repr__", &PySignature::Repr);
  nb::class_<PyModel>(m, "Model", nb::is_weak_referenceable(), nb::dynamic_attr(),
                      "A loaded model. Unloads by unload(), at the end of a with block, or with its last reference.")
      .def_prop_ro("path", &PyModel::path)
      .def_prop_ro("signatures", &PyModel::signatures, "Name to tare.Signature.")
      .def_prop_ro("loaded", &PyModel::loaded)
      .def_prop_ro("variables", &PyModel::Variables,
                   "Those that signatures capture: name, dtype, shape and numpy(), a copy.")
      .def("_variable", [](const PyModel& m, const std::string& resource) { return FromTensor(Check(m.model().ReadVariable(resource))); })
      .def("memory", [](const PyModel& m) {
        std::array<int64_t, kKindCount> bytes;
        for (size_t i = 0; i < kKindCount; ++i) bytes[i] = m.model().account().bytes(static_cast<Kind>(i));
        return ByKind(bytes);
      }, "Bytes by kind, now.")
      .def("unload", &PyModel::Unload, nb::arg("cancel") = false,
           "Waits for running calls (or cancels them), gives everything back and returns the receipt.\n\n"
           "Calls that come later raise FailedPreconditionError. A second call returns the same receipt.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](PyModel& m, nb::args) { m.Unload(false); })
      .def("__repr__", &PyModel::Repr);
  m.def("load", &Load, nb::arg("path"), nb::arg("tags") = nb::none(), nb::kw_only(), nb::arg("files") = "map",
        nb::arg("loader") = "auto", nb::arg("verify_checksums") = true,
        "Loads a SavedModel.\n\n"
        "path: its directory. tags: of the meta graph; None takes the only one, or 'serve'. files: 'map' reads\n"
        "weights in place, 'read' copies them, for files another program may truncate. loader: 'objects' (the TF2\n"
        "object graph), 'graph' (as a session), 'auto'. Raises NotFoundError, DataLossError,\n"
        "InvalidArgumentError or UnimplementedError of tare.errors, naming file and node.");
}

}  // namespace tare::python
