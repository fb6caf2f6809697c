// Zip archives, as far as NumPy and Keras write them: entries stored or deflated, no encryption.
//
// Archives are untrusted: every offset, size and CRC is checked, and nothing is inflated beyond the
// size its directory tells, nor beyond what deflate could have packed into the bytes there are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "status/status.h"

namespace tare {

struct ZipEntry {
  std::string name;
  std::string_view packed;  // within the archive's bytes
  size_t size = 0;          // unpacked
  uint32_t crc = 0;
  bool deflated = false;
};

// The entries of an archive; they refer to `archive`. DataLoss for a damaged one, Unimplemented for
// encryption, other packings and archives beyond 4 GiB.
Result<std::vector<ZipEntry>> ReadZip(std::string_view archive);
// An entry's bytes, verified. ResourceExhausted beyond `max_size`.
Result<std::string> Unpack(const ZipEntry& entry, size_t max_size);

// Builds an archive in memory. The same entries give the same bytes.
class ZipWriter {
 public:
  explicit ZipWriter(bool deflate) : deflate_(deflate) {}
  // Unimplemented beyond 4 GiB or 65535 entries.
  Status Add(std::string_view name, std::string_view bytes);
  std::string Finish();

 private:
  const bool deflate_;
  std::string out_;
  std::string directory_;
  size_t count_ = 0;
};

}  // namespace tare
