// The eager context: what is shared by every op and model of a program. Any number may exist; there is no
// global one. It owns the op and kernel registries, the thread pool, the kernel cache, resources made by
// eager ops, and the generators of stateful random ops. Thread-safe; models and EagerOps must go before it.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cache/kernel_cache.h"
#include "context/attr_builder.h"
#include "context/function_table.h"
#include "context/lane.h"
#include "context/op_index.h"
#include "resource/random_states.h"

namespace tare {

class EagerContext;

// One op to execute. One thread at a time.
class EagerOp {
 public:
  // An op, or a function of the context. NotFound, in TensorFlow's words, for a name that is neither.
  static Result<EagerOp> Make(EagerContext& context, std::string_view name);
  EagerOp(EagerOp&&) noexcept;
  EagerOp& operator=(EagerOp&&) noexcept;
  ~EagerOp();

  // Inputs in the definition's order. A single-tensor argument's dtype sets its type attribute; a list
  // argument takes all its tensors at once, which sets its count or type list. InvalidArgument for a
  // tensor beyond the op's inputs.
  Status AddInput(Tensor t);
  Status AddInputList(std::span<const Tensor> tensors);
  void SetAttr(std::string_view name, const AttrValue& value);
  const OpDef& def() const { return *op_->def; }
  std::string_view name() const { return op_->def->name; }
  // What was added and set so far. An input may be replaced by another of its dtype.
  std::span<Tensor> inputs();
  Attrs attrs() const;
  // Under the attributes so far.
  Result<size_t> CountOutputs() const;
  Result<std::vector<DType>> OutputTypes() const;
  // As just made: without inputs and attributes.
  void Reset();
  // The same as another op or function of the context; cheaper than Make. On an error it is as it was.
  Status Become(std::string_view name);

  // The op's outputs. The inputs are given up.
  Result<std::vector<Tensor>> Execute();

 private:
  struct State;
  explicit EagerOp(EagerContext& context);
  // Sets op_ and function_.
  Status Find(std::string_view name);
  friend class EagerContext;
  EagerContext* context_;
  const IndexedOp* op_ = nullptr;
  Ref<EagerFunction> function_;  // who owns op_ where that is a function
  std::unique_ptr<State> state_;
};

class EagerContext {
 public:
  struct Options {
    int threads = 0;  // 0: one per core
    KernelCachePolicy kernel_cache;
    MemoryGate* memory_gate = nullptr;  // asked by the accounts of the context and of its models; outlives them
  };
  explicit EagerContext(const Options& options);
  EagerContext() : EagerContext(Options{}) {}
  ~EagerContext();
  EagerContext(const EagerContext&) = delete;
  EagerContext& operator=(const EagerContext&) = delete;

  const OpRegistry& ops() const { return ops_; }
  const KernelRegistry& kernels() const { return kernels_; }
  ThreadPool& threads() { return threads_; }
  MemoryGate* memory_gate() const { return memory_gate_; }
  KernelCache& kernel_cache() { return cache_; }
  ResourceScope& resources() { return resources_; }
  RandomStates& randoms() { return randoms_; }
  const Ref<Account>& account() const { return account_; }
  // A run in this context's own account and scope.
  const RunContext& run_context() const { return run_context_; }

  // The kernel of an op under its attributes, from the cache or made and added to it. REQUIRES: op.row.
  Result<KernelCache::Pin> GetOrCreateKernel(const IndexedOp& op, Attrs attrs);
  // Which of the lanes is this thread's.
  static constexpr size_t kLanes = 16;
  static size_t ThisThreadsLane();
  // A number no other load of this context has.
  int64_t NextLoadId() { return next_load_id_.fetch_add(1, std::memory_order_relaxed); }
  // Functions, by a serialized FunctionDef; see FunctionTable. Removing the last takes its kernels.
  Status AddFunction(std::string_view function_def) { return functions_.Add(function_def); }
  Status RemoveFunction(std::string_view name);
  bool HasFunction(std::string_view name) const { return static_cast<bool>(functions_.Find(name)); }
  // Empties the kernel cache, and what threads keep of it.
  void ClearCaches();
  // Restarts every stateful random op's sequence from `seed` and clears the kernel cache, as TensorFlow does.
  void SetSeed(int64_t seed);

  // Runs one op in `run` (a model's, or this context's own).
  Result<std::vector<Tensor>> Execute(EagerOp& op, const RunContext& run);
  // The same into the caller's tensors; gives how many there are. InvalidArgument when `outputs` is too short.
  // On a cache hit it takes no exclusive lock, and no memory but the kernel's own.
  Result<size_t> Execute(EagerOp& op, const RunContext& run, std::span<Tensor> outputs);
  // The same in this thread's lane: ops of several threads then run side by side. It charges an account of the
  // lane's, and the kernels that the lane used last (at most 128 in all lanes) are not counted as hits.
  Result<size_t> ExecuteInLane(EagerOp& op, std::span<Tensor> outputs);

 private:
  friend class EagerOp;
  Result<size_t> Execute(EagerOp& op, const RunContext& run, std::span<Tensor> outputs, Lane* lane);
  // The kernel of a call: of a function, or of an op that calls functions.
  Result<KernelCache::Pin> GetOrCreateCall(const EagerOp& op);
  Ref<Account> account_;
  MemoryGate* const memory_gate_;
  OpRegistry ops_;
  KernelRegistry kernels_;
  OpIndex index_;
  FunctionTable functions_;
  ThreadPool threads_;
  KernelCache cache_;
  ResourceScope resources_;
  RandomStates randoms_;
  const RunContext run_context_;
  std::atomic<int64_t> next_load_id_{0};
  std::atomic<uint64_t> cleared_{0};  // how often caches were
  std::array<Lane, kLanes> lanes_;    // they pin kernels of cache_, and go first
};

}  // namespace tare
