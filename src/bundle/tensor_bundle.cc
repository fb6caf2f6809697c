#include "bundle/tensor_bundle.h"

#include <algorithm>
#include <atomic>

#include "bundle/crc32c.h"
#include "bundle/shard.h"

namespace tare {
namespace {

// How much a thread verifies at a time.
constexpr int64_t kVerifyBytes = 1 << 20;

size_t Alignment(DType t) {
  return t == DType::kComplex64 ? 4 : std::min<size_t>(DTypeSize(t), 8);
}

std::string_view NameOf(DType t) { return t == DType::kInvalid ? "INVALID" : DTypeName(t); }

// The bytes a plain tensor must have; INT64_MAX where that overflows, which no entry's size equals.
int64_t ExpectedBytes(const BundleEntry& e) {
  int64_t bytes;
  if (__builtin_mul_overflow(e.shape.num_elements(), static_cast<int64_t>(DTypeSize(e.dtype)), &bytes)) {
    return INT64_MAX;
  }
  return bytes;
}

// The start of a string tensor's bytes: how long each string is, and a checksum of that.
struct StringLengths {
  std::vector<uint64_t> lengths;
  std::string_view rest;  // the strings
  uint32_t crc = 0;       // of lengths and their checksum, to be continued over `rest`
};

// REQUIRES: at most as many elements as bytes.
Result<StringLengths> ParseLengths(const BundleEntry& e, std::string_view bytes, bool verify) {
  StringLengths s;
  const auto n = static_cast<size_t>(e.shape.num_elements());
  if (n == 0 && bytes.empty()) return s;
  ByteReader r(bytes);
  s.lengths.reserve(n);
  uint64_t total = 0;
  for (size_t i = 0; i < n; ++i) {
    uint64_t length = r.Varint64();
    s.lengths.push_back(length);
    // Each length is fed as four little-endian bytes where that is enough.
    s.crc = Crc32c({reinterpret_cast<const char*>(&length), length <= UINT32_MAX ? 4u : 8u}, s.crc);
    if (__builtin_add_overflow(total, length, &total)) total = UINT64_MAX;
  }
  std::string_view checksum = r.Bytes(4);
  if (!r.ok()) {
    return DataLoss("Invalid size in bundle entry: key {}; stored size {}, too small for {} lengths", e.name, e.size, n);
  }
  const uint32_t stored = ByteReader(checksum).Fixed32();
  if (verify && stored != MaskCrc(s.crc)) {
    return DataLoss("The length checksum does not match: expected {} but actual is {}: key {}", UnmaskCrc(stored),
                    s.crc, e.name);
  }
  s.rest = r.rest();
  if (total != s.rest.size()) {
    return DataLoss("Invalid size in bundle entry: key {}; stored size {}, of which {} bytes for strings of {}",
                    e.name, e.size, s.rest.size(), total);
  }
  s.crc = Crc32c(checksum, s.crc);
  return s;
}

}  // namespace

// An entry's bytes and what keeps them: the mapping, or a buffer of their own.
struct TensorBundle::Payload {
  std::string_view bytes;
  Ref<RefCounted> keeper;
  Ref<Buffer> own;  // the keeper, unless that is the mapping
  Shard* shard;
};

TensorBundle::TensorBundle(std::string_view prefix, const Options& options, Ref<Account> account)
    : prefix_(prefix), options_(options), account_(account), region_(account, Kind::kGraphs) {}
TensorBundle::~TensorBundle() = default;

Result<std::unique_ptr<TensorBundle>> TensorBundle::Open(std::string_view prefix, const Options& options,
                                                         Ref<Account> account) {
  std::unique_ptr<TensorBundle> b(new TensorBundle(prefix, options, account));
  const std::string path = b->prefix_ + ".index";
  TARE_ASSIGN_OR_RETURN(b->index_, MappedFile::Open(path, options.mode, account));
  auto table = ReadTable(b->index_->view(), b->region_);
  if (!table.ok()) return std::move(table).status().At(path);
  b->table_ = *std::move(table);
  if (b->table_.empty() || !b->table_[0].key.empty()) {
    return NotFound("{}: Empty bundle: the header is missing", path);
  }
  auto header = BundleHeader::Parse(b->table_[0].value);
  if (!header.ok()) return std::move(header).status().At(path);
  b->header_ = *header;
  b->table_.erase(b->table_.begin());
  return b;
}

const TableEntry* TensorBundle::Lookup(std::string_view key) const {
  auto it = std::ranges::lower_bound(table_, key, {}, &TableEntry::key);
  return it != table_.end() && it->key == key ? &*it : nullptr;
}

Result<BundleEntry> TensorBundle::Find(std::string_view key) const {
  const TableEntry* found = Lookup(key);
  if (!found) return NotFound("{}.index: Key {} not found in checkpoint", prefix_, key);
  auto entry = BundleEntry::Parse(found->key, found->value);
  if (!entry.ok()) return std::move(entry).status().At(prefix_ + ".index");
  return entry;
}

Result<BundleEntry> TensorBundle::FindTyped(std::string_view key, DType expected) const {
  TARE_ASSIGN_OR_RETURN(BundleEntry e, Find(key));
  if (expected != DType::kInvalid && e.dtype != expected) {
    return InvalidArgument("{}.index: tensor_name = {}; expected dtype {} does not equal original dtype {}", prefix_,
                           key, NameOf(expected), NameOf(e.dtype));
  }
  return e;
}

Result<std::vector<BundleEntry>> TensorBundle::entries() const {
  std::vector<BundleEntry> all;
  for (const TableEntry& t : table_) {
    if (t.key[0] == '\0') continue;
    TARE_ASSIGN_OR_RETURN(BundleEntry e, Find(t.key));
    all.push_back(e);
  }
  return all;
}

Result<Shard*> TensorBundle::OpenShard(int32_t id) const {
  std::lock_guard lock(mutex_);
  for (const auto& shard : shards_) {
    if (shard->id() == id) return shard.get();
  }
  std::string path = fmt::format("{}.data-{:05}-of-{:05}", prefix_, id, header_.num_shards);
  TARE_ASSIGN_OR_RETURN(auto shard, Shard::Open(std::move(path), id, options_.mode, account_));
  shards_.push_back(std::move(shard));
  return shards_.back().get();
}

int64_t TensorBundle::OpenShardBytes() const {
  std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& shard : shards_) bytes += shard->size();
  return bytes;
}

