// Status and Result<T>: how every function of Tare reports failure. No exceptions of ours.
//
// A Status is one pointer: OK costs nothing. Codes equal TF_Code and gRPC's by value. Context (file,
// node, op) is added on the way up with Status::At(). Values, not thread-safe per object.
#pragma once
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/core.h>

namespace tare {

enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT" and kin, as users of gRPC and TensorFlow know them.
std::string_view CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(const Status& o) : rep_(o.rep_ ? std::make_unique<Rep>(*o.rep_) : nullptr) {}
  Status& operator=(const Status& o) { return *this = Status(o); }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return !rep_; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  std::string_view message() const { return rep_ ? std::string_view(rep_->message) : ""; }
  // "INVALID_ARGUMENT: message", or "OK".
  std::string ToString() const;

  // The same error with `where` in front: "saved_model.pb: node 'x': <message>". OK stays OK.
  Status At(std::string_view where) &&;
  // The same error with TensorFlow's suffix "\n\t [[{{node NAME}}]]".
  Status AtNode(std::string_view node) &&;

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

inline Status OkStatus() { return {}; }

#define TARE_DEFINE_ERROR(Name)                                              \
  template <class... A>                                                      \
  Status Name(fmt::format_string<A...> format, A&&... args) {                \
    return Status(Code::k##Name, fmt::format(format, std::forward<A>(args)...)); \
  }
TARE_DEFINE_ERROR(Cancelled)
TARE_DEFINE_ERROR(InvalidArgument)
TARE_DEFINE_ERROR(NotFound)
TARE_DEFINE_ERROR(AlreadyExists)
TARE_DEFINE_ERROR(ResourceExhausted)
TARE_DEFINE_ERROR(FailedPrecondition)
TARE_DEFINE_ERROR(Aborted)
TARE_DEFINE_ERROR(OutOfRange)
TARE_DEFINE_ERROR(Unimplemented)
TARE_DEFINE_ERROR(Internal)
TARE_DEFINE_ERROR(DataLoss)
TARE_DEFINE_ERROR(PermissionDenied)
#undef TARE_DEFINE_ERROR

// A T, or the Status that says why there is none. REQUIRES ok() for * and ->.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT
  template <class U = T>
    requires(std::is_constructible_v<T, U &&> && !std::is_same_v<std::remove_cvref_t<U>, Status> &&
             !std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : value_(std::forward<U>(value)) {}  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace tare

#define TARE_CONCAT_INNER(a, b) a##b
#define TARE_CONCAT(a, b) TARE_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expr`, a Status, is an error.
#define TARE_RETURN_IF_ERROR(expr)                                   \
  do {                                                               \
    if (::tare::Status tare_status = (expr); !tare_status.ok()) return tare_status; \
  } while (false)

// Declares or assigns `lhs` from a Result, or returns its error.
#define TARE_ASSIGN_OR_RETURN(lhs, expr) \
  TARE_ASSIGN_OR_RETURN_INNER(TARE_CONCAT(tare_result_, __LINE__), lhs, expr)
#define TARE_ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)
