// Reads little-endian numbers, varints and messages from untrusted bytes; never past their end.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tare {

// After the first read that does not fit, `ok()` is false and every read gives zero or nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  uint64_t Varint64() {
    uint64_t value = 0;
    for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
      auto byte = static_cast<uint8_t>(rest_[i]);
      if (i == 9 && byte > 1) break;
      value |= uint64_t{byte & 0x7fu} << 7 * i;
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return value;
      }
    }
    Fail();
    return 0;
  }
  uint32_t Varint32() {
    uint64_t value = Varint64();
    if (value > UINT32_MAX) Fail();
    return ok_ ? static_cast<uint32_t>(value) : 0;
  }
  uint32_t Fixed32() {
    std::string_view b = Bytes(4);
    uint32_t value = 0;
    for (size_t i = 0; i < b.size(); ++i) value |= uint32_t{static_cast<uint8_t>(b[i])} << 8 * i;
    return value;
  }
  std::string_view Bytes(uint64_t n) {
    if (n > rest_.size()) {
      Fail();
      return {};
    }
    std::string_view b = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return b;
  }

 private:
  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

// Walks the fields of a protocol message. `Next` gives false at the end or at what is no message; the value
// of the current field is then taken by the accessor of its kind, or ignored.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : reader_(bytes) {}

  bool Next() {
    if (reader_.done()) return false;
    uint32_t tag = reader_.Varint32();
    field_ = static_cast<int>(tag >> 3);
    wire_type_ = tag & 7;
    number_ = 0;
    bytes_ = {};
    switch (wire_type_) {
      case 0: number_ = reader_.Varint64(); break;
      case 1: reader_.Bytes(8); break;
      case 2: bytes_ = reader_.Bytes(reader_.Varint64()); break;
      case 5: number_ = reader_.Fixed32(); break;
      default: malformed_ = true;
    }
    if (field_ == 0) malformed_ = true;
    return ok();
  }
  bool ok() const { return reader_.ok() && !malformed_; }

  int field() const { return field_; }
  bool is_message() const { return wire_type_ == 2; }
  int64_t Int() { return Expect(0) ? static_cast<int64_t>(number_) : 0; }
  int32_t Int32() { return static_cast<int32_t>(Int()); }
  uint32_t Fixed32() { return Expect(5) ? static_cast<uint32_t>(number_) : 0; }
  std::string_view Message() { return Expect(2) ? bytes_ : std::string_view(); }

 private:
  bool Expect(uint32_t wire_type) {
    if (wire_type_ != wire_type) malformed_ = true;
    return wire_type_ == wire_type;
  }
  ByteReader reader_;
  int field_ = 0;
  uint32_t wire_type_ = 0;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool malformed_ = false;
};

}  // namespace tare