Result<Shard*> TensorBundle::Locate(const BundleEntry& e) const {
  if (e.dtype == DType::kString) {
    // Each length takes a byte.
    if (const int64_t n = e.shape.num_elements(); e.size < n) {
      return DataLoss("{}.index: Invalid size in bundle entry: key {}; stored size {}; expected size is at least {}",
                      prefix_, e.name, e.size, n);
    }
  } else if (!IsPlain(e.dtype) || DTypeSize(e.dtype) == 0) {
    return Unimplemented("{}.index: key {} holds values of dtype {}, which Tare does not restore", prefix_, e.name,
                         NameOf(e.dtype));
  } else if (int64_t expected = ExpectedBytes(e); e.size != expected) {
    return DataLoss("{}.index: Invalid size in bundle entry: key {}; stored size {}; expected size {}", prefix_,
                    e.name, e.size, expected);
  }
  if (e.shard < 0) return DataLoss("{}.index: key {} lies in shard {}", prefix_, e.name, e.shard);
  TARE_ASSIGN_OR_RETURN(Shard* shard, OpenShard(e.shard));
  if (e.offset < 0) {
    return InvalidArgument("{}: Seeking to a negative position: {}: key {}", shard->path(), e.offset, e.name);
  }
  if (e.offset > INT64_MAX - e.size) {
    return InvalidArgument("{}; Invalid argument: key {} of {} bytes at {}", shard->path(), e.name, e.size, e.offset);
  }
  if (e.offset + e.size > shard->size()) {
    return OutOfRange("{}: Read less bytes than requested: key {} has {} bytes at {} of a file of {}", shard->path(),
                      e.name, e.size, e.offset, shard->size());
  }
  return shard;
}

