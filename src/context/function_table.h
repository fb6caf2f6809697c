// The functions of an eager context, and the kernels that run them and the ops that call functions (If, While,
// PartitionedCall and kin).
//
// Such a kernel is a plan of a graph of one node, the call, with all functions of the moment at hand. It keeps
// what it was built from, so a function that is removed meanwhile is still there for it. Thread-safe.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "context/op_index.h"
#include "op/op_def.h"

namespace tare {

// A FunctionDef with its signature as an op's definition.
class EagerFunction final : public RefCounted {
 public:
  // Copies the message. InvalidArgument or DataLoss for a malformed one.
  static Result<Ref<EagerFunction>> Make(std::string_view function_def, const Ref<Account>& account);
  std::string_view name() const { return def_.name; }
  const IndexedOp& op() const { return op_; }
  std::string_view function_def() const { return function_def_; }
  // The FunctionDefLibrary of this function alone.
  std::string_view library() const { return library_; }

 private:
  EagerFunction(Ref<Account> account) : region_(std::move(account), Kind::kGraphs) {}
  Status Read(std::string_view function_def);
  Region region_;
  std::string_view library_, function_def_;
  OpDef def_;
  IndexedOp op_{};
};

class FunctionTable {
 public:
  FunctionTable(Ref<Account> account, const OpRegistry& ops, const KernelRegistry& kernels)
      : account_(std::move(account)), ops_(ops), kernels_(kernels) {}

  // The same definition again is counted. InvalidArgument for another of the same name.
  Status Add(std::string_view function_def);
  // Gives whether this was the last of as many additions. InvalidArgument for an unknown name.
  Result<bool> Remove(std::string_view name);
  // Null when there is none.
  Ref<EagerFunction> Find(std::string_view name) const;
  // A kernel that runs the op, or the function it names, on inputs of these types.
  Result<KernelPtr> MakeCallKernel(const IndexedOp& op, Attrs attrs, std::span<const DType> inputs,
                                   std::span<const DType> outputs) const;

 private:
  struct Counted {
    Ref<EagerFunction> function;
    int count = 1;
  };
  const Ref<Account> account_;
  const OpRegistry& ops_;
  const KernelRegistry& kernels_;
  mutable std::mutex mutex_;
  std::map<std::string, Counted, std::less<>> functions_;  // guarded by mutex_
};

}  // namespace tare
