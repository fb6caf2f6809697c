// What every function of the C API shares: statuses, and the boundary no exception crosses.
//
// A function's body is a lambda that returns Status or Result<T>; Try runs it, writes the TF_Status and turns
// what the standard library throws into an error. Objects are made inside, so nothing is lost on a throw.
#pragma once
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "status/status.h"
#include "tensorflow/c/c_api.h"

struct TF_Status {
  TF_Code code = TF_OK;
  std::string message;
  // Set instead of `message` where there is no memory for one.
  const char* fixed_message = nullptr;
  std::vector<std::pair<std::string, std::string>> payloads;
};

namespace tare::capi {

// Writes a status; a null one is passed over.
void Set(TF_Status* to, const Status& status) noexcept;
// The same without memory. `message` is a literal.
void SetFixed(TF_Status* to, TF_Code code, const char* message) noexcept;
inline void SetOk(TF_Status* to) noexcept {
  if (to && (to->code != TF_OK || !to->payloads.empty())) SetFixed(to, TF_OK, nullptr);
}
// For a catch (...): what is being handled, as a status.
void SetCurrentException(TF_Status* to) noexcept;

template <class F>
bool Try(TF_Status* status, F&& body) noexcept {
  try {
    const Status s = body();
    if (s.ok()) SetOk(status);
    else Set(status, s);
    return s.ok();
  } catch (...) {
    SetCurrentException(status);
    return false;
  }
}

// The value of a Result<T>, or `otherwise` after an error.
template <class T, class F>
T TryGet(TF_Status* status, T otherwise, F&& body) noexcept {
  try {
    Result<T> result = body();
    if (result.ok()) {
      SetOk(status);
      return *std::move(result);
    }
    Set(status, result.status());
  } catch (...) {
    SetCurrentException(status);
  }
  return otherwise;
}

// A new object, or null when memory is exhausted. For functions without a status.
template <class T, class... A>
T* TryNew(A&&... args) noexcept {
  try {
    return new T{std::forward<A>(args)...};
  } catch (...) {
    return nullptr;
  }
}

// Runs what may run out of memory in a function that cannot tell: nothing happens then.
template <class F>
void TryQuietly(F&& body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

}  // namespace tare::capi

// The beginning of a function that takes pointers: an error where one is null.
#define TARE_CAPI_REQUIRE(pointer) \
  if (!(pointer)) return ::tare::InvalidArgument("{} is NULL", #pointer)
