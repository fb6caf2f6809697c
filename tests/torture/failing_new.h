// Replaces operator new by one whose nth call fails. For programs of one source file.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

long g_live = 0, g_count = 0, g_fail_at = -1;

}  // namespace

void* operator new(std::size_t n) {
  if (g_count++ == g_fail_at) throw std::bad_alloc();
  void* p = std::malloc(n ? n : 1);
  if (!p) throw std::bad_alloc();
  ++g_live;
  return p;
}
void* operator new(std::size_t n, std::align_val_t align) {
  if (g_count++ == g_fail_at) throw std::bad_alloc();
  auto a = static_cast<std::size_t>(align);
  void* p = std::aligned_alloc(a, (n + a - 1) / a * a);
  if (!p) throw std::bad_alloc();
  ++g_live;
  return p;
}
void operator delete(void* p) noexcept {
  if (p) --g_live;
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
void operator delete(void* p, std::align_val_t) noexcept { operator delete(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { operator delete(p); }

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      std::fprintf(stderr, "allocation %ld: failed: %s\n", g_fail_at, #condition);     \
      std::abort();                                                                    \
    }                                                                                  \
  } while (false)

namespace {

// Calls `run` with the first, second, ... allocation failing until one run meets no failure. `run` gives whether it
// came to its end. Whatever was allocated must be gone again each time.
template <class F>
int FailEachAllocation(F run) {
  for (g_fail_at = 0;; ++g_fail_at) {
    g_count = 0;
    const long before = g_live;
    bool completed = false;
    try {
      completed = run();
    } catch (const std::bad_alloc&) {
    }
    const bool failed = g_count > g_fail_at;
    CHECK(g_live == before);
    CHECK(completed || failed);
    if (completed && !failed) break;
  }
  return static_cast<int>(std::exchange(g_fail_at, -1));
}

}  // namespace
