// AttrValue, TensorProto and TensorShapeProto from the wire into the values kernels read.
//
// Strings and names stay views of the message's bytes, which the caller keeps (a model keeps its file);
// arrays are placed in a region; tensors are kept by a TensorStore. Field numbers: facts/savedmodel.md.
#pragma once
#include <deque>
#include <mutex>
#include <string_view>

#include "memory/mapped_file.h"
#include "memory/region.h"
#include "op/attr.h"

namespace tare::wire {

// Owns the tensors that attributes point to.
class TensorStore {
 public:
  // `keeper`, when given, holds the bytes messages lie in: large constants then stay there, in place.
  TensorStore(Ref<Account> account, Ref<MappedFile> keeper)
      : account_(std::move(account)), keeper_(std::move(keeper)) {}
  const Tensor* Add(Tensor t) {
    std::lock_guard lock(mutex_);
    return &tensors_.emplace_back(std::move(t));
  }
  const Ref<Account>& account() const { return account_; }
  const Ref<MappedFile>& keeper() const { return keeper_; }

 private:
  Ref<Account> account_;
  Ref<MappedFile> keeper_;
  std::mutex mutex_;
  std::deque<Tensor> tensors_;  // guarded by mutex_; addresses are stable
};

// TensorProto's rules (facts/savedmodel.md 2.3): tensor_content must fit exactly; fewer listed values than
// elements repeat the last; sizes are checked before anything is allocated.
Result<Tensor> ReadTensor(std::string_view bytes, const TensorStore& store);
Result<PartialShape> ReadShape(std::string_view bytes, Region& region);
Result<AttrValue> ReadAttrValue(std::string_view bytes, Region& region, TensorStore& store, int depth = 0);
// One entry of a map<string, AttrValue>.
Result<Attr> ReadAttr(std::string_view entry, Region& region, TensorStore& store, int depth = 0);

}  // namespace tare::wire
