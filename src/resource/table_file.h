// Fills a static table from a text file, a row a line.
#pragma once
#include <string>

#include "resource/lookup_table.h"

namespace tare {

struct TableFile {
  static constexpr int64_t kLineNumber = -1;
  static constexpr int64_t kWholeLine = -2;
  std::string filename;
  int64_t vocab_size = -1;  // -1: as many as there are lines
  char delimiter = '\t';
  // A column, kLineNumber or kWholeLine.
  int64_t key_index = kWholeLine;
  int64_t value_index = kLineNumber;
  int64_t offset = 0;  // added to line numbers
};

Status InitializeFromFile(LookupTable& table, const TableFile& file);

}  // namespace tare
