// Tensor lists, an element at a time: making, setting, reading, pushing and popping.
#include "kernels/list_common.h"
#include "kernels/registry.h"

namespace tare {

Result<const TensorListObject*> GetList(const KernelCall& c, int i) {
  const Tensor& handle = c.input(i);
  if (handle.rank() != 0) {
    return InvalidArgument("Input list must be a scalar. Got: {}", handle.shape().ToString());
  }
  Object* object = handle.objects()[0].get();
  auto* list = object ? object->As<TensorListObject>() : nullptr;
  if (!list) {
    return InvalidArgument("Input handle is not a list. Saw: '{}'",
                           object ? object->type_name() : "<empty>");
  }
  return list;
}

Result<const TensorListObject*> GetList(const KernelCall& c, int i, DType dtype) {
  TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, i));
  if (list->element_dtype == dtype) return list;
  return InvalidArgument("Invalid data types; op elements {} but list elements {}",
                         DTypeName(dtype), DTypeName(list->element_dtype));
}

Result<TensorListObject*> TakeList(KernelCall& c, int in, int out) {
  Tensor handle = c.TakeInput(in);
  auto* list = handle.objects()[0]->As<TensorListObject>();
  if (handle.may_reuse() && list->unique()) {
    c.SetOutput(out, std::move(handle));
    return list;
  }
  Ref<TensorListObject> copy = list->Copy();
  list = copy.get();
  TARE_RETURN_IF_ERROR(OutputList(c, out, std::move(copy)));
  return list;
}

Status OutputList(KernelCall& c, int out, Ref<TensorListObject> list) {
  TARE_ASSIGN_OR_RETURN(Tensor handle, MakeVariant(c.run().account, std::move(list)));
  c.SetOutput(out, std::move(handle));
  return OkStatus();
}

Result<int64_t> ScalarInput(const KernelCall& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  if (t.num_elements() != 1) {
    return InvalidArgument("{} must be a scalar, got shape {}", name, t.shape().ToString());
  }
  return int64_t{t.scalar<int32_t>()};
}

Result<ElementShape> MergeElements(ElementShape shape, std::span<const Tensor> elements) {
  for (const Tensor& t : elements) {
    if (!t.valid()) continue;
    TARE_ASSIGN_OR_RETURN(shape, shape.Merge(ElementShape(t.shape())));
  }
  return shape;
}

namespace {

struct Reserve {
  explicit Reserve(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(ElementShape shape, ElementShape::FromTensor(c.input(0)));
    TARE_ASSIGN_OR_RETURN(int64_t n, ScalarInput(c, 1, "num_elements"));
    if (n < 0)
      return InvalidArgument(
          "The num_elements to reserve must be a non negative number, but got {}", n);
    auto list = MakeRef<TensorListObject>(dtype, shape);
    TARE_RETURN_IF_ERROR(list->Resize(n));
    return OutputList(c, 0, std::move(list));
  }
  DType dtype;
};

struct Empty {
  explicit Empty(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(ElementShape shape, ElementShape::FromTensor(c.input(0)));
    TARE_ASSIGN_OR_RETURN(int64_t most, ScalarInput(c, 1, "max_num_elements"));
    auto list = MakeRef<TensorListObject>(dtype, shape);
    list->max_length = most;
    return OutputList(c, 0, std::move(list));
  }
  DType dtype;
};

Status Length(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt32, {}));
  *out->mutable_data<int32_t>() = static_cast<int32_t>(list->length());
  return OkStatus();
}

struct GetElementShape {
  explicit GetElementShape(AttrReader& a) : dtype(a.Type("shape_type")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0));
    const ElementShape& shape = list->element_shape;
    TARE_ASSIGN_OR_RETURN(Tensor * out,
                          c.Output(0, dtype, shape.known_rank() ? Shape{shape.rank()} : Shape{}));
    return ForType(Indexes{}, dtype, [&]<class T>() {
      auto to = out->mut<T>();
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = shape.known_rank() ? static_cast<T>(shape.dim(i)) : T{-1};
      return OkStatus();
    });
  }
  DType dtype;
};

Status CheckAppend(const TensorListObject& list, const Shape& item, std::string_view where) {
  if (!list.element_shape.Accepts(item)) {
    return InvalidArgument(
        "Tried to append a tensor with incompatible shape to a list{}. Op element shape: {} list "
        "shape: {}",
        where, item.ToString(), list.element_shape.ToString());
  }
  if (list.max_length >= 0 && list.length() >= list.max_length) {
    return InvalidArgument("Tried to push item into a full list list size: {} max_num_elements: {}",
                           list.length(), list.max_length);
  }
  return OkStatus();
}

struct PushBack {
  explicit PushBack(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0, dtype));
    TARE_RETURN_IF_ERROR(CheckAppend(*list, c.input(1).shape(), ""));
    TARE_ASSIGN_OR_RETURN(TensorListObject * to, TakeList(c, 0, 0));
    return to->PushBack(c.TakeInput(1));
  }
  DType dtype;
};

