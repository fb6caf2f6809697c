// Tensor lists, many elements at a time: to and from one tensor, gathering, scattering, joining
// lists.
#include <algorithm>
#include <cstring>

#include "kernels/list_common.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// Copies `from`, or zeros where it is not set, to `count` elements at element `at` of `to`.
void CopyInto(const Tensor& from, Tensor* to, int64_t at, int64_t count) {
  size_t size = DTypeSize(to->dtype());
  auto* p = static_cast<std::byte*>(to->mutable_raw()) + static_cast<size_t>(at) * size;
  if (from.valid()) {
    CopyElements(to->dtype(), from.raw(), p, static_cast<size_t>(count));
  } else if (IsPlain(to->dtype()) && count > 0) {
    std::memset(p, 0, static_cast<size_t>(count) * size);
  }
}

// A tensor of the `n` elements pick(0), pick(1), ... along a new first dimension.
template <class F>
Status StackInto(KernelCall& c, DType dtype, const ElementShape& element, int64_t n, F pick) {
  std::vector<int64_t> dims{n};
  dims.insert(dims.end(), element.view().dims.begin(), element.view().dims.end());
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  int64_t row = shape.product(1, shape.rank());
  Shape item = shape;
  item.Remove(0);
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& t = pick(i);
    if (t.valid() && !(t.shape() == item)) {
      return InvalidArgument("Tried to stack tensors of shapes {} and {}", item.ToString(),
                             t.shape().ToString());
    }
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
  double cost = 0.1 * static_cast<double>(row) * static_cast<double>(DTypeSize(dtype));
  c.threads().ParallelFor(n, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) CopyInto(pick(i), out, i * row, row);
  });
  return OkStatus();
}

struct Stack {
  explicit Stack(AttrReader& a) : dtype(a.Type("element_dtype")), expected(a.Int("num_elements")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0, dtype));
    if (expected >= 0 && list->length() != expected) {
      return InvalidArgument(
          "Operation expected a list with {} elements but got a list with {} elements.", expected,
          list->length());
    }
    TARE_ASSIGN_OR_RETURN(ElementShape shape, ElementShape::FromTensor(c.input(1)));
    TARE_ASSIGN_OR_RETURN(shape, shape.Merge(list->element_shape));
    if (list->length() == 0 && !shape.fully_defined()) {
      return InvalidArgument(
          "Tried to stack elements of an empty list with non-fully-defined element_shape: {}",
          shape.ToString());
    }
    TARE_ASSIGN_OR_RETURN(shape, MergeElements(shape, list->tensors));
    if (!shape.fully_defined()) {
      return InvalidArgument(
          "Tried to stack list which only contains uninitialized tensors and has a "
          "non-fully-defined element_shape: {}",
          shape.ToString());
    }
    return StackInto(c, dtype, shape, list->length(),
                     [&](int64_t i) -> const Tensor& { return list->tensors[i]; });
  }
  DType dtype;
  int64_t expected;
};

struct Gather {
  explicit Gather(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0, dtype));
    auto indices = c.input(1).as<int32_t>();
    TARE_ASSIGN_OR_RETURN(ElementShape shape, ElementShape::FromTensor(c.input(2)));
    TARE_ASSIGN_OR_RETURN(shape, shape.Merge(list->element_shape));
    if (indices.empty() && !shape.fully_defined()) {
      return InvalidArgument(
          "Tried to gather 0-elements from a list with non-fully-defined shape: {}",
          shape.ToString());
    }
    for (int32_t i : indices) {
      if (i < 0 || i >= list->length()) {
        return InvalidArgument("Trying to gather element {} in a list with {} elements.", i,
                               list->length());
      }
      if (!list->tensors[i].valid()) continue;
      TARE_ASSIGN_OR_RETURN(shape, shape.Merge(ElementShape(list->tensors[i].shape())));
    }
    if (!shape.fully_defined()) {
      return InvalidArgument(
          "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: "
          "{}",
          shape.ToString());
    }
    return StackInto(c, dtype, shape, static_cast<int64_t>(indices.size()),
                     [&](int64_t i) -> const Tensor& { return list->tensors[indices[i]]; });
  }
  DType dtype;
};

Status NeedsRows(const Tensor& t) {
  if (t.rank() >= 1) return OkStatus();
  return InvalidArgument("Tensor must be at least a vector, but saw shape: {}",
                         t.shape().ToString());
}

