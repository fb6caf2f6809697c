// One element of a string tensor, laid out as TF_TString (24 bytes) so that C programs can read it.
//
// The two low bits of byte 0 choose the form (facts: capi.md section 4.2):
//   00 small   byte 0 = size << 2, then up to 22 bytes and a NUL
//   01 large   u64 size << 2 | 1; u64 capacity; char* from malloc, NUL-terminated
//   10 offset  u32 size << 2 | 2; u32 offset from this cell; read-only
//   11 view    u64 size << 2 | 3; const char*; owner pointer (null: the bytes outlive the cell)
// A zeroed cell is the empty string. Cells move by memcpy; copying one means Assign(other.view()).
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace tare {

class StringCell {
 public:
  // The longest string that lies in the cell itself.
  static constexpr size_t kInlineMax = 22;

  StringCell() = default;
  ~StringCell() { Clear(); }
  StringCell(const StringCell&) = delete;
  StringCell& operator=(const StringCell&) = delete;

  std::string_view view() const;
  operator std::string_view() const { return view(); }  // NOLINT
  size_t size() const { return form() == kSmall ? raw_[0] >> 2 : form() == kOffset ? u32(0) >> 2 : u64(0) >> 2; }
  // Bytes on the heap beside the cell.
  size_t heap_bytes() const { return form() == kLarge ? static_cast<size_t>(u64(8)) + 1 : 0; }

  // Copies the bytes. Throws std::bad_alloc.
  void Assign(std::string_view s);
  // Refers to bytes that outlive the cell.
  void AssignView(std::string_view s);
  // Whether the bytes belong to another (a region, a mapped file).
  bool is_view() const { return form() == kView; }
  // Becomes the empty string.
  void Clear();

 private:
  enum Form : uint8_t { kSmall = 0, kLarge = 1, kOffset = 2, kView = 3 };
  Form form() const { return static_cast<Form>(raw_[0] & 3); }
  uint64_t u64(int at) const {
    uint64_t v;
    std::memcpy(&v, raw_ + at, 8);
    return v;
  }
  uint32_t u32(int at) const {
    uint32_t v;
    std::memcpy(&v, raw_ + at, 4);
    return v;
  }
  void Set(uint64_t a, uint64_t b, uint64_t c) {
    std::memcpy(raw_, &a, 8);
    std::memcpy(raw_ + 8, &b, 8);
    std::memcpy(raw_ + 16, &c, 8);
  }
  alignas(8) uint8_t raw_[24] = {};
};
static_assert(sizeof(StringCell) == 24);

}  // namespace tare
