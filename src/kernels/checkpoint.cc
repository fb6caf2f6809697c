// Restoring checkpoints by graph ops. Only a load may read files: later runs have no file cache and are refused.
#include <algorithm>

#include "bundle/file_cache.h"
#include "kernels/registry.h"

namespace tare {
namespace {

struct Restore {
  explicit Restore(AttrReader& a) : dtypes(a.TypeList("dtypes")) {}
  Status Run(KernelCall& c) const {
    const Tensor &prefix = c.input(0), &names = c.input(1), &slices = c.input(2);
    const auto n = static_cast<int64_t>(dtypes.size());
    if (prefix.num_elements() != 1) return InvalidArgument("prefix must be a scalar");
    if (names.num_elements() != n || slices.num_elements() != n) {
      return InvalidArgument("{} names and {} slices for {} tensors", names.num_elements(), slices.num_elements(), n);
    }
    if (!c.run().files) return FailedPrecondition("checkpoints are read only while a model is loaded");
    TARE_ASSIGN_OR_RETURN(TensorBundle* bundle, c.run().files->Get(std::string(prefix.scalar<StringCell>().view())));
    for (int64_t i = 0; i < n; ++i) {
      TARE_ASSIGN_OR_RETURN(Tensor t, bundle->ReadSlice(names.data<StringCell>()[i], slices.data<StringCell>()[i],
                                                        Kind::kWeights, dtypes[i]));
      c.SetOutput(static_cast<int>(i), std::move(t));
    }
    return OkStatus();
  }
  std::vector<DType> dtypes;
};

struct MergeShards {
  explicit MergeShards(AttrReader&) {}
  Status Run(KernelCall&) const { return Unimplemented("Tare does not write checkpoints"); }
};

// "prefix_temp/part" and kin: saving graphs name files with it even where only restoring runs.
struct ShardedName {
  explicit ShardedName(AttrReader&) {}
  Status Run(KernelCall& c) const {
    for (int i = 0; i < 3; ++i) {
      if (c.input(i).num_elements() != 1) return InvalidArgument("input {} must be a scalar", i);
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kString, Shape{}));
    out->mutable_data<StringCell>()->Assign(fmt::format("{}-{:05d}-of-{:05d}", c.input(0).scalar<StringCell>().view(),
                                                        c.input(1).scalar<int32_t>(), c.input(2).scalar<int32_t>()));
    return OkStatus();
  }
};

constexpr KernelRow kRows[] = {
    Op<MergeShards>("MergeV2Checkpoints", kStateful),
    Op<Restore>("RestoreV2", kStateful),
    Op<MergeShards>("SaveV2", kStateful),
    Op<ShardedName>("ShardedFilename"),
};

}  // namespace
extern constinit const KernelFamily kCheckpointKernels = kRows;
}  // namespace tare
