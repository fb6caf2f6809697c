#include "memory/region.h"

#include <sys/mman.h>

#include <algorithm>

namespace tare {

Region::~Region() {
  while (chunks_) {
    Chunk* c = std::exchange(chunks_, chunks_->next);
    munmap(c, c->bytes);
  }
  account_->Discharge(kind_, bytes_);
}

void* Region::Allocate(size_t bytes, size_t align) {
  auto aligned = [&](std::byte* p) {
    return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(p) + align - 1) & ~(align - 1));
  };
  std::byte* p = aligned(free_);
  if (!free_ || p > end_ || bytes > static_cast<size_t>(end_ - p)) {
    if (bytes > SIZE_MAX / 4) throw std::bad_alloc();
    // Chunks double, so that a small model takes little and a large one few calls.
    size_t size = std::clamp<size_t>(bytes_, 16 << 10, 1 << 20);
    size = (std::max(size, bytes + align + sizeof(Chunk)) + 4095) & ~size_t{4095};
    void* m = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) throw std::bad_alloc();
    chunks_ = new (m) Chunk{chunks_, size};
    bytes_ += size;
    account_->Charge(kind_, size);
    free_ = reinterpret_cast<std::byte*>(chunks_ + 1);
    end_ = static_cast<std::byte*>(m) + size;
    p = aligned(free_);
  }
  free_ = p + bytes;
  return p;
}

}  // namespace tare
