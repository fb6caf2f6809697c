// Intrusive counted references, used only for what is truly shared: tensor buffers, mapped files,
// resources and the accounts they are charged to. Counting is atomic; the object is not locked.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tare {

// Base of a counted object. It starts with one reference, which Ref<T>::Adopt takes.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void AddRef() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  // Deletes the object when this was the last reference.
  void Unref() const {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }
  bool unique() const { return refs() == 1; }
  int32_t refs() const { return refs_.load(std::memory_order_acquire); }

 protected:
  virtual ~RefCounted() = default;
  // Frees the object; overridden by those that do not come from plain `new`.
  virtual void Destroy() const { delete this; }

 private:
  mutable std::atomic<int32_t> refs_{1};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT
  static Ref Adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  static Ref Share(T* p) {
    if (p) p->AddRef();
    return Adopt(p);
  }
  Ref(const Ref& o) : p_(o.p_) {
    if (p_) p_->AddRef();
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U> o) : p_(o.Release()) {}  // NOLINT
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->Unref();
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  // Gives up the reference without dropping it.
  T* Release() { return std::exchange(p_, nullptr); }

 private:
  T* p_ = nullptr;
};

template <class T, class... A>
Ref<T> MakeRef(A&&... args) {
  return Ref<T>::Adopt(new T(std::forward<A>(args)...));
}

}  // namespace tare
