// The checkpoints that one load has open, so that restoring a thousand variables by a thousand ops opens each
// file once. At most kMaxOpen; Clear closes them. Thread-safe.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "bundle/tensor_bundle.h"

namespace tare {

class FileCache {
 public:
  static constexpr size_t kMaxOpen = 16;
  FileCache(Ref<Account> account, MappedFile::Mode mode, bool verify_checksums)
      : account_(std::move(account)), options_{mode, verify_checksums} {}

  // Stays open until Clear. ResourceExhausted beyond kMaxOpen prefixes.
  Result<TensorBundle*> Get(const std::string& prefix);
  void Clear();

 private:
  Ref<Account> account_;
  const TensorBundle::Options options_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<TensorBundle>> open_;  // guarded by mutex_
};

}  // namespace tare
