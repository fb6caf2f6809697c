#include "bundle/table_reader.h"

#include <algorithm>

#include "bundle/byte_reader.h"
#include "bundle/crc32c.h"
#include "bundle/snappy.h"

namespace tare {
namespace {

constexpr size_t kFooterBytes = 48;
constexpr size_t kTrailerBytes = 5;
constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr uint8_t kSnappy = 1;
// Prefix compression could make a small file ask for keys without bound; real ones stay under 16.
constexpr size_t kMaxKeyGrowth = 64;

struct BlockHandle {
  uint64_t offset = 0, size = 0;
};

bool ReadHandle(ByteReader& r, BlockHandle* h) {
  h->offset = r.Varint64();
  h->size = r.Varint64();
  return r.ok();
}

class TableParser {
 public:
  TableParser(std::string_view file, Region& region)
      : file_(file), region_(region), key_budget_(file.size() * kMaxKeyGrowth) {}

  Result<std::vector<TableEntry>> Parse() {
    if (file_.size() < kFooterBytes) return DataLoss("file is too short to be an sstable");
    std::string_view footer = file_.substr(file_.size() - kFooterBytes);
    ByteReader magic(footer.substr(kFooterBytes - 8));
    uint64_t low = magic.Fixed32();
    if ((uint64_t{magic.Fixed32()} << 32 | low) != kMagic) return DataLoss("not an sstable (bad magic number)");
    ByteReader handles(footer.substr(0, kFooterBytes - 8));
    BlockHandle meta, index;
    if (!ReadHandle(handles, &meta) || !ReadHandle(handles, &index)) return DataLoss("bad block handle in the footer");

    std::vector<TableEntry> blocks, entries;
    TARE_RETURN_IF_ERROR(ReadBlock(index, blocks));
    for (const TableEntry& block : blocks) {
      ByteReader r(block.value);
      BlockHandle handle;
      if (!ReadHandle(r, &handle)) return DataLoss("bad block handle in the index block");
      TARE_RETURN_IF_ERROR(ReadBlock(handle, entries));
    }
    return entries;
  }

 private:
  // The block's bytes, checked and unpacked.
  Result<std::string_view> BlockBytes(const BlockHandle& h) {
    if (h.offset > file_.size() || h.size > file_.size() - h.offset ||
        file_.size() - h.offset - h.size < kTrailerBytes) {
      return DataLoss("block of {} bytes at {} lies outside the file of {} bytes", h.size, h.offset, file_.size());
    }
    ByteReader trailer(file_.substr(h.offset + h.size, kTrailerBytes));
    auto compression = static_cast<uint8_t>(trailer.Bytes(1)[0]);
    uint32_t stored = UnmaskCrc(trailer.Fixed32());
    if (stored != Crc32c(file_.substr(h.offset, h.size + 1))) return DataLoss("block checksum mismatch at {}", h.offset);
    std::string_view bytes = file_.substr(h.offset, h.size);
    if (compression == kSnappy) return Unsnappy(bytes, region_);
    if (compression != 0) return DataLoss("bad block type {} at {}", compression, h.offset);
    return bytes;
  }

  // Appends the block's entries, whose keys must go on ascending.
  Status ReadBlock(const BlockHandle& handle, std::vector<TableEntry>& out) {
    TARE_ASSIGN_OR_RETURN(std::string_view block, BlockBytes(handle));
    Status bad = DataLoss("bad entry in block at {}", handle.offset);
    if (block.size() < 4) return bad;
    uint64_t restarts = ByteReader(block.substr(block.size() - 4)).Fixed32();
    if (restarts * 4 > block.size() - 4) return bad;
    ByteReader r(block.substr(0, block.size() - 4 - restarts * 4));
    std::string_view previous;
    while (!r.done()) {
      uint32_t shared = r.Varint32(), added = r.Varint32(), value_size = r.Varint32();
      std::string_view tail = r.Bytes(added), value = r.Bytes(value_size);
      if (!r.ok() || shared > previous.size()) return bad;
      std::string_view key = tail;
      if (shared > 0) {
        const size_t size = size_t{shared} + added;
        if (size > key_budget_) return DataLoss("keys too long for the file's size in block at {}", handle.offset);
        key_budget_ -= size;
        auto joined = region_.AllocateArray<char>(size);
        std::ranges::copy(previous.substr(0, shared), joined.begin());
        std::ranges::copy(tail, joined.begin() + shared);
        key = {joined.data(), joined.size()};
      }
      if (!out.empty() && key <= out.back().key) return DataLoss("keys out of order in block at {}", handle.offset);
      out.push_back({key, value});
      previous = key;
    }
    return OkStatus();
  }

  const std::string_view file_;
  Region& region_;
  size_t key_budget_;
};

}  // namespace

Result<std::vector<TableEntry>> ReadTable(std::string_view file, Region& region) {
  return TableParser(file, region).Parse();
}

}  // namespace tare