Result<TensorBundle::Payload> TensorBundle::Load(const BundleEntry& e, Kind kind) const {
  Payload p;
  TARE_ASSIGN_OR_RETURN(p.shard, Locate(e));
  if (p.shard->mapping()) {
    p.bytes = p.shard->MappedBytes(e.offset, e.size);
    p.keeper = p.shard->mapping();
    return p;
  }
  TARE_ASSIGN_OR_RETURN(p.own, Buffer::Allocate(account_, DType::kUint8, static_cast<size_t>(e.size), kind));
  TARE_RETURN_IF_ERROR(p.shard->ReadAt(e.offset, e.size, p.own->data()));
  p.bytes = {static_cast<const char*>(p.own->data()), static_cast<size_t>(e.size)};
  p.keeper = p.own;
  return p;
}

Status TensorBundle::CheckCrc(const BundleEntry& e, const Shard& shard, uint32_t actual) const {
  const uint32_t stored = UnmaskCrc(e.crc);
  if (stored == actual) return OkStatus();
  return DataLoss(
      "TensorBundle at {} shard {} ({} bytes): Checksum does not match: stored {} vs. calculated on the restored "
      "bytes {}: key {}",
      prefix_, shard.id(), e.size, stored, actual, e.name);
}

Result<Tensor> TensorBundle::ReadPlain(const BundleEntry& e, Kind kind) const {
  TARE_ASSIGN_OR_RETURN(Payload p, Load(e, kind));
  if (options_.verify_checksums) TARE_RETURN_IF_ERROR(CheckCrc(e, *p.shard, Crc32c(p.bytes)));
  // A bool that is neither 0 nor 1 would be undefined behaviour in every kernel.
  const bool odd_bools = e.dtype == DType::kBool && std::ranges::any_of(p.bytes, [](char c) { return (c & ~1) != 0; });
  if (!odd_bools && p.own) return Tensor(e.dtype, e.shape, std::move(p.own));
  if (!odd_bools && reinterpret_cast<uintptr_t>(p.bytes.data()) % Alignment(e.dtype) == 0) {
    return Tensor(e.dtype, e.shape, Buffer::Within(std::move(p.keeper), p.bytes.data(), p.bytes.size()));
  }
  TARE_ASSIGN_OR_RETURN(Tensor copy, Tensor::Make(account_, e.dtype, e.shape, kind));
  if (odd_bools) {
    std::ranges::transform(p.bytes, static_cast<char*>(copy.mutable_raw()), [](char c) { return c != 0; });
  } else if (!p.bytes.empty()) {
    std::memcpy(copy.mutable_raw(), p.bytes.data(), p.bytes.size());
  }
  return copy;
}

Result<Tensor> TensorBundle::ReadStrings(const BundleEntry& e, Kind kind) const {
  TARE_ASSIGN_OR_RETURN(Payload p, Load(e, kind));
  auto parsed = ParseLengths(e, p.bytes, options_.verify_checksums);
  if (!parsed.ok()) return std::move(parsed).status().At(p.shard->path());
  if (options_.verify_checksums && !p.bytes.empty()) {
    TARE_RETURN_IF_ERROR(CheckCrc(e, *p.shard, Crc32c(parsed->rest, parsed->crc)));
  }
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account_, e.dtype, e.shape, kind));
  ByteReader strings(parsed->rest);
  bool views = false;
  StringCell* cell = t.mutable_data<StringCell>();
  for (uint64_t length : parsed->lengths) {
    std::string_view s = strings.Bytes(length);
    // Short strings fit the cell; longer ones stay where they are.
    if (length <= StringCell::kInlineMax) {
      cell++->Assign(s);
    } else {
      views = true;
      cell++->AssignView(s);
    }
  }
  if (views) t.buffer()->KeepAlive(std::move(p.keeper));
  return t;
}

Result<Tensor> TensorBundle::ReadEntry(const BundleEntry& e, Kind kind) const {
  return e.dtype == DType::kString ? ReadStrings(e, kind) : ReadPlain(e, kind);
}

Result<Tensor> TensorBundle::Read(std::string_view key, Kind kind, DType expected) const {
  return ReadSlice(key, "", kind, expected);
}

