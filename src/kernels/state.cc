// Variables: handles, reads, assignments and updates, and the ops that pass values on.
#include <algorithm>

#include "kernels/registry.h"
#include "kernels/variable_update.h"

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

struct AssignVariable {
  explicit AssignVariable(AttrReader& a) : same_shape(a.Bool("validate_shape")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
    const Tensor& value = c.input(1);
    if (v->dtype() != value.dtype()) {
      return InvalidArgument("Trying to assign to variable {} of dtype {} a value of dtype {}", v->name(),
                             DTypeName(v->dtype()), DTypeName(value.dtype()));
    }
    if (same_shape) {
      auto now = v->Read();
      if (now.ok() && !(now->shape() == value.shape())) {
        return InvalidArgument("Trying to assign to variable with tensor with wrong shape. Expected {} got {}",
                               now->shape().ToString(), value.shape().ToString());
      }
    }
    return v->Assign(value);
  }
  bool same_shape;
};

// AssignAddVariableOp, AssignSub and kin: the variable becomes Combine(variable, value).
template <class Combine>
Status UpdateBy(KernelCall& c) {
  return UpdateVariable(c, [&](Tensor& var) -> Status {
    const Tensor& value = c.input(1);
    if (var.dtype() != value.dtype()) return InvalidArgument("DType of variable handle and value does not match.");
    if (!(var.shape() == value.shape())) {
      return InvalidArgument("Cannot update variable with shape {} using a Tensor with shape {}, shapes must be equal.",
                             var.shape().ToString(), value.shape().ToString());
    }
    return ForType(Numbers{}, var.dtype(), [&]<class T>() {
      T* to = var.mutable_data<T>();
      const T* by = value.data<T>();
      for (int64_t i = 0, n = var.num_elements(); i < n; ++i) to[i] = Combine()(to[i], by[i]);
      return OkStatus();
    });
  });
}

// Also IsVariableInitialized, whose input is a TF1 reference.
Status IsInitialized(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kBool, {}));
  *out->mutable_data<bool>() = v->initialized();
  return OkStatus();
}

struct VariableShape {
  explicit VariableShape(AttrReader& a) : dtype(a.Type("out_type")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
    auto value = v->Read();
    if (!value.ok()) return NoSuchVariable(*v);
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, {value->rank()}));
    return ForType(Indexes{}, dtype, [&]<class T>() {
      std::ranges::transform(value->shape().dims(), out->mutable_data<T>(), [](int64_t d) { return static_cast<T>(d); });
      return OkStatus();
    });
  }
  DType dtype;
};

struct DestroyResource {
  explicit DestroyResource(AttrReader& a) : may_be_gone(a.Bool("ignore_lookup_error")) {}
  Status Run(KernelCall& c) const {
    const Tensor& handle = c.input(0);
    if (handle.num_elements() != 1) return InvalidArgument("expected a scalar resource handle");
    auto* resource = dynamic_cast<Resource*>(handle.objects()[0].get());
    Status s = resource ? c.run().resources->Destroy(resource) : NotFound("The resource handle is empty.");
    return may_be_gone && s.code() == Code::kNotFound ? OkStatus() : std::move(s);
  }
  bool may_be_gone;
};

Status PassOn(KernelCall& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.SetOutput(i, c.TakeInput(i));
  return OkStatus();
}

Status Nothing(KernelCall&) { return OkStatus(); }

constexpr KernelRow kRows[] = {
    Op<UpdateBy<Plus>>("AssignAdd", kStateful),
    Op<UpdateBy<Plus>>("AssignAddVariableOp", kStateful),
    Op<UpdateBy<Minus>>("AssignSub", kStateful),
    Op<UpdateBy<Minus>>("AssignSubVariableOp", kStateful),
    Op<AssignVariable>("AssignVariableOp", kStateful),
    Op<DestroyResource>("DestroyResourceOp", kStateful),
    Op<Nothing>("DisableCopyOnRead", kStateful),
    Op<PassOn>("Identity"),
    Op<PassOn>("IdentityN"),
    Op<IsInitialized>("IsVariableInitialized", kStateful),
    Op<Nothing>("NoOp"),
    Op<PassOn>("PreventGradient"),
    Op<ReadVariable>("ReadVariableOp", kStateful),
    Op<PassOn>("Snapshot"),
    Op<PassOn>("StopGradient"),
    Op<VarHandle>("VarHandleOp", kNeverCached | kStateful),
    Op<IsInitialized>("VarIsInitializedOp", kStateful),
    Op<VariableShape>("VariableShape", kStateful),
};

}  // namespace
extern constinit const KernelFamily kStateKernels = kRows;
}  // namespace tare
