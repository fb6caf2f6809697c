#include "tensorflow/c/tf_status.h"

#include <algorithm>
#include <cstring>

#include "capi/common.h"

namespace tare::capi {

void SetFixed(TF_Status* to, TF_Code code, const char* message) noexcept {
  if (!to) return;
  to->code = code;
  to->message.clear();
  to->fixed_message = message;
  to->payloads.clear();
}

void Set(TF_Status* to, const Status& status) noexcept {
  if (!to) return;
  try {
    to->message = status.message();
    to->code = static_cast<TF_Code>(status.code());
    to->fixed_message = nullptr;
    to->payloads.clear();
  } catch (const std::bad_alloc&) {
    SetFixed(to, static_cast<TF_Code>(status.code()), "an error, and no memory to describe it");
  }
}

void SetCurrentException(TF_Status* to) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    SetFixed(to, TF_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& e) {
    try {
      Set(to, Internal("{}", e.what()));
    } catch (...) {
      SetFixed(to, TF_INTERNAL, "an unexpected exception");
    }
  } catch (...) {
    SetFixed(to, TF_INTERNAL, "an unexpected exception");
  }
}

namespace {

TF_Code CodeOfErrno(int error) {
  switch (error) {
    case 0: return TF_OK;
    case EINVAL: case ENAMETOOLONG: case E2BIG: case EDESTADDRREQ: case EDOM: case EFAULT: case EILSEQ:
    case ENOPROTOOPT: case ENOTSOCK: case ENOTTY: case EPROTOTYPE: case ESPIPE:
      return TF_INVALID_ARGUMENT;
    case ETIMEDOUT: case ETIME: return TF_DEADLINE_EXCEEDED;
    case ENODEV: case ENOENT: case ENXIO: case ESRCH: return TF_NOT_FOUND;
    case EEXIST: case EADDRNOTAVAIL: case EALREADY: return TF_ALREADY_EXISTS;
    case EPERM: case EACCES: case EROFS: return TF_PERMISSION_DENIED;
    case ENOTEMPTY: case EISDIR: case ENOTDIR: case EBADF: case EBUSY: case ECHILD: case EISCONN: case ENOTBLK:
    case ENOTCONN: case EPIPE: case ESHUTDOWN: case ETXTBSY:
      return TF_FAILED_PRECONDITION;
    case ENOSPC: case EDQUOT: case EMFILE: case EMLINK: case ENFILE: case ENOBUFS: case ENODATA: case ENOMEM:
    case EUSERS:
      return TF_RESOURCE_EXHAUSTED;
    case EFBIG: case EOVERFLOW: case ERANGE: return TF_OUT_OF_RANGE;
    case ENOSYS: case ENOTSUP: case EAFNOSUPPORT: case EPFNOSUPPORT: case EPROTONOSUPPORT: case ESOCKTNOSUPPORT:
    case EXDEV:
      return TF_UNIMPLEMENTED;
    case EAGAIN: case ECONNREFUSED: case ECONNABORTED: case ECONNRESET: case EINTR: case EHOSTDOWN:
    case EHOSTUNREACH: case ENETDOWN: case ENETRESET: case ENETUNREACH: case ENOLCK: case ENOLINK:
      return TF_UNAVAILABLE;
    case EDEADLK: case ESTALE: return TF_ABORTED;
    case ECANCELED: return TF_CANCELLED;
    default: return TF_UNKNOWN;
  }
}

}  // namespace
}  // namespace tare::capi

using namespace tare::capi;

TF_Status* TF_NewStatus() { return TryNew<TF_Status>(); }
void TF_DeleteStatus(TF_Status* s) { delete s; }

void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg) {
  if (code == TF_OK) return SetFixed(s, TF_OK, nullptr);
  try {
    Set(s, tare::Status(static_cast<tare::Code>(code), msg ? msg : ""));
  } catch (...) {
    SetFixed(s, code, "an error, and no memory to describe it");
  }
}

void TF_SetStatusFromIOError(TF_Status* s, int error_code, const char* context) {
  const TF_Code code = CodeOfErrno(error_code);
  if (code == TF_OK) return SetFixed(s, TF_OK, nullptr);
  try {
    char space[256];
    const char* text = strerror_r(error_code, space, sizeof space);
    Set(s, tare::Status(static_cast<tare::Code>(code), fmt::format("{}; {}", context ? context : "", text)));
  } catch (...) {
    SetFixed(s, code, "an error, and no memory to describe it");
  }
}

void TF_SetPayload(TF_Status* s, const char* key, const char* value) {
  if (!s || !key || !value || s->code == TF_OK) return;
  TryQuietly([&] {
    std::string v = value;
    for (auto& [k, old] : s->payloads) {
      if (k == key) {
        old = std::move(v);
        return;
      }
    }
    s->payloads.emplace_back(key, std::move(v));
  });
}

void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor, void* capture) {
  if (!s || !visitor) return;
  for (const auto& [key, value] : s->payloads) visitor(key.c_str(), value.c_str(), capture);
}

TF_Code TF_GetCode(const TF_Status* s) { return s ? s->code : TF_INVALID_ARGUMENT; }

const char* TF_Message(const TF_Status* s) {
  if (!s) return "the status is NULL";
  return s->fixed_message ? s->fixed_message : s->message.c_str();
}
