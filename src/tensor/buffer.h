// The shared bytes under one or more tensors, counted, immutable once published to a second holder.
//
// A buffer names its owner: the account it is charged to, the mapped file or foreign memory it keeps
// alive. Its last reference destroys the elements (strings, resources, variants) and returns the memory.
#pragma once
#include <atomic>
#include <cstddef>

#include "memory/account.h"
#include "memory/ref.h"
#include "tensor/dtype.h"

namespace tare {

class Buffer final : public RefCounted {
 public:
  // Memory for `count` elements, 64-byte aligned, charged to `account`. Elements that own memory are
  // zeroed (empty strings, null references); plain ones are not. ResourceExhausted when there is none.
  static Result<Ref<Buffer>> Allocate(Ref<Account> account, DType dtype, size_t count, Kind kind);

  // Bytes inside something counted (a mapped file, another buffer), kept alive with this buffer.
  // Charges nothing: the keeper is charged already.
  static Ref<Buffer> Within(Ref<RefCounted> keeper, const void* data, size_t bytes);

  // Elements of this buffer are views into `keeper`'s bytes, which stay as long as it. It may no longer be
  // written in place.
  void KeepAlive(Ref<RefCounted> keeper) { keeper_ = std::move(keeper); }

  // Memory of a stranger's: `release(data, bytes, arg)` is called once, by the last reference.
  using ReleaseFn = void (*)(void* data, size_t bytes, void* arg);
  static Ref<Buffer> Foreign(void* data, size_t bytes, ReleaseFn release, void* arg);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Kind kind() const { return kind_; }
  // Whether this buffer has memory of its own that may be written when no one else holds it.
  bool owned() const { return account_ && !keeper_; }
  // Whether whoever asks holds the only reference, beside that of a workspace.
  bool sole() const { return refs() == (in_workspace_.load(std::memory_order_relaxed) ? 2 : 1); }
  // From now on the caller's: moves the charge to Kind::kCaller. Called when an output leaves a run.
  void HandOver();

 private:
  friend class Workspace;
  Buffer() = default;
  ~Buffer() override;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  size_t capacity_ = 0;
  DType dtype_ = DType::kInvalid;
  Kind kind_ = Kind::kActivations;
  Ref<Account> account_;
  Ref<RefCounted> keeper_;
  ReleaseFn release_ = nullptr;
  void* release_arg_ = nullptr;
  std::atomic<bool> in_workspace_{false};
};

}  // namespace tare
