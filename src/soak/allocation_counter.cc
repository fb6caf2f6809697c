#include "soak/allocation_counter.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

extern "C" size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace tare {

AllocationMeter allocation_meter() {
  return __sanitizer_get_current_allocated_bytes ? AllocationMeter::kSanitizer
                                                 : AllocationMeter::kUnavailable;
}

HeapCount CountHeap() {
  if (allocation_meter() == AllocationMeter::kUnavailable) return {-1, -1, -1};
  return {static_cast<int64_t>(__sanitizer_get_current_allocated_bytes()), -1, -1};
}

}  // namespace tare

#else

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>

// glibc's allocator under the names it keeps for those who replace malloc: nothing to look up at start-up.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace tare {
namespace {

// Stands right before the block. A block without the mark is not ours (glibc made it before this program's
// symbols were bound) and passes through uncounted: there glibc keeps a size whose upper half is zero.
struct Header {
  uint64_t bytes;   // as asked for
  uint32_t offset;  // from what glibc returned to the block
  uint32_t mark;
};
constexpr size_t kHeader = sizeof(Header);
static_assert(kHeader == alignof(std::max_align_t));
constexpr uint32_t kMark = 0x7a4e5eed;
constexpr size_t kMaxBytes = PTRDIFF_MAX - 2 * kHeader;

struct alignas(64) Stripe {
  std::atomic<int64_t> bytes{0}, blocks{0}, allocations{0};
};
constexpr unsigned kStripes = 32;

// The project's one mutable global: malloc has no argument that could carry its state. Threads share the
// stripes in turn, so that counting contends as little as allocating does. Constant-initialised: malloc
// is called before any constructor runs.
constinit Stripe g_stripes[kStripes];
constinit std::atomic<unsigned> g_next_stripe{0};

Stripe& ThisThreadsStripe() {
  // initial-exec: the general model's first access would itself allocate.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit unsigned t_stripe = 0;
  if (t_stripe == 0) t_stripe = g_next_stripe.fetch_add(1, std::memory_order_relaxed) % kStripes + 1;
  return g_stripes[t_stripe - 1];
}

void Count(int64_t bytes, int64_t blocks) {
  Stripe& s = ThisThreadsStripe();
  s.bytes.fetch_add(bytes, std::memory_order_relaxed);
  s.blocks.fetch_add(blocks, std::memory_order_relaxed);
  if (blocks > 0) s.allocations.fetch_add(blocks, std::memory_order_relaxed);
}

Header* HeaderOf(void* block) {
  auto* h = reinterpret_cast<Header*>(static_cast<std::byte*>(block) - kHeader);
  return h->mark == kMark ? h : nullptr;
}
void* RawOf(void* block, const Header* h) { return static_cast<std::byte*>(block) - h->offset; }

// Marks and counts a block of `bytes` that begins `offset` into what glibc returned.
void* Publish(void* raw, size_t bytes, size_t offset) {
  if (!raw) return nullptr;
  auto* block = static_cast<std::byte*>(raw) + offset;
  *reinterpret_cast<Header*>(block - kHeader) = {bytes, static_cast<uint32_t>(offset), kMark};
  Count(static_cast<int64_t>(bytes), 1);
  return block;
}

void* OutOfMemory() {
  errno = ENOMEM;
  return nullptr;
}

void* AllocateAligned(size_t align, size_t bytes) {
  if (align <= kHeader) align = kHeader;
  if (align > UINT32_MAX / 2 || bytes > kMaxBytes - align) return OutOfMemory();
  align = std::bit_ceil(align);
  return Publish(__libc_memalign(align, bytes + align), bytes, align);
}

}  // namespace

AllocationMeter allocation_meter() { return AllocationMeter::kOwn; }

HeapCount CountHeap() {
  HeapCount sum;
  for (const Stripe& s : g_stripes) {
    sum.bytes += s.bytes.load(std::memory_order_relaxed);
    sum.blocks += s.blocks.load(std::memory_order_relaxed);
    sum.allocations += s.allocations.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace tare

// The whole set that glibc's manual ("Replacing malloc") asks of a replacement.
extern "C" {

void* malloc(size_t bytes) noexcept {
  using namespace tare;
  if (bytes > kMaxBytes) return OutOfMemory();
  return Publish(__libc_malloc(bytes + kHeader), bytes, kHeader);
}

void* calloc(size_t n, size_t size) noexcept {
  using namespace tare;
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > kMaxBytes) return OutOfMemory();
  return Publish(__libc_calloc(1, bytes + kHeader), bytes, kHeader);
}

void free(void* block) noexcept {
  using namespace tare;
  if (!block) return;
  Header* h = HeaderOf(block);
  if (!h) return __libc_free(block);
  Count(-static_cast<int64_t>(h->bytes), -1);
  h->mark = 0;
  __libc_free(RawOf(block, h));
}

void* realloc(void* block, size_t bytes) noexcept {
  using namespace tare;
  if (!block) return malloc(bytes);
  Header* h = HeaderOf(block);
  if (!h) return __libc_realloc(block, bytes);
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  if (bytes > kMaxBytes) return OutOfMemory();
  size_t old = h->bytes;
  if (h->offset != kHeader) {  // an aligned block, whose distance to glibc's may not survive a move
    void* moved = malloc(bytes);
    if (!moved) return nullptr;
    std::memcpy(moved, block, std::min(old, bytes));
    free(block);
    return moved;
  }
  void* raw = __libc_realloc(RawOf(block, h), bytes + kHeader);
  if (!raw) return nullptr;
  Count(-static_cast<int64_t>(old), -1);
  return Publish(raw, bytes, kHeader);
}

void* memalign(size_t align, size_t bytes) noexcept { return tare::AllocateAligned(align, bytes); }
void* aligned_alloc(size_t align, size_t bytes) noexcept { return tare::AllocateAligned(align, bytes); }

int posix_memalign(void** out, size_t align, size_t bytes) noexcept {
  if (!std::has_single_bit(align) || align % sizeof(void*) != 0) return EINVAL;
  int saved = errno;
  void* p = tare::AllocateAligned(align, bytes);
  errno = saved;
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

void* valloc(size_t bytes) noexcept {
  return tare::AllocateAligned(static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes);
}

void* pvalloc(size_t bytes) noexcept {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > tare::kMaxBytes - page) return tare::OutOfMemory();
  return tare::AllocateAligned(page, (bytes + page - 1) / page * page);
}

size_t malloc_usable_size(void* block) noexcept {
  using namespace tare;
  if (!block) return 0;
  Header* h = HeaderOf(block);
  return h ? h->bytes : 0;
}

}  // extern "C"

#endif

namespace tare {

std::string_view AllocationMeterName(AllocationMeter meter) {
  switch (meter) {
    case AllocationMeter::kOwn: return "own counter";
    case AllocationMeter::kSanitizer: return "sanitizer";
    case AllocationMeter::kUnavailable: return "unavailable";
  }
  return "unavailable";
}

}  // namespace tare
