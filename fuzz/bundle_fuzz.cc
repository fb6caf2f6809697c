// Fuzzes the checkpoint reader: an index and a data file in, every tensor read in every way.
//
// Built by `cmake --preset fuzz`.
// With fuzz/replay_main.cc and without `fuzzer` it replays files. The input: a byte of options, a byte of
// compression, two bytes for the length of the data file, the data file, then the index: a whole file, or
// (kOneBlock) the contents of its one block, so that checksums do not stand in the fuzzer's way.
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "bundle/crc32c.h"
#include "bundle/tensor_bundle.h"

namespace {

enum Options : uint8_t { kOneBlock = 1, kVerify = 2, kRead = 4 };

std::string Varint(uint64_t v) {
  std::string s;
  for (; v >= 0x80; v >>= 7) s += static_cast<char>(v | 0x80);
  return s += static_cast<char>(v);
}

std::string Sealed(std::string block, uint8_t compression) {
  block += static_cast<char>(compression);
  uint32_t crc = tare::MaskCrc(tare::Crc32c(block));
  return block.append(reinterpret_cast<const char*>(&crc), 4);
}

// A table whose one data block has the given contents.
std::string TableAround(std::string_view contents, uint8_t compression) {
  std::string file = Sealed(std::string(contents), compression);
  std::string handle = Varint(0) + Varint(contents.size());
  std::string index = std::string("\0\1", 2) + Varint(handle.size()) + "z" + handle;
  index.append("\0\0\0\0\1\0\0\0", 8);
  std::string footer = Varint(0) + Varint(0) + Varint(file.size()) + Varint(index.size());
  footer.resize(40);
  return file + Sealed(index, 0) + footer + std::string("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
}

// One directory for the whole run.
const std::string& Prefix() {
  static const std::string prefix = [] {
    char dir[] = "/dev/shm/bundle_fuzz_XXXXXX";
    if (!mkdtemp(dir)) std::abort();
    return std::string(dir) + "/v";
  }();
  return prefix;
}

// Touches every byte, so that a sanitizer sees a view of what is not there.
void Touch(const tare::Result<tare::Tensor>& t) {
  if (!t.ok()) return;
  if (t->dtype() == tare::DType::kString) {
    for (const tare::StringCell& c : t->as<tare::StringCell>()) tare::Crc32c(c.view());
  } else {
    tare::Crc32c({static_cast<const char*>(t->raw()), t->bytes()});
  }
}

void ReadAll(const tare::TensorBundle& bundle, tare::ThreadPool& threads) {
  auto entries = bundle.entries();
  if (!entries.ok()) return;
  std::vector<std::string_view> keys;
  for (const tare::BundleEntry& e : *entries) {
    keys.push_back(e.name);
    Touch(bundle.Read(e.name, tare::Kind::kWeights));
    std::string dims, slice;
    for (int64_t d : e.shape.dims()) {
      dims += std::to_string(d) + " ";
      slice += (slice.empty() ? "" : ":") + (d > 1 ? fmt::format("{},{}", d / 2, d - d / 2) : "-");
    }
    Touch(bundle.ReadSlice(e.name, dims + slice, tare::Kind::kWeights));
  }
  (void)bundle.VerifyAll(threads, keys).ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  static tare::ThreadPool threads(1);
  std::string_view rest(reinterpret_cast<const char*>(data) + 4, size - 4);
  const size_t data_size = std::min<size_t>(data[2] | data[3] << 8, rest.size());
  std::string_view index = rest.substr(data_size);
  std::ofstream(Prefix() + ".data-00000-of-00001", std::ios::binary) << rest.substr(0, data_size);
  std::ofstream(Prefix() + ".index", std::ios::binary)
      << (data[0] & kOneBlock ? TableAround(index, data[1] & 1) : std::string(index));
  auto account = tare::MakeRef<tare::Account>("fuzz", 0);
  {
    using Mode = tare::MappedFile::Mode;
    auto bundle = tare::TensorBundle::Open(
        Prefix(), {data[0] & kRead ? Mode::kRead : Mode::kMap, (data[0] & kVerify) != 0}, account);
    if (bundle.ok()) ReadAll(**bundle, threads);
  }
  if (account->total() != 0) std::abort();
  return 0;
}
