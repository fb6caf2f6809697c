// Columns of values read from a batch of tf.train.Example or SequenceExample messages.
//
// Only the wanted keys are read. Strings stay views of the messages, which must outlive the
// columns.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "tensor/tensor.h"

namespace tare {

// Values of one of the three types a feature can have: float, int64, string.
class FeatureValues {
 public:
  explicit FeatureValues(DType dtype) : dtype_(dtype) {}
  DType dtype() const { return dtype_; }
  int64_t size() const {
    return static_cast<int64_t>(floats_.size() + ints_.size() + strings_.size());
  }
  // Adds those of a FloatList, Int64List or BytesList message of this type. InvalidArgument when
  // malformed.
  Status Append(std::string_view list);
  // Copies values [from, from + n) to elements of `out` from `at` on.
  void CopyTo(int64_t from, int64_t n, Tensor* out, int64_t at) const;

 private:
  DType dtype_;
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
  std::vector<std::string_view> strings_;
};

struct FeatureSpec {
  std::string_view key;
  DType dtype;
};

// One column: the values of all rows end to end. `counts` has one entry a feature, -1 where it is
// absent; in a column of feature lists, one a step, with `lengths` steps a row (-1 where the list
// is absent).
struct FeatureColumn {
  explicit FeatureColumn(const FeatureSpec& s) : spec(s), values(s.dtype) {}
  int64_t max_count() const;
  int64_t max_length() const;
  FeatureSpec spec;
  FeatureValues values;
  std::vector<int64_t> counts;
  std::vector<int64_t> lengths;
};

class FeatureBatch {
 public:
  explicit FeatureBatch(const std::vector<FeatureSpec>& specs);
  // Reads the Features messages of one row; where a key repeats, the last entry counts. `name` and
  // the row's number are for messages.
  Status AddFeatures(const std::vector<std::string_view>& messages, std::string_view name);
  // The same for FeatureLists messages.
  Status AddFeatureLists(const std::vector<std::string_view>& messages, std::string_view name);

  const FeatureColumn& column(size_t i) const { return columns_[i]; }
  int64_t rows() const { return rows_; }

 private:
  Status FindEntries(const std::vector<std::string_view>& messages);
  Status AddFeature(FeatureColumn& column, std::string_view feature, std::string_view name);
  std::vector<FeatureColumn> columns_;
  std::unordered_multimap<std::string_view, size_t> by_key_;
  std::vector<std::optional<std::string_view>> found_;  // of the row being read
  int64_t rows_ = 0;
};

// The messages in field `tag` of a message. InvalidArgument when it is malformed.
Result<std::vector<std::string_view>> Submessages(std::string_view message, uint32_t tag);

}  // namespace tare