Result<Tensor> TensorBundle::ReadSlice(std::string_view key, std::string_view spec, Kind kind, DType expected) const {
  TARE_ASSIGN_OR_RETURN(BundleEntry e, FindTyped(key, expected));
  TensorSlice slice = TensorSlice::Whole(e.shape.rank());
  if (!spec.empty()) {
    auto parsed = ShapeAndSlice::Parse(spec);
    if (!parsed.ok()) return std::move(parsed).status().At(fmt::format("{}: key {}", prefix_, key));
    if (!(parsed->shape == e.shape)) {
      return InvalidArgument(
          "{}.index: tensor_name = {}; shape in shape_and_slice spec {} does not match the shape stored in "
          "checkpoint: {}",
          prefix_, key, parsed->shape.ToString(), e.shape.ToString());
    }
    slice = parsed->slice;
  }
  auto want = Box::Make(slice, e.shape);
  if (!want.ok()) return std::move(want).status().At(fmt::format("{}: key {}", prefix_, key));
  return e.slices > 0 ? Assemble(e, *want, kind) : ReadBox(e, *want, kind);
}

Result<Tensor> TensorBundle::ReadBox(const BundleEntry& e, const Box& want, Kind kind) const {
  TARE_ASSIGN_OR_RETURN(Tensor whole, ReadEntry(e, kind));
  if (want.shape == e.shape) return whole;
  TARE_ASSIGN_OR_RETURN(Tensor part, Tensor::Make(account_, e.dtype, want.shape, kind));
  if (part.num_elements() > 0) {
    Box all = *Box::Make(TensorSlice::Whole(e.shape.rank()), e.shape);
    CopyBox(e.dtype, want, whole.raw(), all, part.mutable_raw(), want);
  }
  return part;
}

Result<BundleEntry> TensorBundle::FindPiece(const BundleEntry& whole, const TensorSlice& slice, const Box& box) const {
  const TableEntry* found = Lookup(SliceKey(whole.name, slice));
  if (!found) {
    return NotFound("{}.index: Key {} not found in checkpoint: its slice {} is missing", prefix_, whole.name,
                    slice.ToString());
  }
  auto piece = BundleEntry::Parse(whole.name, found->value);
  if (!piece.ok()) return std::move(piece).status().At(prefix_ + ".index");
  if (piece->slices > 0 || piece->dtype != whole.dtype || !(piece->shape == box.shape)) {
    return DataLoss("{}.index: key {}: slice {} of {} {} is stored as {} {}", prefix_, whole.name, slice.ToString(),
                    NameOf(whole.dtype), whole.shape.ToString(), NameOf(piece->dtype), piece->shape.ToString());
  }
  return piece;
}

Result<Tensor> TensorBundle::Assemble(const BundleEntry& e, const Box& want, Kind kind) const {
  struct Piece {
    BundleEntry entry;
    Box box, part;
  };
  std::vector<Piece> pieces;
  int64_t covered = 0;
  const int64_t wanted = want.shape.num_elements();
  Status s = e.ForEachSlice([&](const TensorSlice& slice) -> Status {
    Piece piece;
    auto box = Box::Make(slice, e.shape);
    if (!box.ok()) return std::move(box).status().At(fmt::format("{}.index: key {}", prefix_, e.name));
    piece.box = *box;
    if (!Box::Intersect(piece.box, want, &piece.part)) return OkStatus();
    covered += piece.part.shape.num_elements();
    if (covered > wanted) return DataLoss("{}.index: key {}: its slices overlap", prefix_, e.name);
    TARE_ASSIGN_OR_RETURN(piece.entry, FindPiece(e, slice, piece.box));
    TARE_RETURN_IF_ERROR(Locate(piece.entry).status());
    pieces.push_back(std::move(piece));
    return OkStatus();
  });
  TARE_RETURN_IF_ERROR(std::move(s));
  if (covered != wanted) {
    return InvalidArgument(
        "{}.index: Does not have sufficient slices for partitioned tensor {} to restore in slice_spec: {}", prefix_,
        e.name, want.shape.ToString());
  }
  // Pieces that share their bytes must not make a small file fill the memory.
  if (wanted > OpenShardBytes()) {
    return DataLoss("{}.index: key {}: {} elements do not fit the checkpoint's files", prefix_, e.name, wanted);
  }
  // A variable's own piece: nothing to put together.
  if (pieces.size() == 1 && pieces[0].box == want) return ReadEntry(pieces[0].entry, kind);
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account_, e.dtype, want.shape, kind));
  // Slices that overlap and leave holes must not show what the memory held before.
  if (IsPlain(e.dtype) && t.bytes() > 0) std::memset(t.mutable_raw(), 0, t.bytes());
  for (const Piece& p : pieces) {
    TARE_ASSIGN_OR_RETURN(Tensor piece, ReadEntry(p.entry, kind));
    CopyBox(e.dtype, p.part, piece.raw(), p.box, t.mutable_raw(), want);
  }
  return t;
}

