// What the sources of the extension share: errors, the context, conversion of values.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <string_view>

#include "context/eager_context.h"
#include "saved_model/model.h"

namespace tare::python {

namespace nb = nanobind;

// Throws the class of tare.errors that stands for the status.
[[noreturn]] void Raise(const Status& status);
inline void Check(const Status& status) {
  if (!status.ok()) Raise(status);
}
template <class T>
T Check(Result<T> result) {
  if (!result.ok()) Raise(result.status());
  return *std::move(result);
}
// A Python exception of a built-in class.
[[noreturn]] void Throw(PyObject* type, const std::string& message);

// The one context of the interpreter, made on first use. Models keep it alive. The GIL guards it.
std::shared_ptr<EagerContext> TheContext();

// The accounts of loaded models, and of unloaded ones whose outputs are still held.
void RegisterAccount(const Account& account);
// The budget of all accounts together; 0: none. Judged when a load or run begins and ends, and whenever one of
// them asks for a large block.
int64_t MemoryLimit();
// ResourceExhausted when what is held and `more` bytes exceed the limit; blocks kept for reuse are given back
// first. The error tells who needs more ("the files of x"), or without `more` when it was judged ("after ...").
Status CheckMemoryLimit(std::string_view who, int64_t more = 0);
// Asks it for large blocks, for the context's accounts.
MemoryGate* TheMemoryGate();
// Forgets accounts that nobody else knows.
void PruneAccounts();

// Names a dtype as NumPy does: "float32", "string".
std::string_view NumpyName(DType t);
// A DType from tare.DType, a number, a name ("float32", "float"), or anything with a name or __name__.
DType ToDType(nb::handle h);
// The tare.DType.
nb::object FromDType(DType t);
// A tuple; unknown dimensions are None; None for an unknown rank.
nb::object FromShape(const PartialShape& s);
nb::tuple FromShape(const Shape& s);
// tare.TensorSpec(name, dtype, shape).
nb::object MakeSpec(std::string_view name, DType dtype, const PartialShape& shape);

// A tensor of `dtype` (kInvalid: as TensorFlow infers it) from a tare.Tensor, numbers, str and bytes, nested
// lists, buffers and __dlpack__. Arrays keep their dtype, which must be the one wanted; contiguous ones are
// shared. `what` names the value in errors.
Tensor ToTensor(nb::handle value, DType dtype, const Ref<Account>& account, std::string_view what);
// Whether the value brings a dtype of its own, as arrays and tensors do; Python numbers do not.
bool HasDType(nb::handle value);
nb::object FromTensor(Tensor t);

void BindTensor(nb::module_& m);
void BindModel(nb::module_& m);
void BindMemory(nb::module_& m);
void BindEager(nb::module_& m);

}  // namespace tare::python
