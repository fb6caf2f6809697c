#include "memory/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tare {
namespace {

struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) close(fd);
  }
};

Status OpenError(const std::string& path) {
  int e = errno;
  if (e == ENOENT || e == ENOTDIR) return NotFound("{}: no such file", path);
  if (e == EACCES || e == EPERM) return PermissionDenied("{}: {}", path, std::strerror(e));
  return FailedPrecondition("{}: {}", path, std::strerror(e));
}

Kind KindOf(MappedFile::Mode mode) {
  return mode == MappedFile::Mode::kMap ? Kind::kMappedWeights : Kind::kWeights;
}

}  // namespace

Result<Ref<MappedFile>> MappedFile::Open(const std::string& path, Mode mode, Ref<Account> account) {
  // O_NONBLOCK: a named pipe in a model directory must not hang the loader.
  FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return OpenError(path);
  struct stat st;
  if (fstat(file.fd, &st) != 0) return OpenError(path);
  if (!S_ISREG(st.st_mode)) return FailedPrecondition("{}: not a regular file", path);
  auto result = Ref<MappedFile>::Adopt(new MappedFile(path, mode, std::move(account)));
  auto size = static_cast<size_t>(st.st_size);
  if (size == 0) return result;
  int prot = PROT_READ, flags = MAP_PRIVATE;
  if (mode == Mode::kRead) prot |= PROT_WRITE, flags |= MAP_ANONYMOUS;
  void* p = mmap(nullptr, size, prot, flags, mode == Mode::kMap ? file.fd : -1, 0);
  if (p == MAP_FAILED) return ResourceExhausted("{}: cannot map {} bytes", path, size);
  result->capacity_ = size;
  result->account_->Charge(KindOf(mode), size);
  result->bytes_ = {static_cast<const std::byte*>(p), size};
  if (mode == Mode::kRead) {
    for (size_t at = 0; at < size;) {
      ssize_t n = pread(file.fd, static_cast<char*>(p) + at, size - at, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return OpenError(path);
      if (n == 0) return DataLoss("{}: shrank from {} to {} bytes while it was read", path, size, at);
      at += static_cast<size_t>(n);
    }
  }
  return result;
}

MappedFile::~MappedFile() {
  if (capacity_ == 0) return;
  munmap(const_cast<std::byte*>(bytes_.data()), capacity_);
  account_->Discharge(KindOf(mode_), capacity_);
}

}  // namespace tare
