#include "bundle/bundle_entry.h"

#include <vector>

namespace tare {
namespace {

// The version of the format that this code reads.
constexpr int kVersion = 1;

Status CheckVersion(std::string_view message) {
  int32_t producer = 0, min_consumer = 0;
  bool bad = false;
  MessageReader m(message);
  while (m.Next()) {
    if (m.field() == 1) producer = m.Int32();
    if (m.field() == 2) min_consumer = m.Int32();
    if (m.field() == 3) {
      // Repeated numbers come packed from proto3 writers and one by one from others.
      if (!m.is_message()) {
        bad |= m.Int32() == kVersion;
        continue;
      }
      for (ByteReader r(m.Message()); r.ok() && !r.done();) bad |= r.Varint64() == kVersion;
    }
  }
  if (!m.ok()) return DataLoss("Unable to parse the version of the header");
  if (producer < 0) return InvalidArgument("Checkpoint producer version {} below min producer 0", producer);
  if (min_consumer > kVersion) {
    return InvalidArgument("Checkpoint min consumer version {} above current version {}", min_consumer, kVersion);
  }
  if (bad) return InvalidArgument("Checkpoint disallows consumer version {}", kVersion);
  return OkStatus();
}

// The dims of a TensorShapeProto; as TensorFlow, unknown_rank beside them is ignored.
bool ParseDims(std::string_view message, std::vector<int64_t>& dims) {
  MessageReader m(message);
  while (m.Next()) {
    if (m.field() != 2) continue;
    int64_t size = 0;
    MessageReader d(m.Message());
    while (d.Next()) {
      if (d.field() == 1) size = d.Int();
    }
    if (!d.ok()) return false;
    dims.push_back(size);
  }
  return m.ok();
}

}  // namespace

Result<BundleHeader> BundleHeader::Parse(std::string_view message) {
  BundleHeader header;
  MessageReader m(message);
  while (m.Next()) {
    switch (m.field()) {
      case 1: header.num_shards = m.Int32(); break;
      case 2:
        if (m.Int() != 0) return DataLoss("the checkpoint is marked big-endian; Tare reads little-endian ones only");
        break;
      case 3: TARE_RETURN_IF_ERROR(CheckVersion(m.Message())); break;
    }
  }
  if (!m.ok()) return DataLoss("Unable to parse the header");
  if (header.num_shards < 0) return DataLoss("the header says {} shards", header.num_shards);
  return header;
}

Result<BundleEntry> BundleEntry::Parse(std::string_view name, std::string_view message) {
  BundleEntry e;
  e.name = name;
  e.message = message;
  std::vector<int64_t> dims;
  bool dims_ok = true;
  MessageReader m(message);
  while (m.Next()) {
    switch (m.field()) {
      case 1: e.dtype = DTypeFromWire(m.Int()); break;
      case 2: dims_ok &= ParseDims(m.Message(), dims); break;
      case 3: e.shard = m.Int32(); break;
      case 4: e.offset = m.Int(); break;
      case 5: e.size = m.Int(); break;
      case 6: e.crc = m.Fixed32(); break;
      case 7: e.slices += m.is_message(); break;
    }
  }
  if (!m.ok() || !dims_ok) return DataLoss("Entry for key {} not parseable.", name);
  auto shape = Shape::Make(dims);
  if (!shape.ok()) return DataLoss("Invalid tensor shape: {}: {}", name, shape.status().message());
  e.shape = *shape;
  return e;
}

}  // namespace tare
