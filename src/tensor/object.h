// What an element of a resource or variant tensor refers to.
//
// Elements are Ref<Object>, possibly null. A concrete class names itself by a static kTypeName; As<T>()
// is how kernels ask for one. Variants (tensor lists, ragged) are values: copy on write when shared.
#pragma once
#include <string_view>

#include "memory/ref.h"

namespace tare {

class Object : public RefCounted {
 public:
  // The class's kTypeName, which identifies it. By its text: builds that do not merge equal literals, such as
  // a sanitizer's, give each source an address of its own.
  virtual std::string_view type_name() const = 0;
  template <class T>
  T* As() {
    return type_name() == T::kTypeName ? static_cast<T*>(this) : nullptr;
  }
};
static_assert(sizeof(Ref<Object>) == 8);

}  // namespace tare
