#include "saved_model/meta_graph.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "wire/message.h"

namespace tare {
namespace {

using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

Status ReadTensorInfo(std::string_view bytes, TensorInfo* t) {
  return ForEachField(bytes, "tensor info", [&](Reader& r) -> Status {
    switch (r.tag()) {
      case 1: t->name = Bytes(r); break;
      case 2: t->dtype = DTypeFromWire(r.get_int64()); break;
      case 3:
        t->unknown_rank = false;
        return ForEachField(Bytes(r), "shape", [&](Reader& s) -> Status {
          if (s.tag() == 3) t->unknown_rank = s.get_bool();
          if (s.tag() != 2) return OkStatus();
          t->dims.push_back(0);
          return ForEachField(Bytes(s), "dimension", [&](Reader& d) {
            if (d.tag() == 1) t->dims.back() = d.get_int64();
            return OkStatus();
          });
        });
      case 4:
        return ForEachField(Bytes(r), "sparse tensor info", [&](Reader& s) {
          if (s.tag() == 1) t->name = Bytes(s);
          if (s.tag() == 2) t->indices_name = Bytes(s);
          if (s.tag() == 3) t->shape_name = Bytes(s);
          return OkStatus();
        });
      default: break;
    }
    return OkStatus();
  });
}

Status ReadTensorInfos(std::string_view entry, std::map<std::string, TensorInfo, std::less<>>* infos) {
  TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(entry, "signature"));
  TensorInfo info;
  TARE_RETURN_IF_ERROR(ReadTensorInfo(e.value, &info));
  infos->insert_or_assign(std::string(e.key), std::move(info));
  return OkStatus();
}

Status ReadSignature(std::string_view bytes, SignatureDef* s) {
  return ForEachField(bytes, "signature", [&](Reader& r) -> Status {
    if (r.tag() == 1) return ReadTensorInfos(Bytes(r), &s->inputs);
    if (r.tag() == 2) return ReadTensorInfos(Bytes(r), &s->outputs);
    if (r.tag() == 3) s->method_name = Bytes(r);
    if (r.tag() == 4) {
      TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(Bytes(r), "default"));
      s->defaults.insert_or_assign(std::string(e.key), e.value);
    }
    return OkStatus();
  });
}

Status ReadAsset(std::string_view bytes, std::vector<AssetDef>* assets) {
  AssetDef a;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "asset", [&](Reader& r) -> Status {
    if (r.tag() == 2) a.filename = Bytes(r);
    if (r.tag() != 1) return OkStatus();
    TensorInfo info;
    TARE_RETURN_IF_ERROR(ReadTensorInfo(Bytes(r), &info));
    a.tensor_name = info.name;
    return OkStatus();
  }));
  assets->push_back(std::move(a));
  return OkStatus();
}

// The strings of a CollectionDef's node_list.
Result<std::vector<std::string>> ReadNodeList(std::string_view collection) {
  std::vector<std::string> names;
  TARE_RETURN_IF_ERROR(ForEachField(collection, "collection", [&](Reader& r) -> Status {
    if (r.tag() != 1) return OkStatus();
    return ForEachField(Bytes(r), "node list", [&](Reader& l) {
      if (l.tag() == 1) names.emplace_back(Bytes(l));
      return OkStatus();
    });
  }));
  return names;
}

// The AssetFileDefs packed into an any_list.
Status ReadAssetCollection(std::string_view collection, std::vector<AssetDef>* assets) {
  return ForEachField(collection, "asset collection", [&](Reader& r) -> Status {
    if (r.tag() != 5) return OkStatus();
    return ForEachField(Bytes(r), "any list", [&](Reader& l) -> Status {
      if (l.tag() != 1) return OkStatus();
      return ForEachField(Bytes(l), "any", [&](Reader& any) -> Status {
        return any.tag() == 2 ? ReadAsset(Bytes(any), assets) : OkStatus();
      });
    });
  });
}

std::string_view WithoutPort(std::string_view name) { return name.substr(0, name.find(':')); }

// How a meta graph says which op initialises it, in the order TensorFlow looks.
struct InitOps {
  std::string signature, main_op, legacy;
  bool many = false;
};

Status ReadCollection(std::string_view entry, InitOps* init, std::vector<AssetDef>* assets) {
  TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(entry, "collection"));
  if (e.key == "saved_model_assets") return ReadAssetCollection(e.value, assets);
  if (e.key != "saved_model_main_op" && e.key != "legacy_init_op") return OkStatus();
  TARE_ASSIGN_OR_RETURN(std::vector<std::string> names, ReadNodeList(e.value));
  if (names.size() != 1) init->many = true;
  if (!names.empty()) (e.key == "legacy_init_op" ? init->legacy : init->main_op) = names[0];
  return OkStatus();
}

Status ReadMetaInfo(std::string_view bytes, std::vector<std::string>* tags, std::string* version) {
  return ForEachField(bytes, "meta info", [&](Reader& r) {
    if (r.tag() == 4) tags->emplace_back(Bytes(r));
    if (r.tag() == 5 && version) *version = Bytes(r);
    return OkStatus();
  });
}

std::string TagList(const std::vector<std::string>& tags) {
  std::string s = "{";
  for (const std::string& t : tags) s += " " + t;
  return s + " }";
}

}  // namespace

