// The attributes of an eager call, copied out of its arguments.
#pragma once
#include <memory>
#include <memory_resource>
#include <vector>

#include "op/attr.h"

namespace tare {

// What it returns lives as long as it does. Few small attributes take no memory beside the object.
class AttrBuilder {
 public:
  AttrBuilder() : memory_(space_, sizeof space_), attrs_(&memory_) { attrs_.reserve(kUsual); }
  AttrBuilder(const AttrBuilder&) = delete;
  AttrBuilder& operator=(const AttrBuilder&) = delete;

  // The first value of a name wins, as in TensorFlow.
  void Set(std::string_view name, const AttrValue& value) {
    if (!Has(name)) attrs_.push_back({Copy(name), Copy(value)});
  }
  // The same where name and value hold nothing that could go before the builder: a definition's name, a number.
  void SetKept(std::string_view name, const AttrValue& value) {
    if (!Has(name)) attrs_.push_back({name, value});
  }
  bool Has(std::string_view name) const { return FindAttr(attrs(), name) != nullptr; }
  Attrs attrs() const { return attrs_; }

 private:
  static constexpr size_t kUsual = 4;
  AttrValue Copy(const AttrValue& v);
  std::string_view Copy(std::string_view s);
  alignas(16) std::byte space_[kUsual * sizeof(Attr) + 128];
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::vector<Attr> attrs_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

}  // namespace tare
