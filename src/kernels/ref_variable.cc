// TF1's reference variables.
//
// A reference is a resource handle; ops on references (these, AssignAdd in state.cc, the scatters)
// take the handle itself. On every edge from a reference to an op that wants its value, the plan
// builder puts a _ReadRef step.
#include "kernels/registry.h"
#include "kernels/variable_update.h"

namespace tare {
namespace {

std::optional<Shape> DeclaredShape(AttrReader& a) {
  PartialShape declared = a.ShapeAttr("shape");
  if (!declared.fully_defined()) return {};
  auto shape = Shape::Make(declared.dims);
  if (shape.ok()) return *shape;
  a.Fail(std::move(shape).status());
  return {};
}

// VariableV2, and Variable of older models.
struct MakeVariable {
  explicit MakeVariable(AttrReader& a)
      : container(a.String("container")),
        name(a.String("shared_name")),
        dtype(a.Type("dtype")),
        shape(DeclaredShape(a)) {}
  Status Run(KernelCall& c) const {
    std::string own(name.empty() ? c.node() : name);
    TARE_ASSIGN_OR_RETURN(Ref<Variable> v, c.run().resources->LookupOrCreate<Variable>(
                                               container, own, [&]() -> Result<Ref<Variable>> {
                                                 return MakeRef<Variable>(own, dtype, shape);
                                               }));
    if (v->dtype() != dtype) {
      return InvalidArgument("Variable {} is of type {}, not {}", own, DTypeName(v->dtype()),
                             DTypeName(dtype));
    }
    TARE_ASSIGN_OR_RETURN(Tensor handle, MakeHandle(c.run().account, std::move(v)));
    c.SetOutput(0, std::move(handle));
    return OkStatus();
  }
  std::string container, name;
  DType dtype;
  std::optional<Shape> shape;
};

Result<Tensor> ReadReference(const Tensor& handle) {
  TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(handle));
  auto value = v->Read();
  if (!value.ok()) return FailedPrecondition("Attempting to use uninitialized value {}", v->name());
  return value;
}

Status ReadRef(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Tensor value, ReadReference(c.input(0)));
  c.SetOutput(0, std::move(value));
  return OkStatus();
}

struct Assign {
  explicit Assign(AttrReader& a) : same_shape(a.Bool("validate_shape")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
    const Tensor& value = c.input(1);
    if (v->dtype() != value.dtype()) {
      return InvalidArgument("Assign to {} of type {} of a value of type {}", v->name(),
                             DTypeName(v->dtype()), DTypeName(value.dtype()));
    }
    if (same_shape) {
      auto now = v->Read();
      std::optional<Shape> shape = now.ok() ? now->shape() : v->declared_shape();
      if (shape && !(*shape == value.shape())) {
        return InvalidArgument(
            "Assign requires shapes of both tensors to match. lhs shape= {} rhs shape= {}",
            shape->ToString(), value.shape().ToString());
      }
    }
    TARE_RETURN_IF_ERROR(v->Assign(value));
    c.SetOutput(0, c.TakeInput(0));
    return OkStatus();
  }
  bool same_shape;
};

// A variable of one run: nothing but its reference holds it.
struct MakeTemporary {
  explicit MakeTemporary(AttrReader& a)
      : name(a.String("var_name")), dtype(a.Type("dtype")), shape(DeclaredShape(a)) {
    if (!shape) a.Fail(InvalidArgument("TemporaryVariable needs a fully defined shape"));
  }
  Status Run(KernelCall& c) const {
    auto v = MakeRef<Variable>(name.empty() ? std::string(c.node()) : name, dtype, shape);
    TARE_ASSIGN_OR_RETURN(Tensor value, c.Temp(dtype, *shape));
    if (IsPlain(dtype) && value.bytes() > 0) std::memset(value.mutable_raw(), 0, value.bytes());
    TARE_RETURN_IF_ERROR(v->Assign(std::move(value)));
    TARE_ASSIGN_OR_RETURN(Tensor handle, MakeHandle(c.run().account, std::move(v)));
    c.SetOutput(0, std::move(handle));
    return OkStatus();
  }
  std::string name;
  DType dtype;
  std::optional<Shape> shape;
};

Status DestroyTemporary(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
  TARE_ASSIGN_OR_RETURN(Tensor value, ReadReference(c.input(0)));
  v->Close();
  c.SetOutput(0, std::move(value));
  return OkStatus();
}

// Gives the value and adds one, up to `limit`.
struct CountUpTo {
  explicit CountUpTo(AttrReader& a) : limit(a.Int("limit")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
    TARE_RETURN_IF_ERROR(ReadReference(c.input(0)).status());
    return v->Update(c.run().account, [&](Tensor& var) -> Status {
      if (var.rank() != 0)
        return InvalidArgument("input is not a scalar: {}", var.shape().ToString());
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, var.dtype(), {}));
      return ForType(Indexes{}, var.dtype(), [&]<class T>() {
        T* value = var.mutable_data<T>();
        if (*value >= limit) return OutOfRange("Reached limit of {}", limit);
        *out->mutable_data<T>() = (*value)++;
        return OkStatus();
      });
    });
  }
  int64_t limit;
};

Status PassReference(KernelCall& c) {
  c.SetOutput(0, c.TakeInput(0));
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<Assign>("Assign", kStateful),
    Op<CountUpTo>("CountUpTo", kStateful),
    Op<DestroyTemporary>("DestroyTemporaryVariable", kStateful),
    Op<PassReference>("RefIdentity", kStateful),
    Op<MakeTemporary>("TemporaryVariable", kNeverCached | kStateful),
    Op<MakeVariable>("Variable", kNeverCached | kStateful),
    Op<MakeVariable>("VariableV2", kNeverCached | kStateful),
    Op<ReadRef>("_ReadRef", kStateful),
};

}  // namespace
extern constinit const KernelFamily kRefVariableKernels = kRows;
}  // namespace tare
