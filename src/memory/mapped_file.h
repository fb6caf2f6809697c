// A file's bytes, mapped read-only and private, or read into memory where the caller asks for that.
//
// A mapped file that another program truncates kills the process at the next touch (SIGBUS): a library
// must not install signal handlers, so callers who share a disk with careless writers choose kRead.
// A writer that replaces the file by rename is safe either way.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "memory/account.h"
#include "status/status.h"

namespace tare {

class MappedFile final : public RefCounted {
 public:
  enum class Mode { kMap, kRead };

  // Charged to `account` as kMappedWeights or, read, as kWeights. NotFound, PermissionDenied or
  // FailedPrecondition (not a regular file), each naming the path.
  static Result<Ref<MappedFile>> Open(const std::string& path, Mode mode, Ref<Account> account);

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  bool mapped() const { return mode_ == Mode::kMap; }

 private:
  MappedFile(std::string path, Mode mode, Ref<Account> account)
      : path_(std::move(path)), mode_(mode), account_(std::move(account)) {}
  ~MappedFile() override;
  const std::string path_;
  const Mode mode_;
  Ref<Account> account_;
  std::span<const std::byte> bytes_;
  size_t capacity_ = 0;
};

}  // namespace tare
