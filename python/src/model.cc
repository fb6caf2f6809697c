// tare.load, Model, Signature, Receipt.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
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
  if (MemoryLimit() == 0) return model.Run(s, inputs.Take());
  TARE_RETURN_IF_ERROR(CheckMemoryLimit(fmt::format("before a run of {}", model.path())));
  auto outputs = model.Run(s, inputs.Take());
  // The outputs of a run that went over go with the error.
  if (outputs.ok()) TARE_RETURN_IF_ERROR(CheckMemoryLimit(fmt::format("after a run of {}", model.path())));
  return outputs;
}

// What a load maps or reads, as the sizes of its files tell; 0 for what is not there.
int64_t FileBytes(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return static_cast<int64_t>(fs::file_size(path, ignored));
  int64_t bytes = 0;
  if (auto graph = fs::file_size(path + "/saved_model.pb", ignored); !ignored) bytes += static_cast<int64_t>(graph);
  for (fs::directory_iterator it(path + "/variables", ignored), end; !ignored && it != end; it.increment(ignored)) {
    std::error_code unreadable;
    if (auto size = it->file_size(unreadable); !unreadable) bytes += static_cast<int64_t>(size);
  }
  return bytes;
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

// A concrete function of the object graph, called with its flat inputs.
class PyConcrete {
 public:
  PyConcrete(std::shared_ptr<LoadedModel> owner, const Signature& s) : owner_(std::move(owner)), signature_(s) {}
  nb::list Call(nb::list values, nb::list labels) const {
    if (values.size() != signature_.inputs.size() || labels.size() != values.size()) {
      Throw(PyExc_TypeError, fmt::format("function '{}' takes {} tensors, its saved structure has {}", signature_.name,
                                         signature_.inputs.size(), values.size()));
    }
    Inputs inputs(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      inputs.Set(i, ToTensor(values[i], signature_.inputs[i].dtype, owner_->context->account(),
                             nb::cast<std::string>(labels[i])));
    }
    nb::list list;
    std::vector<Tensor> outputs = Check(RunWithoutGil(*owner_->model, signature_, inputs));
    for (Tensor& t : outputs) list.append(FromTensor(std::move(t)));
    return list;
  }

 private:
  std::shared_ptr<LoadedModel> owner_;
  const Signature& signature_;
};

// The object graph of a model, which it keeps loaded.
class PyObjects {
 public:
  explicit PyObjects(std::shared_ptr<LoadedModel> owner) : owner_(std::move(owner)) {}
  // (children: name to node, FunctionSpec bytes, [(name, input signature, output signature)]).
  nb::tuple Node(int32_t node) const {
    ObjectView view = Check(owner_->model->Object(node));
    auto bytes = [](const std::string& s) { return nb::bytes(s.data(), s.size()); };
    nb::dict children;
    for (const auto& [name, child] : view.children) children[name.c_str()] = child;
    nb::list functions;
    for (const ConcreteFunctionView& f : view.functions) {
      functions.append(nb::make_tuple(f.name, bytes(f.input_signature), bytes(f.output_signature)));
    }
    return nb::make_tuple(children, bytes(view.function_spec), functions);
  }
  PyConcrete Concrete(const std::string& name) const {
    auto build = [&] {
      nb::gil_scoped_release release;
      return owner_->model->Function(name);
    };
    return PyConcrete(owner_, *Check(build()));
  }
  const std::string& path() const { return owner_->path; }

 private:
  std::shared_ptr<LoadedModel> owner_;
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
  PyObjects objects() const { return PyObjects(loaded_); }

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
    for (const VariableInfo& v : Check(model().Variables())) {
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
  auto load = [&]() -> Status {
    nb::gil_scoped_release release;
    if (MemoryLimit() != 0) {
      TARE_RETURN_IF_ERROR(CheckMemoryLimit(fmt::format("the files of {}", dir), FileBytes(dir)));
    }
    TARE_ASSIGN_OR_RETURN(loaded->model, Model::Load(*loaded->context, dir, options));
    RegisterAccount(loaded->model->account());
    return MemoryLimit() == 0 ? OkStatus() : CheckMemoryLimit(fmt::format("after loading {}", dir));
  };
  Check(load());
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
  nb::class_<PyConcrete>(m, "Concrete").def("__call__", &PyConcrete::Call);
  nb::class_<PyObjects>(m, "Objects")
      .def("node", &PyObjects::Node)
      .def("concrete", &PyObjects::Concrete)
      .def_prop_ro("path", &PyObjects::path);
  nb::class_<PyModel>(m, "Model", nb::is_weak_referenceable(), nb::dynamic_attr(),
                      "A loaded model. Unloads by unload(), at the end of a with block, or with its last reference.")
      .def_prop_ro("path", &PyModel::path)
      .def_prop_ro("signatures", &PyModel::signatures, "Name to tare.Signature.")
      .def_prop_ro("loaded", &PyModel::loaded)
      .def_prop_ro("variables", &PyModel::Variables,
                   "All of the object graph, by name: name, dtype, shape and numpy(), a copy. One that no signature captures\n"
                   "is read from the checkpoint when its value is first asked for.")
      .def("_variable", [](const PyModel& m, const std::string& resource) { return FromTensor(Check(m.model().ReadVariable(resource))); })
      .def("memory", [](const PyModel& m) {
        std::array<int64_t, kKindCount> bytes;
        for (size_t i = 0; i < kKindCount; ++i) bytes[i] = m.model().account().bytes(static_cast<Kind>(i));
        return ByKind(bytes);
      }, "Bytes by kind, now.")
      .def("unload", &PyModel::Unload, nb::arg("cancel") = false,
           "Waits for running calls (or cancels them), gives everything back and returns the receipt.\n\n"
           "Calls that come later raise FailedPreconditionError. A second call returns the same receipt.")
      .def_prop_ro("_objects", &PyModel::objects)
      .def("__getattr__", [](nb::handle self, const std::string& name) -> nb::object {
        return nb::module_::import_("tare.function").attr("model_attribute")(self, name);
      }, "An object of the saved graph: a tf.function, or a holder of some.")
      .def("__call__", [](nb::handle self, nb::args args, nb::kwargs kwargs) -> nb::object {
        return nb::module_::import_("tare.function").attr("call_model")(self, args, kwargs);
      }, "The saved object's __call__, where it has one.")
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
