// Snappy's raw format, in which older writers compressed a checkpoint's index.
#pragma once
#include <string_view>

#include "memory/region.h"
#include "status/status.h"

namespace tare {

// The bytes that `block` stands for, in `region`. DataLoss when it is no intact snappy block.
Result<std::string_view> Unsnappy(std::string_view block, Region& region);

}  // namespace tare
