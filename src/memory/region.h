// A Region is memory that grows and is released as a whole: where a model's graphs, functions, names and
// table keys live. It comes from mmap in chunks, so releasing it returns it to the OS and leaves no holes
// in the host's heap. What is placed here must be trivially destructible, or be destroyed by its owner.
//
// Not thread-safe: each region has one builder; what it built may be read by many.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "memory/account.h"

namespace tare {

class Region final : public std::pmr::memory_resource {
 public:
  // Chunks are charged to `account` (which must outlive the region) as `kind`.
  Region(Ref<Account> account, Kind kind) : account_(std::move(account)), kind_(kind) {}
  ~Region() override;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Throws std::bad_alloc when the OS has no more.
  void* Allocate(size_t bytes, size_t align = alignof(std::max_align_t));
  template <class T>
  std::span<T> AllocateArray(size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (n == 0) return {};
    if (n > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    T* p = static_cast<T*>(Allocate(n * sizeof(T), alignof(T)));
    for (size_t i = 0; i < n; ++i) new (p + i) T();
    return {p, n};
  }
  template <class T>
  std::span<const T> CopyArray(std::span<const T> from) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (from.empty()) return {};
    T* p = static_cast<T*>(Allocate(from.size_bytes(), alignof(T)));
    std::memcpy(static_cast<void*>(p), from.data(), from.size_bytes());
    return {p, from.size()};
  }
  std::string_view CopyString(std::string_view s) {
    auto c = CopyArray(std::span<const char>(s.data(), s.size()));
    return {c.data(), c.size()};
  }
  // An object whose destructor the caller runs.
  template <class T, class... A>
  T* New(A&&... args) {
    return new (Allocate(sizeof(T), alignof(T))) T(std::forward<A>(args)...);
  }
  size_t bytes() const { return bytes_; }
  const Ref<Account>& account() const { return account_; }

 private:
  void* do_allocate(size_t bytes, size_t align) override { return Allocate(bytes, align); }
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const memory_resource& o) const noexcept override { return this == &o; }

  struct Chunk {
    Chunk* next;
    size_t bytes;
  };
  Ref<Account> account_;
  const Kind kind_;
  Chunk* chunks_ = nullptr;
  std::byte* free_ = nullptr;
  std::byte* end_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tare
