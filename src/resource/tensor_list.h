// Tensor lists: the values that TensorArrays of TensorFlow 2, RNN loops and map_fn pass around as
// variants.
//
// A list is a value: ops that change one copy it first unless they hold the only reference.
// Elements share bytes with the tensors they came from. An element of dtype kInvalid is not set
// yet. Not thread-safe to change; any number may read.
#pragma once
#include <array>
#include <vector>

#include "tensor/tensor.h"

namespace tare {

// A partial shape that owns its dimensions.
class ElementShape {
 public:
  ElementShape() = default;  // unknown rank
  explicit ElementShape(const Shape& shape) : ElementShape(shape.dims()) {}
  // InvalidArgument beyond kMaxRank dimensions or below -1.
  static Result<ElementShape> Make(PartialShape shape);
  // From an int32 or int64 tensor: scalar -1 is unknown rank, a vector has -1 for unknown
  // dimensions.
  static Result<ElementShape> FromTensor(const Tensor& t);

  bool known_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }
  int64_t dim(int i) const { return dims_[i]; }
  PartialShape view() const {
    return known_rank() ? PartialShape{false, {dims_.data(), static_cast<size_t>(rank_)}}
                        : PartialShape{};
  }
  bool fully_defined() const { return view().fully_defined(); }
  bool Accepts(const Shape& s) const { return view().Accepts(s); }
  bool Accepts(const ElementShape& s) const { return Merge(s).ok(); }
  std::string ToString() const { return view().ToString(); }
  bool operator==(const ElementShape& o) const;

  // What both say; InvalidArgument, in TensorFlow's words, when they contradict.
  Result<ElementShape> Merge(const ElementShape& o) const;
  // REQUIRES: fully_defined().
  Result<Shape> ToShape() const { return Shape::Make(view().dims); }
  // Without the first dimension. REQUIRES: rank is unknown or at least 1.
  ElementShape Tail() const;

 private:
  explicit ElementShape(std::span<const int64_t> dims);
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = -1;
};

class TensorListObject final : public Object {
 public:
  static constexpr std::string_view kTypeName = "TensorList";
  // A length beyond any real list's: what a damaged model may make us allocate is bounded by it.
  static constexpr int64_t kMaxLength = int64_t{1} << 24;
  // Lists in lists in lists: each level is a recursion when they are freed.
  static constexpr int kMaxDepth = 32;

  TensorListObject(DType dtype, const ElementShape& shape)
      : element_dtype(dtype), element_shape(shape) {}
  std::string_view type_name() const override { return kTypeName; }
  Ref<TensorListObject> Copy() const;

  int64_t length() const { return static_cast<int64_t>(tensors.size()); }
  // ResourceExhausted beyond kMaxLength. REQUIRES: n >= 0.
  Status Resize(int64_t n);
  // REQUIRES: i < length(). ResourceExhausted when variants nest too deeply.
  Status Set(int64_t i, Tensor t);
  Status PushBack(Tensor t);

  DType element_dtype;
  ElementShape element_shape;
  int64_t max_length = -1;  // -1: unlimited
  int depth = 1;            // 1 + the deepest list ever among the elements
  std::vector<Tensor> tensors;

 private:
  Status Nest(const Tensor& t);
};

// Zeros, empty strings, null variants.
Result<Tensor> MakeZeros(const Ref<Account>& account, DType dtype, const Shape& shape);
// A scalar DT_VARIANT tensor that refers to `object`.
Result<Tensor> MakeVariant(const Ref<Account>& account, Ref<Object> object);

// ZerosLike and Add for variant tensors of lists, for the kernels of those ops. Unimplemented when
// an element is no list; InvalidArgument when two differ in length, dtype or shapes.
Result<Tensor> ZerosLikeVariant(const Ref<Account>& account, const Tensor& t);
// `add` adds two tensors of one dtype and shape, which are no variants.
using AddTensorsFn = Result<Tensor> (*)(const Ref<Account>& account, const Tensor& a,
                                        const Tensor& b);
Result<Tensor> AddVariants(const Ref<Account>& account, const Tensor& a, const Tensor& b,
                           AddTensorsFn add);

}  // namespace tare
