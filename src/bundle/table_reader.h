// The index of a checkpoint: a sorted string table. Footer, blocks, checksums, prefix-compressed keys.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/region.h"
#include "status/status.h"

namespace tare {

struct TableEntry {
  std::string_view key;
  std::string_view value;
};

// Every entry of the table in `file`, keys strictly ascending. Views into `file`, or into `region` where a
// key had to be put together or a block unpacked. DataLoss for what is no intact table.
Result<std::vector<TableEntry>> ReadTable(std::string_view file, Region& region);

}  // namespace tare