// An element of a list that shares row i of `t`.
Tensor Row(const Tensor& t, int64_t i) {
  Shape s = t.shape();
  s.Remove(0);
  return t.Rows(i, i + 1).Reshaped(s);
}

// A list for the rows of input 0, with the element shape of input `shape_input`.
Result<Ref<TensorListObject>> ListForRows(const KernelCall& c, int shape_input) {
  const Tensor& t = c.input(0);
  TARE_RETURN_IF_ERROR(NeedsRows(t));
  TARE_ASSIGN_OR_RETURN(ElementShape shape, ElementShape::FromTensor(c.input(shape_input)));
  Shape row = t.shape();
  row.Remove(0);
  if (!shape.Accepts(row)) {
    return InvalidArgument("Specified a list with shape {} from a tensor with shape {}",
                           shape.ToString(), row.ToString());
  }
  return MakeRef<TensorListObject>(t.dtype(), shape);
}

Status FromTensor(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<TensorListObject> list, ListForRows(c, 1));
  const Tensor& t = c.input(0);
  TARE_RETURN_IF_ERROR(list->Resize(t.dim(0)));
  for (int64_t i = 0; i < t.dim(0); ++i) TARE_RETURN_IF_ERROR(list->Set(i, Row(t, i)));
  return OutputList(c, 0, std::move(list));
}

// Sets elements indices[i] to the rows of `rows`, growing the list to the largest index.
Status ScatterRows(const Tensor& rows, std::span<const int32_t> indices, TensorListObject* list) {
  int64_t length = list->length();
  for (int32_t i : indices) length = std::max<int64_t>(length, int64_t{i} + 1);
  TARE_RETURN_IF_ERROR(list->Resize(length));
  for (size_t i = 0; i < indices.size(); ++i) {
    TARE_RETURN_IF_ERROR(list->Set(indices[i], Row(rows, static_cast<int64_t>(i))));
  }
  return OkStatus();
}

Status CheckNotNegative(std::span<const int32_t> indices) {
  if (std::ranges::all_of(indices, [](int32_t i) { return i >= 0; })) return OkStatus();
  return InvalidArgument("Indices in TensorListScatter must all be non-negative.");
}

// TensorListScatter, and V2, whose num_elements (-1: as many as needed) is input 3.
Status Scatter(KernelCall& c) {
  auto indices = c.input(1).as<int32_t>();
  int64_t n = -1;
  if (c.num_inputs() == 4) {
    TARE_ASSIGN_OR_RETURN(n, ScalarInput(c, 3, "num_elements"));
    if (n < -1)
      return InvalidArgument("TensorListScatter expects num_elements >= -1, found: {}", n);
  }
  TARE_ASSIGN_OR_RETURN(Ref<TensorListObject> list, ListForRows(c, 2));
  if (c.input(0).dim(0) != c.input(1).num_elements()) {
    return InvalidArgument("Invalid number of rows in input tensor. Expected: {} Actual: {}",
                           indices.size(), c.input(0).dim(0));
  }
  TARE_RETURN_IF_ERROR(CheckNotNegative(indices));
  if (n >= 0) {
    for (int32_t i : indices) {
      if (i >= n)
        return InvalidArgument(
            "TensorListScatter: Trying to scatter at index {} in list with size {}", i, n);
    }
    TARE_RETURN_IF_ERROR(list->Resize(n));
  }
  TARE_RETURN_IF_ERROR(ScatterRows(c.input(0), indices, list.get()));
  return OutputList(c, 0, std::move(list));
}

Status ScatterIntoExisting(KernelCall& c) {
  const Tensor& rows = c.input(1);
  auto indices = c.input(2).as<int32_t>();
  TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0));
  TARE_RETURN_IF_ERROR(NeedsRows(rows));
  if (rows.dtype() != list->element_dtype) {
    return InvalidArgument("Invalid data types; input tensor type: {} list element_type: {}",
                           DTypeName(rows.dtype()), DTypeName(list->element_dtype));
  }
  if (rows.dim(0) != c.input(2).num_elements()) {
    return InvalidArgument("Expected len(indices) == tensor.shape[0], but saw: {} vs. {}",
                           indices.size(), rows.dim(0));
  }
  TARE_RETURN_IF_ERROR(CheckNotNegative(indices));
  TARE_ASSIGN_OR_RETURN(TensorListObject * to, TakeList(c, 0, 0));
  return ScatterRows(rows, indices, to);
}

