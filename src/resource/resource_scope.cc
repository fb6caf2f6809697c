#include "resource/resource_scope.h"

#include <algorithm>

namespace tare {

Result<Ref<Resource>> ResourceScope::LookupOrCreateAny(std::string_view container, std::string_view name,
                                                       const std::function<Result<Ref<Resource>>()>& make) {
  std::string key = fmt::format("{}/{}", container, name);
  std::lock_guard lock(mutex_);
  auto it = named_.find(key);
  if (it != named_.end()) return it->second;
  TARE_ASSIGN_OR_RETURN(Ref<Resource> made, make());
  named_.emplace(std::move(key), made);
  return made;
}

void ResourceScope::AddAnonymous(const Ref<Resource>& resource) {
  std::lock_guard lock(mutex_);
  // Those that only this list still holds are garbage: their last handle is gone.
  if (anonymous_.size() == anonymous_.capacity()) {
    std::erase_if(anonymous_, [](const Ref<Resource>& r) { return r->unique(); });
  }
  anonymous_.push_back(resource);
}

Status ResourceScope::Destroy(Resource* resource) {
  Ref<Resource> held;
  {
    std::lock_guard lock(mutex_);
    for (auto it = named_.begin(); it != named_.end(); ++it) {
      if (it->second.get() != resource) continue;
      held = std::move(it->second);
      named_.erase(it);
      break;
    }
    auto it = std::ranges::find(anonymous_, resource, &Ref<Resource>::get);
    if (it != anonymous_.end()) {
      held = std::move(*it);
      anonymous_.erase(it);
    }
  }
  if (!held) return NotFound("Resource {} does not exist.", resource->name());
  held->Close();
  return OkStatus();
}

void ResourceScope::Clear() {
  std::map<std::string, Ref<Resource>, std::less<>> named;
  std::vector<Ref<Resource>> anonymous;
  {
    std::lock_guard lock(mutex_);
    named.swap(named_);
    anonymous.swap(anonymous_);
  }
  for (auto& [name, r] : named) r->Close();
  for (auto& r : anonymous) r->Close();
}

size_t ResourceScope::size() const {
  std::lock_guard lock(mutex_);
  return named_.size() + anonymous_.size();
}

void ResourceScope::ForEach(const std::function<void(const Resource&)>& fn) const {
  std::lock_guard lock(mutex_);
  for (auto& [name, r] : named_) fn(*r);
  for (auto& r : anonymous_) fn(*r);
}

Result<Tensor> MakeHandle(const Ref<Account>& account, Ref<Resource> resource) {
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, DType::kResource, Shape{}));
  t.mutable_objects()[0] = std::move(resource);
  return t;
}

}  // namespace tare