struct PushBackBatch {
  explicit PushBackBatch(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    const Tensor &handles = c.input(0), &rows = c.input(1);
    if (rows.rank() < 1) {
      return InvalidArgument("Expected tensor to be at least a vector, but saw shape: {}",
                             rows.shape().ToString());
    }
    if (rows.dim(0) != handles.num_elements()) {
      return InvalidArgument("Expected tensor.shape[0] == input_handles.size, but saw {} vs. {}",
                             rows.dim(0), handles.num_elements());
    }
    Shape item = rows.shape();
    item.Remove(0);
    TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(DType::kVariant, handles.shape()));
    for (int64_t i = 0; i < handles.num_elements(); ++i) {
      Object* object = handles.objects()[i].get();
      auto* list = object ? object->As<TensorListObject>() : nullptr;
      if (!list) return InvalidArgument("Input handle {} is not a list", i);
      if (list->element_dtype != dtype) {
        return InvalidArgument("Invalid data type at index {}; op elements {} but list elements {}",
                               i, DTypeName(dtype), DTypeName(list->element_dtype));
      }
      TARE_RETURN_IF_ERROR(CheckAppend(*list, item, fmt::format(" at index {}", i)));
      Ref<TensorListObject> longer = list->Copy();
      TARE_RETURN_IF_ERROR(longer->PushBack(rows.Rows(i, i + 1).Reshaped(item)));
      out.mutable_objects()[i] = std::move(longer);
    }
    c.SetOutput(0, std::move(out));
    return OkStatus();
  }
  DType dtype;
};

// The shape that an element nobody set is read with.
Result<Shape> UnsetShape(const KernelCall& c, const TensorListObject& list, int shape_input,
                         bool ask_others) {
  TARE_ASSIGN_OR_RETURN(ElementShape shape, ElementShape::FromTensor(c.input(shape_input)));
  TARE_ASSIGN_OR_RETURN(shape, shape.Merge(list.element_shape));
  if (ask_others && !shape.fully_defined()) {
    TARE_ASSIGN_OR_RETURN(shape, MergeElements(shape, list.tensors));
  }
  if (shape.fully_defined()) return shape.ToShape();
  return InvalidArgument(
      "Trying to read an uninitialized tensor but element_shape is not fully defined{}{}{}",
      ask_others ? ": " : ".", shape.ToString(), ask_others ? " and no list element is set." : "");
}

struct PopBack {
  explicit PopBack(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0, dtype));
    if (list->length() == 0) return InvalidArgument("Trying to pop from an empty list.");
    Shape zeros;
    if (!list->tensors.back().valid()) {
      TARE_ASSIGN_OR_RETURN(zeros, UnsetShape(c, *list, 1, false));
    }
    TARE_ASSIGN_OR_RETURN(TensorListObject * to, TakeList(c, 0, 0));
    Tensor last = std::move(to->tensors.back());
    to->tensors.pop_back();
    if (!last.valid()) {
      TARE_ASSIGN_OR_RETURN(last, MakeZeros(c.run().account, dtype, zeros));
    }
    c.SetOutput(1, std::move(last));
    return OkStatus();
  }
  DType dtype;
};

struct GetItem {
  explicit GetItem(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0, dtype));
    TARE_ASSIGN_OR_RETURN(int64_t i, ScalarInput(c, 1, "index"));
    if (i < 0 || i >= list->length()) {
      return InvalidArgument("Trying to access element {} in a list with {} elements.", i,
                             list->length());
    }
    Tensor item = list->tensors[i];
    if (!item.valid()) {
      TARE_ASSIGN_OR_RETURN(Shape zeros, UnsetShape(c, *list, 2, true));
      TARE_ASSIGN_OR_RETURN(item, MakeZeros(c.run().account, dtype, zeros));
    }
    c.SetOutput(0, std::move(item));
    return OkStatus();
  }
  DType dtype;
};

struct SetItem {
  explicit SetItem(AttrReader& a)
      : dtype(a.Type("element_dtype")), grows(a.Bool("resize_if_index_out_of_bounds")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0, dtype));
    TARE_ASSIGN_OR_RETURN(int64_t i, ScalarInput(c, 1, "index"));
    if (i < 0 || (i >= list->length() && !grows)) {
      return InvalidArgument("Trying to modify element {} in a list with {} elements.", i,
                             list->length());
    }
    const Shape& item = c.input(2).shape();
    if (!list->element_shape.Accepts(item)) {
      return InvalidArgument(
          "Tried to set a tensor with incompatible shape at a list index. Item element shape: {} "
          "list shape: {}",
          item.ToString(), list->element_shape.ToString());
    }
    TARE_ASSIGN_OR_RETURN(TensorListObject * to, TakeList(c, 0, 0));
    if (i >= to->length()) TARE_RETURN_IF_ERROR(to->Resize(i + 1));
    return to->Set(i, c.TakeInput(2));
  }
  DType dtype;
  bool grows;
};

Status Resize(KernelCall& c) {
  TARE_RETURN_IF_ERROR(GetList(c, 0).status());
  TARE_ASSIGN_OR_RETURN(int64_t n, ScalarInput(c, 1, "size"));
  if (n < 0) return InvalidArgument("TensorListSlice expects size to be non-negative. Got: {}", n);
  TARE_ASSIGN_OR_RETURN(TensorListObject * to, TakeList(c, 0, 0));
  return to->Resize(n);
}

constexpr KernelRow kRows[] = {
    Op<Empty>("EmptyTensorList"),
    Op<GetElementShape>("TensorListElementShape"),
    Op<GetItem>("TensorListGetItem"),
    Op<Length>("TensorListLength"),
    Op<PopBack>("TensorListPopBack"),
    Op<PushBack>("TensorListPushBack"),
    Op<PushBackBatch>("TensorListPushBackBatch"),
    Op<Reserve>("TensorListReserve"),
    Op<Resize>("TensorListResize"),
    Op<SetItem>("TensorListSetItem"),
};

}  // namespace
extern constinit const KernelFamily kListKernels = kRows;
}  // namespace tare