// A run of one plain tensor's bytes.
struct TensorBundle::Chunk {
  size_t entry;
  int64_t offset, size;
  uint32_t crc = 0;
  Status status;
};

Result<std::vector<BundleEntry>> TensorBundle::StoredPieces(std::span<const std::string_view> keys) const {
  std::vector<BundleEntry> stored;
  for (std::string_view key : keys) {
    TARE_ASSIGN_OR_RETURN(BundleEntry e, Find(key));
    if (e.slices == 0) {
      stored.push_back(e);
      continue;
    }
    TARE_RETURN_IF_ERROR(e.ForEachSlice([&](const TensorSlice& slice) -> Status {
      auto box = Box::Make(slice, e.shape);
      if (!box.ok()) return std::move(box).status().At(fmt::format("{}.index: key {}", prefix_, e.name));
      TARE_ASSIGN_OR_RETURN(BundleEntry piece, FindPiece(e, slice, *box));
      stored.push_back(piece);
      return OkStatus();
    }));
  }
  return stored;
}

void TensorBundle::VerifyChunk(const Shard& shard, Chunk& chunk) {
  if (shard.mapping()) {
    chunk.crc = Crc32c(shard.MappedBytes(chunk.offset, chunk.size));
    return;
  }
  std::unique_ptr<char[]> scratch(new (std::nothrow) char[static_cast<size_t>(chunk.size)]);
  if (!scratch) {
    chunk.status = ResourceExhausted("{}: no memory to verify in", shard.path());
    return;
  }
  chunk.status = shard.ReadAt(chunk.offset, chunk.size, scratch.get());
  chunk.crc = Crc32c({scratch.get(), static_cast<size_t>(chunk.size)});
}

Status TensorBundle::VerifyAll(ThreadPool& threads, std::span<const std::string_view> keys) const {
  TARE_ASSIGN_OR_RETURN(std::vector<BundleEntry> entries, StoredPieces(keys));
  std::vector<Shard*> shards;
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < entries.size(); ++i) {
    const BundleEntry& e = entries[i];
    TARE_ASSIGN_OR_RETURN(Shard* shard, Locate(e));
    shards.push_back(shard);
    if (e.dtype == DType::kString) {
      TARE_ASSIGN_OR_RETURN(Payload p, Load(e, Kind::kWeights));
      auto parsed = ParseLengths(e, p.bytes, true);
      if (!parsed.ok()) return std::move(parsed).status().At(shard->path());
      if (!p.bytes.empty()) TARE_RETURN_IF_ERROR(CheckCrc(e, *shard, Crc32c(parsed->rest, parsed->crc)));
      continue;
    }
    for (int64_t at = 0; at == 0 || at < e.size; at += kVerifyBytes) {
      chunks.push_back({i, e.offset + at, std::min(kVerifyBytes, e.size - at)});
    }
  }
  constexpr int64_t kNanosAChunk = 100'000;
  threads.ParallelFor(static_cast<int64_t>(chunks.size()), kNanosAChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) VerifyChunk(*shards[chunks[i].entry], chunks[i]);
  });
  for (size_t i = 0; i < chunks.size();) {
    const size_t entry = chunks[i].entry;
    uint32_t crc = 0;
    for (; i < chunks.size() && chunks[i].entry == entry; ++i) {
      TARE_RETURN_IF_ERROR(std::move(chunks[i].status));
      crc = ConcatCrc32c(crc, chunks[i].crc, static_cast<uint64_t>(chunks[i].size));
    }
    TARE_RETURN_IF_ERROR(CheckCrc(entries[entry], *shards[entry], crc));
  }
  return OkStatus();
}

}  // namespace tare
