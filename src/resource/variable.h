// A variable: one tensor, shared with its readers; assigning replaces it, updating in place copies first
// when a reader still holds the bytes. Thread-safe; each operation is atomic.
#pragma once
#include <atomic>
#include <functional>
#include <optional>

#include "resource/resource_scope.h"

namespace tare {

// One model's: its plans hold values of its variables as constants. A write to one of those variables breaks the
// guard, and the plans that were built under it are built anew before their next run; the values they hold stay until
// they go. Thread-safe.
class FreezeGuard final : public RefCounted {
 public:
  bool broken() const { return broken_.load(std::memory_order_acquire); }
  void Break() { broken_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> broken_{false};
};

class Variable final : public Resource {
 public:
  static constexpr std::string_view kTypeName = "Variable";
  // `declared` is the shape a TF1 variable has before it is assigned.
  Variable(std::string name, DType dtype, std::optional<Shape> declared = {})
      : Resource(std::move(name)), dtype_(dtype), declared_(declared) {}
  std::string_view type_name() const override { return kTypeName; }
  DType dtype() const { return dtype_; }
  const std::optional<Shape>& declared_shape() const { return declared_; }

  bool initialized() const;
  // Shares the bytes. FailedPrecondition when it was never assigned, or its model was unloaded.
  Result<Tensor> Read() const;
  // As Read, for a plan that keeps the value as long as `guard` is not broken. FailedPrecondition also when the
  // variable is frozen under another guard.
  Result<Tensor> Freeze(const Ref<FreezeGuard>& guard);
  // REQUIRES: value.dtype() == dtype().
  Status Assign(Tensor value);
  // Calls `update` with the tensor, which nobody else shares meanwhile: it may write it in place.
  // The value is copied first when readers hold it or it lies in a mapped file.
  Status Update(const Ref<Account>& account, const std::function<Status(Tensor&)>& update);
  void Close() override;

 private:
  Status Missing() const;
  const DType dtype_;
  const std::optional<Shape> declared_;
  mutable std::mutex mutex_;
  Tensor value_;         // guarded by mutex_
  Ref<FreezeGuard> guard_;  // guarded by mutex_; null: not frozen
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace tare
