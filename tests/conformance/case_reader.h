// Recorded conformance cases read back: the format is told in record.py.
#pragma once
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "context/eager_context.h"

namespace tare {

using nlohmann::json;

// The lines of a gzip-compressed file. NotFound or DataLoss, naming the file.
Result<std::vector<std::string>> ReadGzipLines(const std::string& path);

// Where a plain input's bytes lie.
enum class Placement {
  kOwned,   // a buffer of its own, aligned, which a kernel may write over
  kMapped,  // as in a mapped file: natural alignment only, not to be written
};

Result<Tensor> ReadTensor(const Ref<Account>& account, const json& recorded,
                          Placement placement = Placement::kOwned);

// Attribute values of recorded attributes; they refer to what this object holds.
class AttrReading {
 public:
  explicit AttrReading(Ref<Account> account) : account_(std::move(account)) {}
  Result<AttrValue> Read(const std::string& kind, const json& value);

 private:
  Ref<Account> account_;
  std::deque<std::string> strings_;
  std::deque<Tensor> tensors_;
  std::deque<std::vector<int64_t>> shapes_;
  std::deque<std::vector<AttrValue>> lists_;
};

}  // namespace tare