// TensorListConcat (element_shape is an attribute, every element must be set) and V2 (inputs 1 and
// 2 give the shape and the lengths of elements that are not set).
struct Concat {
  explicit Concat(AttrReader& a) : dtype(a.Type("element_dtype")), v2(a.op().inputs.size() == 3) {
    if (v2) return;
    auto made = ElementShape::Make(a.ShapeAttr("element_shape"));
    if (made.ok())
      attr_shape = *made;
    else
      a.Fail(std::move(made).status());
  }

  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(const TensorListObject* list, GetList(c, 0, dtype));
    ElementShape shape = attr_shape;
    if (v2) {
      TARE_ASSIGN_OR_RETURN(shape, ElementShape::FromTensor(c.input(1)));
    }
    TARE_ASSIGN_OR_RETURN(shape, shape.Merge(list->element_shape));
    if (shape.rank() == 0) {
      return InvalidArgument(
          "Concat requires elements to be at least vectors, found scalars instead.");
    }
    TARE_ASSIGN_OR_RETURN(ElementShape tail, TailOf(*list, shape.Tail()));
    std::vector<int64_t> lengths;
    TARE_RETURN_IF_ERROR(Lengths(c, *list, shape.known_rank() ? shape.dim(0) : -1, &lengths));
    return Join(c, *list, tail, lengths);
  }

 private:
  Result<ElementShape> TailOf(const TensorListObject& list, ElementShape tail) const {
    if (list.length() == 0 && !tail.fully_defined()) {
      return InvalidArgument(
          "All except the first dimension must be fully defined when concating an empty tensor "
          "list. "
          "element_shape: {}",
          tail.ToString());
    }
    for (int64_t i = 0; i < list.length(); ++i) {
      const Tensor& t = list.tensors[i];
      if (!t.valid()) continue;
      if (t.rank() == 0) {
        return InvalidArgument(
            "Concat saw a scalar shape at index {} but requires at least vectors.", i);
      }
      TARE_ASSIGN_OR_RETURN(tail, tail.Merge(ElementShape(t.shape()).Tail()));
    }
    if (tail.fully_defined()) return tail;
    return InvalidArgument(
        "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim "
        "is not fully "
        "defined: {}",
        tail.ToString());
  }

  Status Lengths(const KernelCall& c, const TensorListObject& list, int64_t first,
                 std::vector<int64_t>* lengths) const {
    auto given = v2 ? c.input(2).as<int64_t>() : std::span<const int64_t>();
    for (int64_t i = 0; i < list.length(); ++i) {
      const Tensor& t = list.tensors[i];
      int64_t n = t.valid() ? t.dim(0) : first;
      if (!t.valid() && !v2) {
        return InvalidArgument(
            "Concating lists with uninitialized tensors is not supported in this version of "
            "TensorListConcat. Consider updating your GraphDef to run the newer version.");
      }
      if (t.valid() && first >= 0 && n != first) {
        return InvalidArgument(
            "First entry of element_shape input does not match the first dim of list element at "
            "index: {} Expected: {} Actual: {}",
            i, first, n);
      }
      if (n < 0) {
        if (i >= static_cast<int64_t>(given.size())) {
          return InvalidArgument(
              "List contains uninitialized tensor at index {} but leading_dims has only {} "
              "elements.",
              i, given.size());
        }
        n = given[i];
        if (n < 0) return InvalidArgument("leading_dims[{}] = {} is negative", i, n);
      }
      lengths->push_back(n);
    }
    return OkStatus();
  }

  Status Join(KernelCall& c, const TensorListObject& list, const ElementShape& tail,
              const std::vector<int64_t>& lengths) const {
    int64_t total = 0;
    for (int64_t n : lengths) {
      if (__builtin_add_overflow(total, n, &total))
        return InvalidArgument("the concatenated length overflows");
    }
    std::vector<int64_t> dims{total};
    dims.insert(dims.end(), tail.view().dims.begin(), tail.view().dims.end());
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
    TARE_ASSIGN_OR_RETURN(Tensor * out_lengths, c.Output(1, DType::kInt64, {list.length()}));
    std::ranges::copy(lengths, out_lengths->mutable_data<int64_t>());
    int64_t row = shape.product(1, shape.rank()), at = 0;
    for (int64_t i = 0; i < list.length(); ++i) {
      CopyInto(list.tensors[i], out, at, lengths[i] * row);
      at += lengths[i] * row;
    }
    return OkStatus();
  }

  DType dtype;
  bool v2;
  ElementShape attr_shape;
};

