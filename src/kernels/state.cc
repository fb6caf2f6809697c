// Variables: handles, reads, assignments, TF1's reference variables, and the ops that pass values on.
#include "kernels/registry.h"
#include "resource/variable.h"

namespace tare {
namespace {

// The shared name TensorFlow 2 gives a variable that no name is to find.
constexpr std::string_view kAnonymousVariable = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

struct VarHandle {
  explicit VarHandle(AttrReader& a)
      : container(a.String("container")), name(a.String("shared_name")), dtype(a.Type("dtype")) {}
  Status Run(KernelCall& c) const {
    Ref<Variable> v;
    if (name == kAnonymousVariable) {
      v = MakeRef<Variable>(std::string(c.node()), dtype);
      c.run().resources->AddAnonymous(v);
    } else {
      TARE_ASSIGN_OR_RETURN(v, c.run().resources->LookupOrCreate<Variable>(
                                   container, name, [&]() -> Result<Ref<Variable>> {
                                     return MakeRef<Variable>(name, dtype);
                                   }));
      if (v->dtype() != dtype) {
        return InvalidArgument("Trying to access variable {} as {}, it is {}", name, DTypeName(dtype),
                               DTypeName(v->dtype()));
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor handle, MakeHandle(c.run().account, std::move(v)));
    c.SetOutput(0, std::move(handle));
    return OkStatus();
  }
  std::string container, name;
  DType dtype;
};

struct ReadVariable {
  explicit ReadVariable(AttrReader& a) : dtype(a.Type("dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
    TARE_ASSIGN_OR_RETURN(Tensor value, v->Read());
    if (value.dtype() != dtype) {
      return InvalidArgument("Trying to read variable with wrong dtype. Expected {} got {}", DTypeName(dtype),
                             DTypeName(value.dtype()));
    }
    c.SetOutput(0, std::move(value));
    return OkStatus();
  }
  DType dtype;
};

Status AssignVariable(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
  if (v->dtype() != c.input(1).dtype()) {
    return InvalidArgument("Trying to assign to variable {} of dtype {} a value of dtype {}", v->name(),
                           DTypeName(v->dtype()), DTypeName(c.input(1).dtype()));
  }
  return v->Assign(c.input(1));
}

Status PassOn(KernelCall& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.SetOutput(i, c.TakeInput(i));
  return OkStatus();
}

Status Nothing(KernelCall&) { return OkStatus(); }

constexpr KernelRow kRows[] = {
    Op<AssignVariable>("AssignVariableOp", kStateful),
    Op<PassOn>("Identity"),
    Op<PassOn>("IdentityN"),
    Op<Nothing>("NoOp"),
    Op<PassOn>("PreventGradient"),
    Op<ReadVariable>("ReadVariableOp", kStateful),
    Op<PassOn>("Snapshot"),
    Op<PassOn>("StopGradient"),
    Op<VarHandle>("VarHandleOp", kNeverCached | kStateful),
};

}  // namespace
extern constinit const KernelFamily kStateKernels = kRows;
}  // namespace tare
