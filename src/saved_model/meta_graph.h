// saved_model.pb, read shallowly: one MetaGraph with its signatures, assets and initialisers. Graph, functions
// and object graph stay bytes. Views point into the file, which File keeps.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "memory/mapped_file.h"
#include "memory/region.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace tare {

// TensorInfo: a tensor of the graph by name ("node:port"), or the three of a sparse one.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  bool unknown_rank = true;
  std::vector<int64_t> dims;  // -1: unknown
  // COO-sparse: values (= name), indices and dense shape.
  std::string indices_name, shape_name;
  bool sparse() const { return !indices_name.empty(); }
  PartialShape shape() const { return {unknown_rank, dims}; }
  // "float [?,3]"
  std::string ToString() const;
};

struct SignatureDef {
  std::map<std::string, TensorInfo, std::less<>> inputs, outputs;
  std::map<std::string, std::string_view, std::less<>> defaults;  // TensorProto bytes by input
  std::string method_name;
};

struct AssetDef {
  std::string tensor_name;
  std::string filename;
};

struct MetaGraph {
  std::string_view bytes;  // the whole message
  std::vector<std::string> tags;
  std::string tensorflow_version;
  std::string_view graph_def, object_graph;
  std::string_view function_library;  // inside graph_def
  std::map<std::string, SignatureDef, std::less<>> signatures;  // without initialisers
  std::vector<AssetDef> assets;
  bool has_saver = false;
  std::string saver_filename_tensor, saver_restore_op;
  // The op to run once after restoring; empty when there is none.
  std::string init_op;
};

// The names of saved_model.pb's meta graphs and, of one, what is above.
class SavedModelFile {
 public:
  // Reads DIR/saved_model.pb. NotFound, DataLoss, InvalidArgument (a Git LFS pointer, an empty file,
  // no meta graph), Unimplemented (a chunked or text model), each naming the file.
  static Result<SavedModelFile> Open(const std::string& dir, MappedFile::Mode mode, const Ref<Account>& account);

  // The meta graph whose tags are exactly `tags`; with none given, the only one. NotFound lists what there is.
  Result<MetaGraph> Select(const std::vector<std::string>& tags) const;
  const std::vector<std::vector<std::string>>& tag_sets() const { return tag_sets_; }
  const Ref<MappedFile>& file() const { return file_; }

 private:
  Ref<MappedFile> file_;
  std::vector<std::string_view> meta_graphs_;
  std::vector<std::vector<std::string>> tag_sets_;
};

}  // namespace tare
