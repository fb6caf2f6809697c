// Changing a variable in place, through a resource handle or a TF1 reference.
#pragma once
#include "kernels/combine.h"
#include "kernels/kernel.h"
#include "resource/variable.h"

namespace tare {

// TensorFlow makes a resource variable when it is first assigned; until then there is none.
inline Status NoSuchVariable(const Variable& v) {
  return NotFound("Resource localhost/{}/N10tensorflow3VarE does not exist.", v.name());
}

// Calls update(Tensor&) -> Status on the variable of input 0. Ops on references (those with an
// output) pass the reference on, and have words of their own for a variable that was never
// assigned.
template <class F>
Status UpdateVariable(KernelCall& c, F&& update) {
  TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
  const bool is_ref = c.num_outputs() == 1;
  if (!v->initialized()) {
    if (is_ref) return FailedPrecondition("Attempting to use uninitialized value {}", v->name());
    return NoSuchVariable(*v);
  }
  TARE_RETURN_IF_ERROR(v->Update(c.run().account, update));
  if (is_ref) c.SetOutput(0, c.TakeInput(0));
  return OkStatus();
}

}  // namespace tare
