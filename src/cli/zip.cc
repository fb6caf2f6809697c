#include "cli/zip.h"

#include <zlib.h>

#include <algorithm>

namespace tare {
namespace {

constexpr uint32_t kEndSignature = 0x06054b50, kEntrySignature = 0x02014b50,
                   kLocalSignature = 0x04034b50;
constexpr size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30;
constexpr size_t kMaxComment = 0xffff;
// No deflate stream unpacks to more than 1032 times its size.
constexpr size_t kMaxRatio = 1032;
constexpr uint16_t kStored = 0, kDeflated = 8;
// Midnight of 1 January 1980: archives carry no time of their making.
constexpr uint32_t kNoTime = 0x00210000;

uint32_t Read(std::string_view bytes, size_t at, size_t size) {
  uint32_t v = 0;
  for (size_t i = size; i-- > 0;) v = v << 8 | static_cast<uint8_t>(bytes[at + i]);
  return v;
}
uint32_t Read32(std::string_view bytes, size_t at) { return Read(bytes, at, 4); }
uint16_t Read16(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(Read(bytes, at, 2));
}

void Append(std::string* out, uint32_t value, int size) {
  for (int i = 0; i < size; ++i) *out += static_cast<char>(value >> 8 * i & 255);
}

Status Damaged(std::string_view what) { return DataLoss("the zip archive is damaged: {}", what); }

// Where the end record lies, before a comment of any length.
Result<size_t> FindEnd(std::string_view archive) {
  if (archive.size() < kEndSize) return Damaged("too short");
  const size_t last = archive.size() - kEndSize;
  for (size_t at = last + 1; at-- > 0 && last - at <= kMaxComment;) {
    if (Read32(archive, at) == kEndSignature && Read16(archive, at + 20) == last - at) return at;
  }
  return Damaged("it has no directory");
}

// The packed bytes of an entry, from its local header.
Result<std::string_view> Packed(std::string_view archive, size_t offset, size_t size) {
  if (offset > archive.size() || archive.size() - offset < kLocalSize ||
      Read32(archive, offset) != kLocalSignature) {
    return Damaged("an entry lies outside");
  }
  const size_t data =
      offset + kLocalSize + Read16(archive, offset + 26) + Read16(archive, offset + 28);
  if (data > archive.size() || archive.size() - data < size) return Damaged("an entry is cut off");
  return archive.substr(data, size);
}

Result<ZipEntry> ReadEntry(std::string_view archive, size_t* at, size_t end) {
  if (end - *at < kEntrySize || Read32(archive, *at) != kEntrySignature) {
    return Damaged("its directory is malformed");
  }
  const size_t header = *at;
  const uint16_t flags = Read16(archive, header + 8), method = Read16(archive, header + 10);
  const size_t packed_size = Read32(archive, header + 20), name_size = Read16(archive, header + 28);
  const size_t rest = name_size + Read16(archive, header + 30) + Read16(archive, header + 32);
  if (end - header - kEntrySize < rest) return Damaged("its directory is malformed");
  *at = header + kEntrySize + rest;
  ZipEntry entry;
  entry.name = archive.substr(header + kEntrySize, name_size);
  entry.size = Read32(archive, header + 24);
  entry.crc = Read32(archive, header + 16);
  entry.deflated = method == kDeflated;
  const size_t offset = Read32(archive, header + 42);
  if (flags & 1) return Unimplemented("zip entry {} is encrypted", entry.name);
  if (method != kStored && method != kDeflated) {
    return Unimplemented("zip entry {} is packed by method {}", entry.name, method);
  }
  if (std::max({packed_size, entry.size, offset}) == 0xffffffff) {
    return Unimplemented("zip entry {} is larger than 4 GiB", entry.name);
  }
  TARE_ASSIGN_OR_RETURN(entry.packed, Packed(archive, offset, packed_size));
  if (!entry.deflated && entry.size != packed_size) return Damaged("a stored entry has two sizes");
  return entry;
}

// Raw deflate data of known unpacked size.
bool Inflate(std::string_view packed, std::string* out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out->data());
  stream.avail_out = static_cast<uInt>(out->size());
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

std::string Deflate(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<std::vector<ZipEntry>> ReadZip(std::string_view archive) {
  TARE_ASSIGN_OR_RETURN(const size_t end, FindEnd(archive));
  const size_t count = Read16(archive, end + 10), size = Read32(archive, end + 12);
  size_t at = Read32(archive, end + 16);
  if (count == 0xffff || at == 0xffffffff)
    return Unimplemented("the zip archive is larger than 4 GiB");
  if (at > end || end - at < size) return Damaged("its directory lies outside");
  std::vector<ZipEntry> entries;
  while (entries.size() < count) {
    TARE_ASSIGN_OR_RETURN(ZipEntry entry, ReadEntry(archive, &at, end));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::string> Unpack(const ZipEntry& entry, size_t max_size) {
  if (entry.size > max_size) {
    return Status(Code::kResourceExhausted, fmt::format("zip entry {} has {} bytes, more than {}",
                                                        entry.name, entry.size, max_size));
  }
  if (entry.size / kMaxRatio > entry.packed.size())
    return Damaged(entry.name + " claims too many bytes");
  std::string bytes;
  if (entry.deflated) {
    bytes.resize(entry.size);
    if (!Inflate(entry.packed, &bytes)) return Damaged(entry.name + " does not inflate");
  } else {
    bytes = entry.packed;
  }
  if (Crc(bytes) != entry.crc) return Damaged(entry.name + " has a wrong checksum");
  return bytes;
}

Status ZipWriter::Add(std::string_view name, std::string_view bytes) {
  constexpr size_t kMost = 0xfffffffe;
  if (name.size() > 0xffff || count_ == 0xfffe || bytes.size() > kMost) {
    return Unimplemented("zip archives beyond 4 GiB or 65534 entries are not written");
  }
  const std::string packed = deflate_ ? Deflate(bytes) : std::string(bytes);
  if (packed.size() + out_.size() + directory_.size() > kMost - (1 << 20)) {
    return Unimplemented("zip archives beyond 4 GiB are not written");
  }
  ++count_;
  // What the local header and the directory entry share.
  std::string common;
  Append(&common, 20, 2);      // version needed
  Append(&common, 0x0800, 2);  // names are UTF-8
  Append(&common, deflate_ ? kDeflated : kStored, 2);
  Append(&common, kNoTime, 4);
  Append(&common, Crc(bytes), 4);
  Append(&common, static_cast<uint32_t>(packed.size()), 4);
  Append(&common, static_cast<uint32_t>(bytes.size()), 4);
  Append(&common, static_cast<uint32_t>(name.size()), 2);
  Append(&common, 0, 2);  // extra field
  Append(&directory_, kEntrySignature, 4);
  Append(&directory_, 20, 2);  // version made by
  directory_ += common;
  directory_.append(10, '\0');  // comment, disk, attributes
  Append(&directory_, static_cast<uint32_t>(out_.size()), 4);
  directory_ += name;
  Append(&out_, kLocalSignature, 4);
  out_.append(common).append(name).append(packed);
  return OkStatus();
}

std::string ZipWriter::Finish() {
  const size_t start = out_.size(), size = directory_.size();
  out_ += directory_;
  Append(&out_, kEndSignature, 4);
  Append(&out_, 0, 4);  // disks
  Append(&out_, static_cast<uint32_t>(count_), 2);
  Append(&out_, static_cast<uint32_t>(count_), 2);
  Append(&out_, static_cast<uint32_t>(size), 4);
  Append(&out_, static_cast<uint32_t>(start), 4);
  Append(&out_, 0, 2);  // comment
  return std::move(out_);
}

}  // namespace tare
