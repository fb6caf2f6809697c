// What tests over whole models share: where the models are, and how a test proves that nothing stayed.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "saved_model/model.h"
#include "soak/allocation_counter.h"

namespace tare {

// The unpacked test models (the ctest fixture test_data), or TARE_TEST_DATA.
inline std::string TestData() {
  const char* dir = std::getenv("TARE_TEST_DATA");
  return dir ? dir : "test_data";
}

// Runs `cycle` to warm up and then `cycles` times, and expects the context's ledger and the heap to be exactly
// what they were.
template <class F>
void ExpectNothingStays(EagerContext& context, int cycles, F&& cycle) {
  for (int i = 0; i < 3; ++i) cycle();
  const HeapCount heap = CountHeap();
  const int64_t ledger = context.account()->total();
  for (int i = 0; i < cycles; ++i) cycle();
  EXPECT_EQ(context.account()->total(), ledger);
  if (allocation_meter() == AllocationMeter::kOwn) {
    EXPECT_EQ(CountHeap().bytes, heap.bytes);
    EXPECT_EQ(CountHeap().blocks, heap.blocks);
  }
}

}  // namespace tare
