// The TF2 path: signatures are functions of the saved object graph, captures are its variables, tables,
// assets and constants, and only what is captured is made and restored.
#pragma once
#include <vector>

#include "bundle/tensor_bundle.h"
#include "saved_model/model_scope.h"
#include "saved_model/object_graph.h"

namespace tare {

class ObjectLoader {
 public:
  // REQUIRES: `scope` and `meta` outlive the loader.
  ObjectLoader(ModelScope& scope, const std::string& dir, const MetaGraph& meta)
      : scope_(scope), dir_(dir), meta_(meta) {}

  // Reads the object graphs, then builds every signature with what it captures.
  Result<std::vector<Signature>> Load();

  // For functions that are called once the model is loaded: the same object graph again, with the variables
  // and tables that were made before, by node.
  using Resources = std::map<int32_t, Tensor>;
  Status Reopen(const Resources& made);
  Resources TakeResources();
  const ObjectGraph& objects() const { return objects_; }
  // The plan of a concrete function; what it captures is made and filled.
  Result<const Plan*> Function(std::string_view name);
  // A variable's handle, made and restored on first use. REQUIRES: objects().nodes[node] is a variable.
  Result<Tensor> RestoreVariable(int32_t node) { return Capture(node); }
  // What the resource of a variable of this load is named.
  std::string VariableResource(int32_t node) const;

 private:
  using What = SavedObject::What;
  Status OpenCheckpoint();
  // The plan of a concrete function, its captures bound.
  Result<const Plan*> FunctionPlan(std::string_view function);
  // What a captured node passes to functions, made on first use.
  Result<Tensor> Capture(int32_t node);
  Result<Tensor> MakeCapture(int32_t node);
  Result<Tensor> MakeVariable(int32_t node);
  // Runs a function child without arguments of an object; its single output, if any.
  Result<Tensor> RunChild(int32_t node, std::string_view child);
  Status RunFunction(std::string_view function, std::span<Tensor> inputs, std::span<Tensor> outputs);
  Result<std::string_view> FunctionOf(int32_t node) const;
  // Fills tables that were made since the last call: initialisers, then values from the checkpoint.
  Status InitializeResources();
  Status RestoreSaveables(int32_t node);
  Result<Signature> BuildSignature(std::string_view name, int32_t node);

  ModelScope& scope_;
  const std::string& dir_;
  const MetaGraph& meta_;
  ObjectGraph objects_;
  std::vector<CheckpointObject> checkpoint_;
  std::vector<int32_t> match_;  // saved node -> checkpoint object or -1
  TensorBundle* bundle_ = nullptr;  // the scope's; null when the model has no variables
  Status no_bundle_;            // why there is none
  std::vector<Tensor> captures_;    // by node
  std::vector<bool> in_progress_;   // by node
  std::vector<int32_t> uninitialized_;
};

}  // namespace tare
