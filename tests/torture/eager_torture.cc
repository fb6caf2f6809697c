// Eager ops under failing allocations; and what an op that hits the kernel cache allocates.
#include "context/eager_context.h"
#include "failing_new.h"

namespace {

using namespace tare;

Tensor Matrix(EagerContext& context) {
  Tensor t = *Tensor::Make(context.account(), DType::kFloat, Shape{2, 2});
  for (float& f : t.mut<float>()) f = 1;
  return t;
}

Status Add(EagerContext& context, const Tensor& a, const Tensor& b, Tensor* sum) {
  TARE_ASSIGN_OR_RETURN(EagerOp op, EagerOp::Make(context, "AddV2"));
  TARE_RETURN_IF_ERROR(op.AddInput(a));
  TARE_RETURN_IF_ERROR(op.AddInput(b));
  return context.Execute(op, context.run_context(), {sum, 1}).status();
}

Status ReadAVariable(EagerContext& context, const Tensor& value) {
  TARE_ASSIGN_OR_RETURN(EagerOp make, EagerOp::Make(context, "VarHandleOp"));
  make.SetAttr("dtype", AttrValue::Type(DType::kFloat));
  make.SetAttr("shape", AttrValue::OfShape({}));
  make.SetAttr("shared_name", AttrValue::String("a name too long for any buffer within an object of the standard library"));
  TARE_ASSIGN_OR_RETURN(std::vector<Tensor> handle, make.Execute());
  TARE_ASSIGN_OR_RETURN(EagerOp assign, EagerOp::Make(context, "AssignVariableOp"));
  TARE_RETURN_IF_ERROR(assign.AddInput(handle[0]));
  TARE_RETURN_IF_ERROR(assign.AddInput(value));
  return assign.Execute().status();
}

bool Run() {
  Ref<Account> account;
  bool completed = false;
  {
    EagerContext context({.threads = 1});
    account = context.account();
    try {
      Tensor a = Matrix(context), sum;
      completed = Add(context, a, a, &sum).ok() && ReadAVariable(context, sum).ok();
    } catch (const std::bad_alloc&) {
    }
  }
  CHECK(account->total() == 0);
  return completed;
}

}  // namespace

int main() {
  const int failed = FailEachAllocation(Run);
  EagerContext context({.threads = 1});
  Tensor a = Matrix(context), sum;
  CHECK(Add(context, a, a, &sum).ok());
  g_count = 0;
  CHECK(Add(context, a, a, &sum).ok());
  // The op itself and the output's buffer.
  CHECK(g_count == 2);
  std::printf("eager ops: %d allocations failed in turn, nothing left behind; a hit takes %ld\n", failed, g_count);
}
