#include "common.h"

namespace tare::python {
namespace {

struct Shared {
  EagerContext::Options options;
  std::shared_ptr<EagerContext> context;
};

// A module of Python is one for a process; the GIL guards what it shares.
Shared& TheShared() {
  static Shared shared{.options = {.memory_gate = TheMemoryGate()}, .context = nullptr};
  return shared;
}

}  // namespace

void Throw(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

void Raise(const Status& status) {
  nb::object type = nb::module_::import_("tare.errors").attr("of_code")(static_cast<int>(status.code()));
  nb::str message(status.message().data(), status.message().size());
  PyErr_SetObject(type.ptr(), message.ptr());
  throw nb::python_error();
}

std::shared_ptr<EagerContext> TheContext() {
  Shared& shared = TheShared();
  if (!shared.context) shared.context = std::make_shared<EagerContext>(shared.options);
  return shared.context;
}

NB_MODULE(_tare, m) {
  m.doc() = "The native part of tare. Import tare instead.";
  BindTensor(m);
  BindModel(m);
  BindMemory(m);
  BindEager(m);
  m.def("set_threads", [](int threads) {
    if (TheShared().context) Throw(PyExc_RuntimeError, "set_threads must come before the first load or op");
    if (threads < 0 || threads > 1024) Throw(PyExc_ValueError, "threads must lie in 0..1024; 0 is one per core");
    TheShared().options.threads = threads;
  });
  m.def("threads", [] { return TheContext()->threads().threads(); });
  m.def("set_seed", [](int64_t seed) { TheContext()->SetSeed(seed); });
  m.def("shut_down", [] { TheShared().context.reset(); });
}

}  // namespace tare::python