std::string TensorInfo::ToString() const { return fmt::format("{} {}", DTypeName(dtype), shape().ToString()); }

Result<SavedModelFile> SavedModelFile::Open(const std::string& dir, MappedFile::Mode mode,
                                            const Ref<Account>& account) {
  const std::string path = dir + "/saved_model.pb";
  auto file = MappedFile::Open(path, mode, account);
  if (!file.ok()) {
    struct stat st;
    if (stat((dir + "/saved_model.pbtxt").c_str(), &st) == 0) {
      return Unimplemented("{}/saved_model.pbtxt: models in text format are not read; convert it to .pb", dir);
    }
    if (stat((dir + "/saved_model.cpb").c_str(), &st) == 0) {
      return Unimplemented("{}/saved_model.cpb: models in chunked format are not read", dir);
    }
    if (file.status().code() != Code::kNotFound) return std::move(file).status();
    return NotFound(
        "Could not find SavedModel .pb or .pbtxt at supplied export directory path: {}. Check that the directory "
        "exists and that you have the right permissions for accessing it.",
        dir);
  }
  SavedModelFile model;
  model.file_ = *std::move(file);
  std::string_view bytes = model.file_->view();
  if (bytes.empty()) return DataLoss("{}: the file is empty", path);
  if (bytes.starts_with("version https://git-lfs")) {
    return InvalidArgument("{}: this is a Git LFS pointer, not the model; run 'git lfs pull'", path);
  }
  Status s = ForEachField(bytes, "saved model", [&](Reader& r) -> Status {
    if (r.tag() != 2) return OkStatus();
    model.meta_graphs_.push_back(Bytes(r));
    std::vector<std::string>& tags = model.tag_sets_.emplace_back();
    return ForEachField(model.meta_graphs_.back(), "meta graph", [&](Reader& m) -> Status {
      return m.tag() == 1 ? ReadMetaInfo(Bytes(m), &tags, nullptr) : OkStatus();
    });
  });
  if (!s.ok()) return std::move(s).At(path);
  if (model.meta_graphs_.empty()) return InvalidArgument("{}: there is no meta graph in it", path);
  return model;
}

Result<MetaGraph> SavedModelFile::Select(const std::vector<std::string>& tags) const {
  size_t chosen = meta_graphs_.size();
  if (tags.empty() && meta_graphs_.size() == 1) chosen = 0;
  const std::set<std::string> wanted(tags.begin(), tags.end());
  for (size_t i = 0; i < tag_sets_.size() && !tags.empty(); ++i) {
    if (std::set<std::string>(tag_sets_[i].begin(), tag_sets_[i].end()) == wanted) chosen = i;
  }
  if (chosen == meta_graphs_.size()) {
    std::string available;
    for (const auto& t : tag_sets_) available += " " + TagList(t);
    return NotFound(
        "Could not find meta graph def matching supplied tags: {}. {} has:{}. To inspect available tag-sets in the "
        "SavedModel, please use the SavedModel CLI: `saved_model_cli` or `tare show`",
        TagList(tags), file_->path(), available);
  }
  MetaGraph g;
  g.bytes = meta_graphs_[chosen];
  InitOps init;
  std::vector<AssetDef> asset_collection;
  Status s = ForEachField(meta_graphs_[chosen], "meta graph", [&](Reader& r) -> Status {
    switch (r.tag()) {
      case 1: return ReadMetaInfo(Bytes(r), &g.tags, &g.tensorflow_version);
      case 2: g.graph_def = Bytes(r); break;
      case 3:
        g.has_saver = true;
        return ForEachField(Bytes(r), "saver", [&](Reader& v) {
          if (v.tag() == 1) g.saver_filename_tensor = Bytes(v);
          if (v.tag() == 3) g.saver_restore_op = Bytes(v);
          return OkStatus();
        });
      case 4: return ReadCollection(Bytes(r), &init, &asset_collection);
      case 5: {
        TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(Bytes(r), "signature"));
        SignatureDef signature;
        Status bad = ReadSignature(e.value, &signature);
        if (!bad.ok()) return std::move(bad).At(fmt::format("signature '{}'", e.key));
        if (e.key == "__saved_model_init_op") {
          if (!signature.outputs.empty()) init.signature = signature.outputs.begin()->second.name;
        } else if (e.key != "__saved_model_train_op") {
          g.signatures.insert_or_assign(std::string(e.key), std::move(signature));
        }
        break;
      }
      case 6: return ReadAsset(Bytes(r), &g.assets);
      case 7: g.object_graph = Bytes(r); break;
      default: break;
    }
    return OkStatus();
  });
  if (!s.ok()) return std::move(s).At(file_->path());
  if (init.many && init.signature.empty()) {
    return FailedPrecondition("Expected exactly one main op in : {}", file_->path());
  }
  g.init_op = WithoutPort(!init.signature.empty() ? init.signature : !init.main_op.empty() ? init.main_op : init.legacy);
  if (g.assets.empty()) g.assets = std::move(asset_collection);
  s = ForEachField(g.graph_def, "graph", [&](Reader& r) {
    if (r.tag() == 2) g.function_library = Bytes(r);
    return OkStatus();
  });
  if (!s.ok()) return std::move(s).At(file_->path());
  return g;
}

}  // namespace tare
