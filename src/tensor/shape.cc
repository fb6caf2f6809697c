#include "tensor/shape.h"

#include <algorithm>

namespace tare {

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  assert(dims.size() <= kMaxRank);
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

Result<Shape> Shape::Make(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    return InvalidArgument("a shape of {} dimensions is beyond the limit of {}", dims.size(), kMaxRank);
  }
  // Dimensions beside a zero must not overflow either: kernels multiply them in part.
  int64_t product = 1;
  for (int64_t d : dims) {
    if (d < 0) return InvalidArgument("dimension {} is negative", d);
    if (__builtin_mul_overflow(product, std::max<int64_t>(d, 1), &product)) {
      return InvalidArgument("the number of elements of {} overflows",
                             PartialShape{false, dims}.ToString());
    }
  }
  return Shape(dims);
}

void Shape::Insert(int at, int64_t d) {
  assert(rank_ < kMaxRank);
  std::copy_backward(dims_.begin() + at, dims_.begin() + rank_, dims_.begin() + rank_ + 1);
  dims_[at] = d;
  ++rank_;
}

void Shape::Remove(int at) {
  std::copy(dims_.begin() + at + 1, dims_.begin() + rank_, dims_.begin() + at);
  --rank_;
}

bool Shape::operator==(const Shape& o) const { return std::ranges::equal(dims(), o.dims()); }

std::string Shape::ToString() const { return PartialShape{false, dims()}.ToString(); }

bool PartialShape::fully_defined() const {
  return !unknown_rank && std::ranges::all_of(dims, [](int64_t d) { return d >= 0; });
}

bool PartialShape::Accepts(const Shape& s) const {
  if (unknown_rank) return true;
  return std::ranges::equal(dims, s.dims(), [](int64_t p, int64_t d) { return p < 0 || p == d; });
}

std::string PartialShape::ToString() const {
  if (unknown_rank) return "<unknown>";
  std::string s = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) s += ',';
    s += dims[i] < 0 ? "?" : std::to_string(dims[i]);
  }
  return s + "]";
}

Result<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, kMaxRank> dims;
  for (int i = 0; i < rank; ++i) {
    int ia = i - rank + a.rank(), ib = i - rank + b.rank();
    int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1) {
      return InvalidArgument("Incompatible shapes: {} vs. {}", a.ToString(), b.ToString());
    }
    dims[i] = da == 1 ? db : da;
  }
  return Shape::Make({dims.data(), static_cast<size_t>(rank)});
}

}  // namespace tare
