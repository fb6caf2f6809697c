#include "resource/variable.h"

namespace tare {

Status Variable::Missing() const {
  return FailedPrecondition(
      "Could not find variable {}. This could mean that the variable has been deleted. In TF1, it can also "
      "mean the variable is uninitialized.{}",
      name(), closed_ ? " Its model was unloaded." : "");
}

bool Variable::initialized() const {
  std::lock_guard lock(mutex_);
  return value_.valid();
}

Result<Tensor> Variable::Read() const {
  std::lock_guard lock(mutex_);
  if (!value_.valid()) return Missing();
  return value_;
}

Result<Tensor> Variable::Freeze(const Ref<FreezeGuard>& guard) {
  std::lock_guard lock(mutex_);
  if (!value_.valid()) return Missing();
  if (guard_ && guard_.get() != guard.get()) return FailedPrecondition("variable {} is frozen by another model", name());
  guard_ = guard;
  return value_;
}

Status Variable::Assign(Tensor value) {
  std::lock_guard lock(mutex_);
  if (closed_) return Missing();
  if (guard_) guard_->Break();
  std::swap(value_, value);  // the old bytes go after the lock
  return OkStatus();
}

Status Variable::Update(const Ref<Account>& account, const std::function<Status(Tensor&)>& update) {
  std::lock_guard lock(mutex_);
  if (!value_.valid()) return Missing();
  if (guard_) guard_->Break();
  // A plan that holds the value as a constant is a reader too.
  if (!value_.may_reuse()) {
    TARE_ASSIGN_OR_RETURN(value_, value_.Clone(account, Kind::kWeights));
  }
  return update(value_);
}

void Variable::Close() {
  Tensor gone;
  std::lock_guard lock(mutex_);
  closed_ = true;
  if (guard_) guard_->Break();
  std::swap(value_, gone);
}

}  // namespace tare
