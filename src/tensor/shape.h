// Shapes: Shape is fully known, PartialShape may have unknown dimensions (-1) or unknown rank.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "status/status.h"

namespace tare {

// More dimensions than any kernel of TensorFlow's takes; a shape beyond it is refused.
constexpr int kMaxRank = 10;

// A value of at most kMaxRank dimensions, each >= 0, whose product fits int64.
class Shape {
 public:
  Shape() = default;  // a scalar
  // REQUIRES: valid dims. For shapes from files or tensors use Make.
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);
  // Checks rank, signs and that the product does not overflow.
  static Result<Shape> Make(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t dim(int i) const { return dims_[i]; }
  int64_t operator[](int i) const { return dims_[i]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t num_elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= dims_[i];
    return n;
  }
  // Product of dims [begin, end).
  int64_t product(int begin, int end) const {
    int64_t n = 1;
    for (int i = begin; i < end; ++i) n *= dims_[i];
    return n;
  }
  // REQUIRES: the result is still a valid shape; see Make for untrusted sizes.
  void set_dim(int i, int64_t d) { dims_[i] = d; }
  void Append(int64_t d) { assert(rank_ < kMaxRank); dims_[rank_++] = d; }
  void Insert(int at, int64_t d);
  void Remove(int at);

  bool operator==(const Shape& o) const;
  // "[2,3]"
  std::string ToString() const;

 private:
  std::array<int64_t, kMaxRank> dims_;
  int rank_ = 0;
};

// A view: dims belong to whoever made it (a region, an op definition).
struct PartialShape {
  bool unknown_rank = true;
  std::span<const int64_t> dims;  // -1 = unknown

  bool fully_defined() const;
  bool Accepts(const Shape& s) const;
  // "[?,3]", "<unknown>"
  std::string ToString() const;
};

// NumPy broadcasting. InvalidArgument "Incompatible shapes: [2,3] vs. [4]".
Result<Shape> BroadcastShape(const Shape& a, const Shape& b);

}  // namespace tare
