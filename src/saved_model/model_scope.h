// What a model owns while it is loaded, in the order it is built; teardown is the reverse.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundle/file_cache.h"
#include "context/eager_context.h"
#include "graph/importer.h"
#include "plan/plan_builder.h"
#include "saved_model/meta_graph.h"
#include "saved_model/model.h"

namespace tare {

class ObjectLoader;

struct ModelScope {
  ModelScope(EagerContext& context, Ref<Account> account, Ref<MappedFile> file, const LoadOptions& options);
  ~ModelScope();

  EagerContext& context;
  Ref<Account> account;
  Ref<MappedFile> file;  // saved_model.pb: names and constants are views of it
  MappedFile::Mode mode;
  bool build_signatures;
  std::mutex import_mutex;
  Region region;
  wire::TensorStore tensors;
  FileCache files;
  FunctionLibrary functions;
  GraphSource graph;
  ResourceScope resources;
  RandomStates randoms;  // the sequences of this load
  PlanBuilder builder;
  std::vector<std::unique_ptr<Plan>> plans;
  // Names this load among others of the same context, for resources that TensorFlow names by load.
  int64_t load_id;
  // What functions of the object graph need that are called later; empty for a model without one.
  MetaGraph meta;
  std::map<int32_t, Tensor> object_resources;  // variables and tables made, by node
  std::unique_ptr<ObjectLoader> objects;       // made by the first such call

  // A run inside this model: charged to it, reaching its resources.
  RunContext run_context();
  // Builds, keeps and returns a plan.
  Result<const Plan*> Keep(Result<std::unique_ptr<Plan>> plan);
  // A scalar string, charged to the model.
  Result<Tensor> StringTensor(std::string_view s);
};

// Adds a signature that was built, or one that is unavailable for want of an op. Another error is returned.
Status AddSignature(std::string_view name, Result<Signature> built, std::vector<Signature>* signatures);

// The path of an asset inside the model. InvalidArgument when it would leave the model's assets folder;
// NotFound when there is no such file.
Result<std::string> AssetPath(const std::string& dir, const AssetDef& asset);

}  // namespace tare
