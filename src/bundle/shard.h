// One data file of a checkpoint, mapped, or open for reading at positions.
#pragma once
#include <memory>
#include <string>

#include "memory/mapped_file.h"

namespace tare {

class Shard {
 public:
  // NotFound, in TensorFlow's words, when it is missing.
  static Result<std::unique_ptr<Shard>> Open(std::string path, int32_t id, MappedFile::Mode mode,
                                             Ref<Account> account);
  ~Shard();

  int32_t id() const { return id_; }
  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  // The mapping; null when the file is read instead.
  const Ref<MappedFile>& mapping() const { return mapping_; }

  // REQUIRES for both: the range lies inside the file.
  std::string_view MappedBytes(int64_t offset, int64_t size) const {
    return mapping_->view().substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  // OutOfRange when the file shrank meanwhile.
  Status ReadAt(int64_t offset, int64_t size, void* to) const;

 private:
  Shard(std::string path, int32_t id) : path_(std::move(path)), id_(id) {}
  const std::string path_;
  const int32_t id_;
  int64_t size_ = 0;
  Ref<MappedFile> mapping_;
  int fd_ = -1;
};

}  // namespace tare