Status Split(KernelCall& c) {
  const Tensor &t = c.input(0), &lengths = c.input(2);
  TARE_RETURN_IF_ERROR(NeedsRows(t));
  TARE_ASSIGN_OR_RETURN(ElementShape shape, ElementShape::FromTensor(c.input(1)));
  if (lengths.rank() != 1) {
    return InvalidArgument("Expected lengths to be a vector, received shape: {}",
                           lengths.shape().ToString());
  }
  ElementShape own = ElementShape(t.shape()).Tail();
  if (shape.rank() == 0 || !shape.Tail().Accepts(own)) {
    return InvalidArgument("tensor shape {} is not compatible with element_shape {}",
                           t.shape().ToString(), shape.ToString());
  }
  auto list = MakeRef<TensorListObject>(t.dtype(), shape);
  TARE_RETURN_IF_ERROR(list->Resize(lengths.num_elements()));
  int64_t at = 0;
  for (int64_t i = 0; i < list->length(); ++i) {
    int64_t n = lengths.data<int64_t>()[i];
    if (n < 0) return InvalidArgument("Invalid value in lengths: {}", n);
    if (n > t.dim(0) - at) {
      return InvalidArgument("Attempting to slice [{}, {}] from tensor with length {}", at,
                             static_cast<uint64_t>(at) + static_cast<uint64_t>(n), t.dim(0));
    }
    TARE_RETURN_IF_ERROR(list->Set(i, t.Rows(at, at + n)));
    at += n;
  }
  if (at != t.dim(0)) {
    return InvalidArgument("Unused values in tensor. Length of tensor: {} Values used: {}",
                           t.dim(0), at);
  }
  return OutputList(c, 0, std::move(list));
}

Status JoinLists(const TensorListObject& a, const TensorListObject& b, int64_t i, DType dtype,
                 Ref<Object>* out) {
  for (auto [list, name] : {std::pair{&a, 'a'}, std::pair{&b, 'b'}}) {
    if (list->element_dtype == dtype) continue;
    return InvalidArgument("input_{}[{}].dtype != element_dtype.  Saw: {} vs. {}", name, i,
                           DTypeName(list->element_dtype), DTypeName(dtype));
  }
  if (!(a.element_shape == b.element_shape)) {
    return InvalidArgument(
        "input_a and input_b TensorList element shapes are not identical at index {}.  Saw {} vs. "
        "{}",
        i, a.element_shape.ToString(), b.element_shape.ToString());
  }
  Ref<TensorListObject> joined = a.Copy();
  for (const Tensor& t : b.tensors) TARE_RETURN_IF_ERROR(joined->PushBack(t));
  *out = std::move(joined);
  return OkStatus();
}

struct ConcatLists {
  explicit ConcatLists(AttrReader& a) : dtype(a.Type("element_dtype")) {}
  Status Run(KernelCall& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (!(a.shape() == b.shape())) {
      return InvalidArgument("Shapes of input_a and input_b should match, but saw {} vs. {}",
                             a.shape().ToString(), b.shape().ToString());
    }
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kVariant, a.shape()));
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      Object *x = a.objects()[i].get(), *y = b.objects()[i].get();
      auto* list_a = x ? x->As<TensorListObject>() : nullptr;
      auto* list_b = y ? y->As<TensorListObject>() : nullptr;
      if (!list_a || !list_b)
        return InvalidArgument("input_a[{}] or input_b[{}] is not a TensorList.", i, i);
      TARE_RETURN_IF_ERROR(JoinLists(*list_a, *list_b, i, dtype, &out->mutable_objects()[i]));
    }
    return OkStatus();
  }
  DType dtype;
};

constexpr KernelRow kRows[] = {
    Op<Concat>("TensorListConcat"),
    Op<ConcatLists>("TensorListConcatLists"),
    Op<Concat>("TensorListConcatV2"),
    Op<FromTensor>("TensorListFromTensor"),
    Op<Gather>("TensorListGather"),
    Op<Scatter>("TensorListScatter"),
    Op<ScatterIntoExisting>("TensorListScatterIntoExistingList"),
    Op<Scatter>("TensorListScatterV2"),
    Op<Split>("TensorListSplit"),
    Op<Stack>("TensorListStack"),
};

}  // namespace
extern constinit const KernelFamily kListBulkKernels = kRows;
}  // namespace tare
