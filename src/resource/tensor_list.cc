#include "resource/tensor_list.h"

#include <algorithm>
#include <cstring>

namespace tare {

ElementShape::ElementShape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  std::ranges::copy(dims, dims_.begin());
}

Result<ElementShape> ElementShape::Make(PartialShape shape) {
  if (shape.unknown_rank) return ElementShape();
  if (shape.dims.size() > kMaxRank) {
    return InvalidArgument("a shape of {} dimensions is beyond the limit of {}", shape.dims.size(),
                           kMaxRank);
  }
  for (int64_t d : shape.dims) {
    if (d < -1) return InvalidArgument("Dimension {} must be >= -1", d);
  }
  return ElementShape(shape.dims);
}

Result<ElementShape> ElementShape::FromTensor(const Tensor& t) {
  if (t.rank() > 1) return InvalidArgument("Shape must be at most rank 1 but is rank {}", t.rank());
  std::array<int64_t, kMaxRank> space;
  TARE_ASSIGN_OR_RETURN(auto dims, IntValues(t, space));
  if (t.rank() == 0) {
    if (dims[0] == -1) return ElementShape();
    return InvalidArgument(
        "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  return Make({false, dims});
}

bool ElementShape::operator==(const ElementShape& o) const {
  return rank_ == o.rank_ && std::ranges::equal(view().dims, o.view().dims);
}

Result<ElementShape> ElementShape::Merge(const ElementShape& o) const {
  if (!known_rank()) return o;
  if (!o.known_rank()) return *this;
  if (rank_ != o.rank_) {
    return InvalidArgument("PartialTensorShape: Incompatible ranks during merge: {} vs. {}", rank_,
                           o.rank_);
  }
  ElementShape merged = *this;
  for (int i = 0; i < rank_; ++i) {
    if (dims_[i] >= 0 && o.dims_[i] >= 0 && dims_[i] != o.dims_[i]) {
      return InvalidArgument("PartialTensorShape: Incompatible shapes during merge: {} vs. {}",
                             ToString(), o.ToString());
    }
    merged.dims_[i] = std::max(dims_[i], o.dims_[i]);
  }
  return merged;
}

ElementShape ElementShape::Tail() const {
  return known_rank() ? ElementShape(view().dims.subspan(1)) : *this;
}

Ref<TensorListObject> TensorListObject::Copy() const {
  auto copy = MakeRef<TensorListObject>(element_dtype, element_shape);
  copy->max_length = max_length;
  copy->depth = depth;
  copy->tensors = tensors;
  return copy;
}

Status TensorListObject::Resize(int64_t n) {
  if (n > kMaxLength)
    return ResourceExhausted("a list of {} elements is beyond the limit of {}", n, kMaxLength);
  tensors.resize(static_cast<size_t>(n));
  return OkStatus();
}

Status TensorListObject::Nest(const Tensor& t) {
  if (t.dtype() != DType::kVariant) return OkStatus();
  for (const Ref<Object>& o : t.objects()) {
    auto* list = o ? o->As<TensorListObject>() : nullptr;
    if (list) depth = std::max(depth, list->depth + 1);
  }
  return depth > kMaxDepth ? ResourceExhausted("lists nest deeper than {}", kMaxDepth) : OkStatus();
}

Status TensorListObject::Set(int64_t i, Tensor t) {
  TARE_RETURN_IF_ERROR(Nest(t));
  tensors[static_cast<size_t>(i)] = std::move(t);
  return OkStatus();
}

Status TensorListObject::PushBack(Tensor t) {
  if (length() >= kMaxLength) return ResourceExhausted("a list is full at {} elements", kMaxLength);
  TARE_RETURN_IF_ERROR(Nest(t));
  tensors.push_back(std::move(t));
  return OkStatus();
}

Result<Tensor> MakeZeros(const Ref<Account>& account, DType dtype, const Shape& shape) {
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, dtype, shape));
  if (IsPlain(dtype) && t.bytes() > 0) std::memset(t.mutable_raw(), 0, t.bytes());
  return t;
}

