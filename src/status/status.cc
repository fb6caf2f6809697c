#include "status/status.h"

namespace tare {

std::string_view CodeName(Code code) {
  static constexpr std::string_view kNames[] = {
      "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
      "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
      "UNAUTHENTICATED"};
  auto i = static_cast<size_t>(code);
  return i < std::size(kNames) ? kNames[i] : "UNKNOWN";
}

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_ = std::make_unique<Rep>(Rep{code, std::move(message)});
}

std::string Status::ToString() const {
  return ok() ? "OK" : fmt::format("{}: {}", CodeName(code()), message());
}

Status Status::At(std::string_view where) && {
  if (rep_) rep_->message = fmt::format("{}: {}", where, rep_->message);
  return std::move(*this);
}

Status Status::AtNode(std::string_view node) && {
  if (rep_) rep_->message += fmt::format("\n\t [[{{{{node {}}}}}]]", node);
  return std::move(*this);
}

}  // namespace tare
