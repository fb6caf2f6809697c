#include "tensor/string_cell.h"

namespace tare {
namespace {

// A view's owner as newer C programs lay it out; `unref` drops the cell's share of the bytes.
struct ViewOwner {
  void (*ref)(ViewOwner*);
  bool (*unref)(ViewOwner*);
  void* object;
};

}  // namespace

std::string_view StringCell::view() const {
  switch (form()) {
    case kSmall: return {reinterpret_cast<const char*>(raw_ + 1), static_cast<size_t>(raw_[0] >> 2)};
    case kLarge: return {reinterpret_cast<const char*>(u64(16)), static_cast<size_t>(u64(0) >> 2)};
    case kOffset: return {reinterpret_cast<const char*>(raw_) + u32(4), static_cast<size_t>(u32(0) >> 2)};
    case kView: return {reinterpret_cast<const char*>(u64(8)), static_cast<size_t>(u64(0) >> 2)};
  }
  return {};
}

void StringCell::Assign(std::string_view s) {
  if (s.size() <= kInlineMax) {
    uint8_t raw[24] = {static_cast<uint8_t>(s.size() << 2)};
    if (!s.empty()) std::memcpy(raw + 1, s.data(), s.size());
    Clear();
    std::memcpy(raw_, raw, sizeof raw);
    return;
  }
  // capacity + 1 is a multiple of 16.
  size_t capacity = ((s.size() + 1 + 15) & ~size_t{15}) - 1;
  char* p = static_cast<char*>(std::malloc(capacity + 1));
  if (!p) throw std::bad_alloc();
  std::memcpy(p, s.data(), s.size());
  p[s.size()] = 0;
  Clear();
  Set(s.size() << 2 | kLarge, capacity, reinterpret_cast<uint64_t>(p));
}

void StringCell::AssignView(std::string_view s) {
  Clear();
  Set(s.size() << 2 | kView, reinterpret_cast<uint64_t>(s.data()), 0);
}

void StringCell::Clear() {
  if (form() == kLarge) std::free(reinterpret_cast<void*>(u64(16)));
  if (form() == kView && u64(16)) {
    auto* owner = reinterpret_cast<ViewOwner*>(u64(16));
    owner->unref(owner);
  }
  Set(0, 0, 0);
}

}  // namespace tare
