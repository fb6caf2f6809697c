#include "bundle/file_cache.h"

namespace tare {

Result<TensorBundle*> FileCache::Get(const std::string& prefix) {
  std::lock_guard lock(mutex_);
  auto it = open_.find(prefix);
  if (it != open_.end()) return it->second.get();
  if (open_.size() >= kMaxOpen) return ResourceExhausted("{}: more than {} checkpoints are open", prefix, kMaxOpen);
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<TensorBundle> bundle, TensorBundle::Open(prefix, options_, account_));
  return open_.emplace(prefix, std::move(bundle)).first->second.get();
}

void FileCache::Clear() {
  std::lock_guard lock(mutex_);
  open_.clear();
}

}  // namespace tare
