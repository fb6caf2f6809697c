// The two object graphs of a TF2 model: the saved one (what objects are) and the checkpoint's (where their
// values are). Both are untrusted: every node id is checked when it is read.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "saved_model/meta_graph.h"

namespace tare {

struct ObjectChild {
  int32_t node;
  std::string_view name;
};

struct SavedObject {
  enum class What { kOther, kUser, kAsset, kFunction, kVariable, kBareFunction, kConstant, kResource };
  What what = What::kOther;
  std::vector<ObjectChild> children;
  // kUser: its identifier. kConstant: the Const node. kBareFunction: the concrete function. kFunction: its
  // FunctionSpec's bytes.
  std::string_view text;
  // kVariable
  std::string_view variable_name;
  DType dtype = DType::kInvalid;
  bool unknown_rank = true;
  std::vector<int64_t> dims;
  int32_t asset_index = 0;                               // kAsset
  std::vector<std::string_view> concrete_functions;      // kFunction
  std::vector<std::string_view> argument_keywords;       // kBareFunction
  struct Saveable {
    std::string_view name;
    int32_t save_function, restore_function;
  };
  std::vector<Saveable> saveables;

  // The child's node, or -1.
  int32_t Child(std::string_view name) const;
};

struct ConcreteFunctionInfo {
  std::vector<int32_t> bound_inputs;  // nodes whose handles or values are the function's last arguments
  std::string_view input_signature, output_signature;  // StructuredValue bytes
};

struct ObjectGraph {
  std::vector<SavedObject> nodes;
  std::map<std::string_view, ConcreteFunctionInfo> concrete_functions;
};

// REQUIRES: the bytes outlive the result. InvalidArgument names the node for an id out of range and for
// objects that depend on one another in a circle.
Result<ObjectGraph> ReadObjectGraph(std::string_view bytes);

// One object of the checkpoint: children and the checkpoint keys of its attributes.
struct CheckpointObject {
  std::vector<ObjectChild> children;
  std::map<std::string_view, std::string_view> keys;  // attribute name -> checkpoint key
};
// Of the value of _CHECKPOINTABLE_OBJECT_GRAPH.
Result<std::vector<CheckpointObject>> ReadCheckpointGraph(std::string_view bytes);

// Which checkpoint object each saved object is, by walking both from their roots; -1 for none.
std::vector<int32_t> MatchObjects(const ObjectGraph& saved, const std::vector<CheckpointObject>& checkpoint);

// The keys of a StructuredValue that is a dict, sorted as functions order their outputs; empty for another.
std::vector<std::string> DictKeys(std::string_view structured_value);

}  // namespace tare
