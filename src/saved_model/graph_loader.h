// The session's path: signatures over the GraphDef, variables restored by the saver's op, then the
// initialiser. What TF1 models need and TF2 models also carry.
#pragma once
#include <vector>

#include "saved_model/model_scope.h"

namespace tare {

class GraphLoader {
 public:
  // REQUIRES: `scope` and `meta` outlive the loader.
  GraphLoader(ModelScope& scope, const std::string& dir, const MetaGraph& meta)
      : scope_(scope), dir_(dir), meta_(meta) {}

  Result<std::vector<Signature>> Load();

 private:
  // Runs `target` once with the assets' paths, and what is given, fed.
  Status RunOnce(std::string_view target, const std::string& fed_name, Tensor fed_value);
  Result<Signature> BuildSignature(const std::string& name, const SignatureDef& def);

  ModelScope& scope_;
  const std::string& dir_;
  const MetaGraph& meta_;
};

}  // namespace tare