Result<Tensor> MakeVariant(const Ref<Account>& account, Ref<Object> object) {
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, DType::kVariant, Shape{}));
  t.mutable_objects()[0] = std::move(object);
  return t;
}

namespace {

// A new variant tensor of the shape of `t`, element by element from the lists of `t`.
template <class F>
Result<Tensor> MapLists(const Ref<Account>& account, const Tensor& t, F f) {
  TARE_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(account, DType::kVariant, t.shape()));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    Object* object = t.objects()[i].get();
    if (!object) continue;
    auto* list = object->As<TensorListObject>();
    if (!list)
      return Unimplemented("no zeros or sums of variants that are a {}", object->type_name());
    TARE_ASSIGN_OR_RETURN(out.mutable_objects()[i], f(i, *list));
  }
  return out;
}

Result<Tensor> AddElements(const Ref<Account>& account, const Tensor& a, const Tensor& b,
                           AddTensorsFn add) {
  if (a.dtype() == DType::kVariant) return AddVariants(account, a, b, add);
  if (!(a.shape() == b.shape())) {
    return InvalidArgument("Trying to add list elements of shapes {} and {}", a.shape().ToString(),
                           b.shape().ToString());
  }
  return add(account, a, b);
}

Result<Ref<TensorListObject>> AddLists(const Ref<Account>& account, const TensorListObject& a,
                                       const TensorListObject& b, AddTensorsFn add) {
  if (a.element_dtype != b.element_dtype) {
    return InvalidArgument(
        "Trying to add two lists of tensors of different dtypes. One is {} and the other is {}",
        DTypeName(a.element_dtype), DTypeName(b.element_dtype));
  }
  if (a.length() != b.length()) {
    return InvalidArgument(
        "Trying to add two lists of tensors with different lengths. One is {} and the other is {}",
        a.length(), b.length());
  }
  TARE_ASSIGN_OR_RETURN(ElementShape shape, a.element_shape.Merge(b.element_shape));
  auto sum = MakeRef<TensorListObject>(a.element_dtype, shape);
  TARE_RETURN_IF_ERROR(sum->Resize(a.length()));
  for (int64_t i = 0; i < a.length(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    Tensor z = x.valid() ? x : y;
    if (x.valid() && y.valid()) {
      TARE_ASSIGN_OR_RETURN(z, AddElements(account, x, y, add));
    }
    TARE_RETURN_IF_ERROR(sum->Set(i, std::move(z)));
  }
  return sum;
}

}  // namespace

Result<Tensor> ZerosLikeVariant(const Ref<Account>& account, const Tensor& t) {
  return MapLists(account, t, [&](int64_t, const TensorListObject& list) -> Result<Ref<Object>> {
    auto zeros = MakeRef<TensorListObject>(list.element_dtype, list.element_shape);
    TARE_RETURN_IF_ERROR(zeros->Resize(list.length()));
    for (int64_t i = 0; i < list.length(); ++i) {
      const Tensor& from = list.tensors[i];
      if (!from.valid()) continue;
      TARE_ASSIGN_OR_RETURN(Tensor to, from.dtype() == DType::kVariant
                                           ? ZerosLikeVariant(account, from)
                                           : MakeZeros(account, from.dtype(), from.shape()));
      TARE_RETURN_IF_ERROR(zeros->Set(i, std::move(to)));
    }
    return Ref<Object>(std::move(zeros));
  });
}

Result<Tensor> AddVariants(const Ref<Account>& account, const Tensor& a, const Tensor& b,
                           AddTensorsFn add) {
  if (!(a.shape() == b.shape())) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", a.shape().ToString(),
                           b.shape().ToString());
  }
  return MapLists(account, a, [&](int64_t i, const TensorListObject& x) -> Result<Ref<Object>> {
    Object* other = b.objects()[i].get();
    auto* y = other ? other->As<TensorListObject>() : nullptr;
    if (!y) return InvalidArgument("Trying to add a list and something that is none");
    TARE_ASSIGN_OR_RETURN(Ref<TensorListObject> sum, AddLists(account, x, *y, add));
    return Ref<Object>(std::move(sum));
  });
}

}  // namespace tare
