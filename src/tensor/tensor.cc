#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

namespace tare {

Result<Tensor> Tensor::Make(const Ref<Account>& account, DType dtype, const Shape& shape, Kind kind) {
  if (DTypeSize(dtype) == 0) return InvalidArgument("a tensor needs a dtype");
  auto buffer = Buffer::Allocate(account, dtype, static_cast<size_t>(shape.num_elements()), kind);
  if (!buffer.ok()) {
    return std::move(buffer).status().At(
        fmt::format("tensor of shape {} and type {}", shape.ToString(), DTypeName(dtype)));
  }
  return Tensor(dtype, shape, *std::move(buffer));
}

Tensor Tensor::Rows(int64_t begin, int64_t end) const {
  Shape s = shape_;
  s.set_dim(0, end - begin);
  size_t row = static_cast<size_t>(shape_.product(1, rank())) * DTypeSize(dtype_);
  return Tensor(dtype_, s, buffer_, static_cast<std::byte*>(data_) + static_cast<size_t>(begin) * row);
}

Result<Tensor> Tensor::Clone(const Ref<Account>& account, Kind kind) const {
  TARE_ASSIGN_OR_RETURN(Tensor copy, Make(account, dtype_, shape_, kind));
  CopyElements(dtype_, data_, copy.data_, static_cast<size_t>(num_elements()));
  return copy;
}

void CopyElements(DType dtype, const void* from, void* to, size_t n) {
  if (dtype == DType::kString) {
    auto* a = static_cast<const StringCell*>(from);
    auto* b = static_cast<StringCell*>(to);
    for (size_t i = 0; i < n; ++i) b[i].Assign(a[i].view());
  } else if (!IsPlain(dtype)) {
    auto* a = static_cast<const Ref<Object>*>(from);
    std::copy(a, a + n, static_cast<Ref<Object>*>(to));
  } else if (n > 0) {
    std::memcpy(to, from, n * DTypeSize(dtype));
  }
}

Result<std::span<const int64_t>> IntValues(const Tensor& t, std::span<int64_t> space) {
  auto n = static_cast<size_t>(t.num_elements());
  if (t.dtype() == DType::kInt64) return t.as<int64_t>();
  if (t.dtype() != DType::kInt32) {
    return InvalidArgument("expected int32 or int64 values, got {}", DTypeName(t.dtype()));
  }
  if (n > space.size()) return InvalidArgument("{} values where at most {} fit", n, space.size());
  std::copy_n(t.data<int32_t>(), n, space.begin());
  return std::span<const int64_t>(space.data(), n);
}

}  // namespace tare
