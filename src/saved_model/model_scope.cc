#include "saved_model/model_scope.h"

#include <sys/stat.h>

#include <climits>
#include <cstdlib>

#include "saved_model/object_loader.h"

namespace tare {

ModelScope::ModelScope(EagerContext& context, Ref<Account> a, Ref<MappedFile> f, const LoadOptions& options)
    : context(context),
      account(std::move(a)),
      file(std::move(f)),
      mode(options.files),
      build_signatures(options.signatures),
      region(account, Kind::kGraphs),
      tensors(account, file),
      files(account, options.files, options.verify_checksums),
      functions({&context.ops(), &region, &tensors, &import_mutex}),
      graph({&context.ops(), &region, &tensors, &import_mutex}, &functions),
      resources(account),
      randoms(&context.randoms()),
      builder(functions, context.kernels(), account, {options.passes, run_context(), MakeRef<FreezeGuard>()}),
      load_id(context.NextLoadId()) {}

ModelScope::~ModelScope() = default;

RunContext ModelScope::run_context() {
  return {account, &context.threads(), &resources, &randoms, &files};
}

Result<const Plan*> ModelScope::Keep(Result<std::unique_ptr<Plan>> plan) {
  if (!plan.ok()) return std::move(plan).status();
  return plans.emplace_back(*std::move(plan)).get();
}

Result<Tensor> ModelScope::StringTensor(std::string_view s) {
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, DType::kString, Shape{}));
  t.mutable_data<StringCell>()->Assign(s);
  return t;
}

Status AddSignature(std::string_view name, Result<Signature> built, std::vector<Signature>* signatures) {
  if (built.ok()) {
    signatures->push_back(*std::move(built));
    return OkStatus();
  }
  Status status = std::move(built).status().At(fmt::format("signature '{}'", name));
  if (status.code() != Code::kUnimplemented) return status;
  Signature& s = signatures->emplace_back();
  s.name = name;
  s.unavailable = std::move(status);
  return OkStatus();
}

Result<std::string> AssetPath(const std::string& dir, const AssetDef& asset) {
  const std::string folder = dir + "/assets", path = folder + "/" + asset.filename;
  // Symbolic links count as what they point to, so compare where the file really is.
  std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), std::free);
  std::unique_ptr<char, decltype(&std::free)> root(realpath(folder.c_str(), nullptr), std::free);
  const bool leaves = asset.filename.empty() || asset.filename[0] == '/' ||
                      ("/" + asset.filename + "/").find("/../") != std::string::npos;
  if (leaves || (real && root && !std::string_view(real.get()).starts_with(std::string(root.get()) + "/"))) {
    return InvalidArgument("asset '{}' leaves the folder {}", asset.filename, folder);
  }
  if (!real) return NotFound("asset '{}': no such file in {}", asset.filename, folder);
  return path;
}

}  // namespace tare
