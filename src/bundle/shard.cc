#include "bundle/shard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tare {

Result<std::unique_ptr<Shard>> Shard::Open(std::string path, int32_t id, MappedFile::Mode mode,
                                           Ref<Account> account) {
  std::unique_ptr<Shard> shard(new Shard(std::move(path), id));
  const std::string& name = shard->path_;
  if (mode == MappedFile::Mode::kMap) {
    auto file = MappedFile::Open(name, mode, std::move(account));
    if (!file.ok() && file.status().code() == Code::kNotFound) {
      return NotFound("{}; No such file or directory", name);
    }
    TARE_ASSIGN_OR_RETURN(shard->mapping_, std::move(file));
    shard->size_ = static_cast<int64_t>(shard->mapping_->bytes().size());
    return shard;
  }
  // O_NONBLOCK: a named pipe in its place must not hang the loader.
  shard->fd_ = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  if (shard->fd_ < 0 || fstat(shard->fd_, &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return NotFound("{}; No such file or directory", name);
    if (errno == EACCES || errno == EPERM) return PermissionDenied("{}; {}", name, std::strerror(errno));
    return FailedPrecondition("{}; {}", name, std::strerror(errno));
  }
  if (!S_ISREG(st.st_mode)) return FailedPrecondition("{}: not a regular file", name);
  shard->size_ = st.st_size;
  return shard;
}

Shard::~Shard() {
  if (fd_ >= 0) close(fd_);
}

Status Shard::ReadAt(int64_t offset, int64_t size, void* to) const {
  if (mapping_) {
    std::string_view bytes = MappedBytes(offset, size);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return OkStatus();
  }
  for (int64_t done = 0; done < size;) {
    ssize_t n = pread(fd_, static_cast<char*>(to) + done, static_cast<size_t>(size - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return DataLoss("{}; {}", path_, std::strerror(errno));
    if (n == 0) return OutOfRange("{}: Read less bytes than requested", path_);
    done += n;
  }
  return OkStatus();
}

}  // namespace tare
