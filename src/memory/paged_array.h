// A growable array of plain elements on pages of its own, charged to an account: what tables keep their rows
// in. Growing moves pages, not bytes; new elements are zero; freeing returns the pages to the OS at once.
// Not thread-safe.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "memory/account.h"

namespace tare {

template <class T>
class PagedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PagedArray(Ref<Account> account, Kind kind) : account_(std::move(account)), kind_(kind) {}
  PagedArray(PagedArray&& o) noexcept
      : account_(o.account_), kind_(o.kind_), data_(std::exchange(o.data_, nullptr)),
        bytes_(std::exchange(o.bytes_, 0)) {}
  PagedArray& operator=(PagedArray&& o) noexcept {
    std::swap(account_, o.account_);
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~PagedArray() { Free(); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  // Elements there is room for.
  size_t capacity() const { return bytes_ / sizeof(T); }

  // Room for at least `n`, doubling. Throws std::bad_alloc and changes nothing when there is none.
  void Reserve(size_t n) {
    if (n <= capacity()) return;
    if (n > SIZE_MAX / 4 / sizeof(T)) throw std::bad_alloc();
    size_t bytes = (std::max(n * sizeof(T), bytes_ * 2) + kPage - 1) & ~(kPage - 1);
    void* p = data_ ? mremap(data_, bytes_, bytes, MREMAP_MAYMOVE)
                    : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    account_->Charge(kind_, bytes - bytes_);
    data_ = static_cast<T*>(p);
    bytes_ = bytes;
  }
  // Gives back the pages beyond the first `n` elements.
  void Trim(size_t n) {
    const size_t bytes = (n * sizeof(T) + kPage - 1) & ~(kPage - 1);
    if (bytes == 0) return Free();
    if (bytes >= bytes_) return;
    munmap(reinterpret_cast<std::byte*>(data_) + bytes, bytes_ - bytes);
    account_->Discharge(kind_, bytes_ - bytes);
    bytes_ = bytes;
  }
  void Free() {
    if (!data_) return;
    munmap(data_, bytes_);
    account_->Discharge(kind_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }

 private:
  static constexpr size_t kPage = 4096;
  Ref<Account> account_;
  Kind kind_;
  T* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tare
