// Columns of features as an op's outputs: sparse, dense and ragged tensors.
//
// Keys come as one vector (V2 ops), as scalars (ParseExample, ParseSingleSequenceExample) or as
// attributes. `serialized` is a vector, or for some ops a scalar, which gives outputs without the
// batch dimension.
#pragma once
#include <algorithm>

#include "kernels/feature_batch.h"
#include "kernels/kernel.h"

namespace tare {

constexpr std::string_view kUnknownName = "<unknown>";

// What a dense feature must look like.
struct DenseShape {
  std::vector<int64_t> dims;
  bool variable = false;  // the first dimension is as long as the feature makes it
  int64_t stride = 1;     // elements, without a variable first dimension

  static Result<DenseShape> Make(PartialShape shape);
  // With `lead` dimensions in front and `rows` for a variable first one.
  Result<Shape> Full(std::vector<int64_t> lead, int64_t rows) const;
  std::string ToString() const { return PartialShape{false, dims}.ToString(); }
};
std::vector<DenseShape> ReadDenseShapes(AttrReader& a, std::string_view name);
// Whether `value` can be the default of dense feature `i`.
Status CheckDefault(size_t i, const DenseShape& shape, const Tensor& value);

// Sets outputs, group after group: `at()` is where the group begins, `i` and `k` count from it or,
// where said, from the first output.
class FeatureOutputs {
 public:
  FeatureOutputs(KernelCall& c, bool batched) : c_(c), batched_(batched) {}

  void Skip(int n) { at_ += n; }
  int at() const { return at_; }
  bool batched() const { return batched_; }

  // Output i of all: a column's values.
  Status Values(int i, const FeatureColumn& column);
  // Output i of all: int32 or int64. InvalidArgument where a value does not fit.
  Status Integers(int i, DType dtype, const Shape& shape, const std::vector<int64_t>& values);
  Status Vector(int i, DType dtype, const std::vector<int64_t>& values) {
    return Integers(i, dtype, Shape{static_cast<int64_t>(values.size())}, values);
  }
  // Three groups of n outputs: indices, values, shapes; this is column k of n.
  Status Sparse(int k, int n, const FeatureColumn& column);
  // The same for feature lists.
  Status SparseList(int k, int n, const FeatureColumn& column);
  // Output i of all: a dense feature. `value` fills rows where it is absent, and pads a variable
  // length; `names` are the rows', for messages.
  Status Dense(int i, const FeatureColumn& column, const DenseShape& shape, const Tensor& value,
               const Tensor& names);
  // Output i of all: a dense feature list, padded with zeros to the longest.
  Status DenseList(int i, const FeatureColumn& column, const DenseShape& shape, bool may_be_absent,
                   const Tensor& names);

  // Zero, then the running sums of counts.
  static std::vector<int64_t> Splits(const std::vector<int64_t>& counts);

 private:
  Status SetSparse(int k, int n, const FeatureColumn& column, const std::vector<int64_t>& indices,
                   const std::vector<int64_t>& shape);
  KernelCall& c_;
  bool batched_;
  int at_ = 0;
};

// The row's name in `names`, or "<unknown>" where there are none.
std::string_view RowName(const Tensor& names, int64_t row);

using FeatureKeys = std::vector<std::string_view>;
// Keys from a vector of strings.
Result<FeatureKeys> KeysFromVector(const Tensor& t, size_t expected);
// From `n` scalars, the inputs from `first` on.
Result<FeatureKeys> KeysFromScalars(const KernelCall& c, int first, size_t n);
inline FeatureKeys KeysFromAttr(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}
// Keys with their types, one list behind the other.
std::vector<FeatureSpec> FeatureSpecs(
    std::initializer_list<std::pair<const FeatureKeys*, const std::vector<DType>*>> parts);

}  // namespace tare
