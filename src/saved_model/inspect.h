// What a SavedModel is, told without loading it: for people choosing it, and for what Tare still lacks.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "saved_model/meta_graph.h"

namespace tare {

struct ModelInfo {
  std::vector<std::vector<std::string>> tag_sets;
  std::string tensorflow_version;
  std::map<std::string, SignatureDef, std::less<>> signatures;
  size_t functions = 0;                  // in the file
  size_t variables = 0;                  // tensors of the checkpoint
  size_t variable_bytes = 0;
  std::vector<std::string> tables;       // nodes that make lookup tables, of what signatures and init reach
  std::vector<std::string> assets;
  std::map<std::string, size_t, std::less<>> ops;  // reached by signatures, init and restore, with their counts
  std::vector<std::string> missing_ops;  // those Tare has no kernel for
};

// `ops` and `kernels` are a context's. Errors as Model::Load's.
Result<ModelInfo> InspectModel(const std::string& dir, const std::vector<std::string>& tags, const OpRegistry& ops,
                               const KernelRegistry& kernels);

}  // namespace tare
