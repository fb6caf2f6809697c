// What a model owns and its kernels change: variables, tables, iterators, generator states.
//
// A scope holds them by name and closes them when it is dropped: closing frees the contents at once, so a
// handle that outlives its model refers to an empty shell, and using it gives FailedPrecondition.
// Thread-safe.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "memory/account.h"
#include "tensor/tensor.h"

namespace tare {

// One resource: the object an element of a DT_RESOURCE tensor refers to.
class Resource : public Object {
 public:
  explicit Resource(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  // Frees the contents; every later use fails with FailedPrecondition. Idempotent, thread-safe.
  virtual void Close() = 0;

 private:
  const std::string name_;
};

class ResourceScope {
 public:
  explicit ResourceScope(Ref<Account> account) : account_(std::move(account)) {}
  ~ResourceScope() { Clear(); }

  const Ref<Account>& account() const { return account_; }

  // The resource of that container and name, made by `make` when there is none. InvalidArgument when one of
  // another type has the name.
  template <class T>
  Result<Ref<T>> LookupOrCreate(std::string_view container, std::string_view name,
                                const std::function<Result<Ref<T>>()>& make) {
    TARE_ASSIGN_OR_RETURN(Ref<Resource> r, LookupOrCreateAny(container, name, [&]() -> Result<Ref<Resource>> {
                            TARE_ASSIGN_OR_RETURN(Ref<T> made, make());
                            return Ref<Resource>(std::move(made));
                          }));
    T* t = r->As<T>();
    if (!t) return InvalidArgument("resource {} is a {}, not a {}", name, r->type_name(), T::kTypeName);
    return Ref<T>::Share(t);
  }
  // Adds one that no name finds (anonymous handles); it is still closed with the scope.
  void AddAnonymous(const Ref<Resource>& resource);
  // Closes and forgets it. NotFound when the scope does not hold it.
  Status Destroy(Resource* resource);
  // Closes everything.
  void Clear();
  // For reports.
  size_t size() const;
  void ForEach(const std::function<void(const Resource&)>& fn) const;

 private:
  Result<Ref<Resource>> LookupOrCreateAny(std::string_view container, std::string_view name,
                                          const std::function<Result<Ref<Resource>>()>& make);
  Ref<Account> account_;
  mutable std::mutex mutex_;
  std::map<std::string, Ref<Resource>, std::less<>> named_;  // guarded by mutex_; "container/name"
  std::vector<Ref<Resource>> anonymous_;                     // guarded by mutex_
};

// The resource a handle tensor refers to, as a T. InvalidArgument for an empty handle or another type.
template <class T>
Result<Ref<T>> GetResource(const Tensor& handle) {
  if (handle.dtype() != DType::kResource || handle.num_elements() != 1) {
    return InvalidArgument("expected a scalar resource handle, got {} of shape {}", DTypeName(handle.dtype()),
                           handle.shape().ToString());
  }
  Object* object = handle.objects()[0].get();
  if (!object) return InvalidArgument("the resource handle is empty");
  T* t = object->As<T>();
  if (!t) return InvalidArgument("the resource handle is of type {}, not {}", object->type_name(), T::kTypeName);
  return Ref<T>::Share(t);
}

// A scalar DT_RESOURCE tensor that refers to `resource`.
Result<Tensor> MakeHandle(const Ref<Account>& account, Ref<Resource> resource);

}  // namespace tare
