// Writes checkpoints for tests: any dtype, shard, offset, slice and damage a reader may meet.
#pragma once
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bundle/crc32c.h"
#include "bundle/tensor_slice.h"

namespace tare::testing {

inline std::string Varint(uint64_t v) {
  std::string s;
  for (; v >= 0x80; v >>= 7) s += static_cast<char>(v | 0x80);
  return s += static_cast<char>(v);
}
inline std::string Fixed32(uint32_t v) { return {reinterpret_cast<const char*>(&v), 4}; }
// Fields of a message.
inline std::string Field(int n, int64_t v) { return Varint(n << 3) + Varint(static_cast<uint64_t>(v)); }
inline std::string Field(int n, const std::string& v) { return Varint(n << 3 | 2) + Varint(v.size()) + v; }
inline std::string FixedField(int n, uint32_t v) { return Varint(n << 3 | 5) + Fixed32(v); }

inline std::string ShapeMessage(const std::vector<int64_t>& dims) {
  std::string s;
  for (int64_t d : dims) s += Field(2, Field(1, d));
  return s;
}
inline std::string SliceMessage(const TensorSlice& slice) {
  std::string s;
  for (int i = 0; i < slice.rank; ++i) {
    auto [start, length] = slice.extents[i];
    std::string extent;
    if (start) extent += Field(1, start);
    if (length >= 0) extent += Field(2, length);
    s += Field(1, extent);
  }
  return s;
}

// A sorted string table of the given entries.
inline std::string Table(const std::map<std::string, std::string>& entries, size_t block_bytes = 1 << 18,
                         size_t restart_interval = 16) {
  std::string file;
  auto close_block = [&file](std::string block, const std::vector<uint32_t>& restarts) {
    for (uint32_t r : restarts) block += Fixed32(r);
    block += Fixed32(static_cast<uint32_t>(restarts.size()));
    std::string handle = Varint(file.size()) + Varint(block.size());
    block += '\0';
    file += block + Fixed32(MaskCrc(Crc32c(block)));
    return handle;
  };
  std::string index, block, previous;
  std::vector<uint32_t> index_restarts, restarts;
  size_t count = 0;
  auto end_block = [&] {
    index_restarts.push_back(static_cast<uint32_t>(index.size()));
    std::string handle = close_block(block, restarts);
    index += Varint(0) + Varint(previous.size()) + Varint(handle.size()) + previous + handle;
    block.clear();
    restarts.clear();
    count = 0;
  };
  for (const auto& [key, value] : entries) {
    size_t shared = 0;
    if (count++ % restart_interval == 0) {
      restarts.push_back(static_cast<uint32_t>(block.size()));
    } else {
      while (shared < std::min(previous.size(), key.size()) && previous[shared] == key[shared]) ++shared;
    }
    block += Varint(shared) + Varint(key.size() - shared) + Varint(value.size()) + key.substr(shared) + value;
    previous = key;
    if (block.size() >= block_bytes) end_block();
  }
  if (count > 0) end_block();
  std::string footer = close_block("", {0});
  footer += close_block(index, index_restarts);
  footer.resize(40);
  return file + footer + std::string("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
}

class BundleWriter {
 public:
  explicit BundleWriter(int shards = 1) : data_(shards) {}

  struct Entry {
    DType dtype;
    std::vector<int64_t> shape;
    int shard = 0;
    int64_t offset = 0, size = 0;
    uint32_t crc = 0;  // not masked
    std::vector<TensorSlice> slices;
  };
  // Moves the end of a shard, so that the next tensor starts there.
  void Pad(size_t bytes, int shard = 0) { data_[shard].append(bytes, '#'); }
  Entry& Add(const std::string& key, DType dtype, std::vector<int64_t> shape, std::string_view bytes, int shard = 0) {
    Entry& e = entries_[key] = {dtype, std::move(shape), shard};
    e.offset = static_cast<int64_t>(data_[shard].size());
    e.size = static_cast<int64_t>(bytes.size());
    e.crc = Crc32c(bytes);
    data_[shard] += bytes;
    return e;
  }
  template <class T>
  Entry& Add(const std::string& key, std::vector<int64_t> shape, const std::vector<T>& values, int shard = 0) {
    return Add(key, DTypeOf<T>::value, std::move(shape),
               {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}, shard);
  }
  Entry& AddStrings(const std::string& key, std::vector<int64_t> shape, const std::vector<std::string>& values) {
    std::string bytes, chars;
    uint32_t crc = 0;
    for (const std::string& v : values) {
      bytes += Varint(v.size());
      chars += v;
      crc = Crc32c(Fixed32(static_cast<uint32_t>(v.size())), crc);
    }
    std::string checksum = Fixed32(MaskCrc(crc));
    Entry& e = Add(key, DType::kString, std::move(shape), bytes + checksum + chars);
    e.crc = Crc32c(chars, Crc32c(checksum, crc));
    return e;
  }
  // The entry of a partitioned tensor; its pieces are added under SliceKey.
  Entry& AddWhole(const std::string& key, DType dtype, std::vector<int64_t> shape, std::vector<TensorSlice> slices) {
    Entry& e = entries_[key] = {dtype, std::move(shape)};
    e.slices = std::move(slices);
    return e;
  }
  std::string& data(int shard = 0) { return data_[shard]; }
  std::string header() const { return Field(1, static_cast<int64_t>(data_.size())) + Field(3, Field(1, 1)); }
  void set_header(std::string header) { header_ = std::move(header); }

  std::string Index(size_t block_bytes = 1 << 18) const {
    std::map<std::string, std::string> table{{"", header_.empty() ? header() : header_}};
    for (const auto& [key, e] : entries_) table[key] = Message(e);
    return Table(table, block_bytes);
  }
  void Write(const std::string& prefix, size_t block_bytes = 1 << 18) const {
    std::ofstream(prefix + ".index", std::ios::binary) << Index(block_bytes);
    for (size_t i = 0; i < data_.size(); ++i) {
      std::ofstream(fmt::format("{}.data-{:05}-of-{:05}", prefix, i, data_.size()), std::ios::binary) << data_[i];
    }
  }

 private:
  static std::string Message(const Entry& e) {
    std::string m = Field(1, static_cast<int64_t>(e.dtype)) + Field(2, ShapeMessage(e.shape));
    for (const TensorSlice& s : e.slices) m += Field(7, SliceMessage(s));
    if (!e.slices.empty()) return m;
    if (e.shard) m += Field(3, e.shard);
    if (e.offset) m += Field(4, e.offset);
    if (e.size) m += Field(5, e.size);
    return m + FixedField(6, MaskCrc(e.crc));
  }
  std::string header_;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> data_;
};

// A directory that goes with the object.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "bundle_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace tare::testing
