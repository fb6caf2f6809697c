// A tensor: dtype, shape and a share of a buffer. A cheap value; copying one shares the bytes.
//
// Bytes are immutable once a second tensor shares them. A tensor read in place from a mapped file
// promises only its type's natural alignment. Not thread-safe per object; many may read one.
#pragma once
#include <span>

#include "tensor/buffer.h"
#include "tensor/object.h"
#include "tensor/shape.h"
#include "tensor/string_cell.h"

namespace tare {

class Tensor {
 public:
  Tensor() = default;  // dtype kInvalid: no value
  Tensor(DType dtype, const Shape& shape, Ref<Buffer> buffer)
      : Tensor(dtype, shape, buffer, buffer->data()) {}
  // `data` lies inside the buffer. REQUIRES: aligned for the dtype, long enough.
  Tensor(DType dtype, const Shape& shape, Ref<Buffer> buffer, void* data)
      : buffer_(std::move(buffer)), data_(data), shape_(shape), dtype_(dtype) {}

  // Uninitialised plain elements; empty strings; null references.
  static Result<Tensor> Make(const Ref<Account>& account, DType dtype, const Shape& shape,
                             Kind kind = Kind::kActivations);

  bool valid() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_[i]; }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t bytes() const { return static_cast<size_t>(num_elements()) * DTypeSize(dtype_); }
  const Ref<Buffer>& buffer() const { return buffer_; }

  template <class T>
  const T* data() const {
    assert(DTypeOf<T>::value == dtype_);
    return static_cast<const T*>(data_);
  }
  // REQUIRES: this tensor was just made, or may_reuse().
  template <class T>
  T* mutable_data() {
    assert(DTypeOf<T>::value == dtype_);
    return static_cast<T*>(data_);
  }
  template <class T>
  std::span<const T> as() const {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  template <class T>
  std::span<T> mut() {
    return {mutable_data<T>(), static_cast<size_t>(num_elements())};
  }
  // REQUIRES: at least one element.
  template <class T>
  const T& scalar() const {
    return *data<T>();
  }
  const void* raw() const { return data_; }
  void* mutable_raw() { return data_; }
  std::span<const Ref<Object>> objects() const {
    assert(dtype_ == DType::kResource || dtype_ == DType::kVariant);
    return {static_cast<const Ref<Object>*>(data_), static_cast<size_t>(num_elements())};
  }
  std::span<Ref<Object>> mutable_objects() {
    return {static_cast<Ref<Object>*>(data_), static_cast<size_t>(num_elements())};
  }

  // Whether this is the only holder of memory that may be written.
  bool may_reuse() const { return buffer_ && buffer_->owned() && buffer_->sole(); }
  // The same bytes under another shape. REQUIRES: equal element counts.
  Tensor Reshaped(const Shape& shape) const { return Tensor(dtype_, shape, buffer_, data_); }
  // Elements [begin, end) of dimension 0, sharing bytes. REQUIRES: rank >= 1.
  Tensor Rows(int64_t begin, int64_t end) const;
  // A copy of its own: strings with their bytes, references counted.
  Result<Tensor> Clone(const Ref<Account>& account, Kind kind = Kind::kActivations) const;

 private:
  Ref<Buffer> buffer_;
  void* data_ = nullptr;
  Shape shape_;
  DType dtype_ = DType::kInvalid;
};

// Copies `n` elements of one dtype, strings and references included. `to` must hold valid elements.
void CopyElements(DType dtype, const void* from, void* to, size_t n);

// The values of an int32 or int64 tensor, widened. InvalidArgument for another dtype.
Result<std::span<const int64_t>> IntValues(const Tensor& t, std::span<int64_t> space);

}  // namespace tare
