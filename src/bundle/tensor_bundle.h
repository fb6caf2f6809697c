// A checkpoint: `PREFIX.index` and its data shards `PREFIX.data-00000-of-00001`, read in place.
//
// Tensors are packed without gaps, so one is used where it lies only if that is aligned for its type; else it
// is copied. A tensor keeps its shard mapped for as long as it lives, the bundle need not. Nothing in the
// files is trusted: sizes are checked against the shard before its bytes are touched, and nothing larger
// than what the files hold is allocated. Thread-safe once open.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bundle/bundle_entry.h"
#include "bundle/table_reader.h"
#include "memory/mapped_file.h"
#include "tensor/tensor.h"
#include "threads/thread_pool.h"

namespace tare {

class Shard;

class TensorBundle {
 public:
  struct Options {
    // kMap uses tensors in place; kRead reads each into memory of its own (see mapped_file.h for why).
    MappedFile::Mode mode = MappedFile::Mode::kMap;
    // Whether Read checks a tensor's bytes against their checksum. Off where VerifyAll did so already.
    bool verify_checksums = true;
  };

  // NotFound when there is no index; DataLoss, naming the file, when it is damaged.
  static Result<std::unique_ptr<TensorBundle>> Open(std::string_view prefix, const Options& options,
                                                    Ref<Account> account);
  ~TensorBundle();

  const std::string& prefix() const { return prefix_; }
  const BundleHeader& header() const { return header_; }

  // NotFound "Key k not found in checkpoint"; DataLoss for an entry that cannot be.
  Result<BundleEntry> Find(std::string_view key) const;
  bool Contains(std::string_view key) const { return Lookup(key) != nullptr; }
  // Every tensor by name, the pieces of partitioned ones left out.
  Result<std::vector<BundleEntry>> entries() const;

  // The whole tensor, put together when it is partitioned. Memory of its own is charged as `kind`.
  // With `expected`, InvalidArgument for another dtype, as RestoreV2 has it.
  Result<Tensor> Read(std::string_view key, Kind kind, DType expected = DType::kInvalid) const;
  // The part that a RestoreV2 spec such as "4 5 2,1:0,5" asks for; the empty spec is the whole.
  Result<Tensor> ReadSlice(std::string_view key, std::string_view spec, Kind kind,
                           DType expected = DType::kInvalid) const;

  // Checks the checksums of these tensors, pieces included, on all threads of the pool.
  Status VerifyAll(ThreadPool& threads, std::span<const std::string_view> keys) const;

 private:
  struct Payload;
  struct Chunk;
  TensorBundle(std::string_view prefix, const Options& options, Ref<Account> account);
  const TableEntry* Lookup(std::string_view key) const;
  Result<BundleEntry> FindTyped(std::string_view key, DType expected) const;
  Result<BundleEntry> FindPiece(const BundleEntry& whole, const TensorSlice& slice, const Box& box) const;
  Result<Shard*> OpenShard(int32_t id) const;
  int64_t OpenShardBytes() const;
  // The shard, once the entry's bytes are known to lie inside it.
  Result<Shard*> Locate(const BundleEntry& entry) const;
  Result<Payload> Load(const BundleEntry& entry, Kind kind) const;
  Status CheckCrc(const BundleEntry& entry, const Shard& shard, uint32_t actual) const;
  Result<Tensor> ReadEntry(const BundleEntry& entry, Kind kind) const;
  Result<Tensor> ReadPlain(const BundleEntry& entry, Kind kind) const;
  Result<Tensor> ReadStrings(const BundleEntry& entry, Kind kind) const;
  Result<Tensor> ReadBox(const BundleEntry& entry, const Box& want, Kind kind) const;
  Result<Tensor> Assemble(const BundleEntry& entry, const Box& want, Kind kind) const;
  Result<std::vector<BundleEntry>> StoredPieces(std::span<const std::string_view> keys) const;
  static void VerifyChunk(const Shard& shard, Chunk& chunk);

  const std::string prefix_;
  const Options options_;
  const Ref<Account> account_;
  Region region_;  // what of the index is not in the file as such
  Ref<MappedFile> index_;
  std::vector<TableEntry> table_;  // without the header
  BundleHeader header_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Shard>> shards_;  // guarded by mutex_; opened when first needed
};

}  // namespace tare
