// Bytes and blocks alive on the heap, counted by us: exact, where glibc's own figures drift with its
// thread caches.
//
// A program that links `tare_soak` has malloc and its kin replaced by functions that count and then call
// glibc's. C++'s operator new (every form) comes from libstdc++ and calls malloc, so each block is counted
// once. Bytes are those asked for, not those glibc rounds up to, so equal states give equal figures; the
// price is a header of 16 bytes before each block. Memory from mmap is not the heap: other meters see it.
//
// Under AddressSanitizer and ThreadSanitizer, which replace malloc themselves, the sanitizer's own figure
// of bytes alive is given and blocks are unknown.
#pragma once
#include <cstdint>
#include <string_view>

namespace tare {

struct HeapCount {
  int64_t bytes = 0;        // alive
  int64_t blocks = 0;       // alive; -1 when unknown
  int64_t allocations = 0;  // ever made; -1 when unknown
};

enum class AllocationMeter { kOwn, kSanitizer, kUnavailable };

AllocationMeter allocation_meter();
std::string_view AllocationMeterName(AllocationMeter meter);

// The heap now: exact while no other thread allocates. Allocates nothing; about 64 loads.
HeapCount CountHeap();

}  // namespace tare
