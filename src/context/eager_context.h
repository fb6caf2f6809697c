// The eager context: what is shared by every op and model of a program. Any number may exist; there is no
// global one. It owns the op and kernel registries, the thread pool, the kernel cache, resources made by
// eager ops, and the generators of stateful random ops. Thread-safe; models and EagerOps must go before it.
#pragma once
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "cache/kernel_cache.h"
#include "kernels/registry.h"
#include "resource/random_states.h"

namespace tare {

class EagerContext;

// Copies attributes out of an eager call's arguments; what it returns lives as long as it does.
class AttrBuilder {
 public:
  AttrBuilder() : memory_(space_, sizeof space_) {}
  // The first value of a name wins, as in TensorFlow.
  void Set(std::string_view name, const AttrValue& value);
  bool Has(std::string_view name) const { return FindAttr(attrs_, name) != nullptr; }
  Attrs attrs() const { return attrs_; }
  void Clear();

 private:
  AttrValue Copy(const AttrValue& v);
  std::string_view Copy(std::string_view s);
  alignas(16) std::byte space_[512];
  std::pmr::monotonic_buffer_resource memory_;
  std::vector<Attr> attrs_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

// One op to execute: reusable by Reset. One thread at a time.
class EagerOp {
 public:
  // NotFound, in TensorFlow's words, for a name that is no op.
  static Result<EagerOp> Make(EagerContext& context, std::string_view name);

  // Inputs in the definition's order. A single-tensor argument's dtype sets its type attribute; a list
  // argument takes all its tensors at once, which sets its count or type list. InvalidArgument for a
  // tensor beyond the op's inputs.
  Status AddInput(Tensor t);
  Status AddInputList(std::span<const Tensor> tensors);
  void SetAttr(std::string_view name, const AttrValue& value) { attrs_->Set(name, value); }
  // Name by which a handle maker files what it makes when no shared_name says otherwise.
  const OpDef& def() const { return *def_; }

  // The op's outputs. The inputs are given up.
  Result<std::vector<Tensor>> Execute();

 private:
  EagerOp(EagerContext& context, const OpDef* def, const KernelRow* row)
      : context_(&context), def_(def), row_(row), attrs_(std::make_unique<AttrBuilder>()) {}
  friend class EagerContext;
  EagerContext* context_;
  const OpDef* def_;
  const KernelRow* row_;
  std::unique_ptr<AttrBuilder> attrs_;
  std::vector<Tensor> inputs_;
  size_t next_arg_ = 0;
};

class EagerContext {
 public:
  struct Options {
    int threads = 0;  // 0: one per core
    KernelCachePolicy kernel_cache;
  };
  explicit EagerContext(const Options& options);
  EagerContext() : EagerContext(Options{}) {}
  ~EagerContext();
  EagerContext(const EagerContext&) = delete;
  EagerContext& operator=(const EagerContext&) = delete;

  const OpRegistry& ops() const { return ops_; }
  const KernelRegistry& kernels() const { return kernels_; }
  ThreadPool& threads() { return threads_; }
  KernelCache& kernel_cache() { return cache_; }
  ResourceScope& resources() { return resources_; }
  RandomStates& randoms() { return randoms_; }
  const Ref<Account>& account() const { return account_; }
  // A run in this context's own account and scope.
  RunContext run_context();

  // The kernel of an op under its attributes, from the cache or made and added to it.
  Result<KernelCache::Pin> GetOrCreateKernel(const OpDef& op, const KernelRow& row, Attrs attrs);
  // A number no other load of this context has.
  int64_t NextLoadId() { return next_load_id_.fetch_add(1, std::memory_order_relaxed); }
  // Empties the kernel cache.
  void ClearCaches() { cache_.Clear(); }
  // Restarts every stateful random op's sequence from `seed` and clears the kernel cache, as TensorFlow does.
  void SetSeed(int64_t seed);

  // Runs one op in `run` (a model's, or this context's own).
  Result<std::vector<Tensor>> Execute(EagerOp& op, const RunContext& run);

 private:
  Ref<Account> account_;
  OpRegistry ops_;
  KernelRegistry kernels_;
  ThreadPool threads_;
  KernelCache cache_;
  ResourceScope resources_;
  RandomStates randoms_;
  std::atomic<int64_t> next_load_id_{0};
};

}  // namespace tare
