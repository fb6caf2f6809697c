// TF1's tensor arrays (V3 ops): a resource that one run makes, fills and reads; the flow tensors that pass
// between its ops only give them their order.
//
// An array is held by its handles alone, so it goes when the run is over. Elements share bytes with what was
// written.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "kernels/registry.h"
#include "resource/tensor_list.h"

namespace tare {
namespace {

class TensorArray final : public Resource {
 public:
  static constexpr std::string_view kTypeName = "TensorArray";
  struct Options {
    DType dtype;
    ElementShape shape;
    bool grows, clears_after_read, same_shapes;
  };
  TensorArray(std::string name, const Options& o, int64_t size)
      : Resource(std::move(name)), o_(o), elements_(static_cast<size_t>(size)) {}
  std::string_view type_name() const override { return kTypeName; }
  DType dtype() const { return o_.dtype; }

  Result<int64_t> size() const {
    std::lock_guard lock(mutex_);
    if (closed_) return Closed();
    return static_cast<int64_t>(elements_.size());
  }

  Status Write(int64_t i, Tensor value) {
    std::lock_guard lock(mutex_);
    TARE_RETURN_IF_ERROR(CheckDType(value.dtype(), "write"));
    if (i < 0 || (i >= Length() && !o_.grows)) {
      return InvalidArgument("TensorArray {}: Tried to write to index {} but array is not resizeable and size is: {}",
                             name(), i, Length());
    }
    if (!o_.shape.Accepts(value.shape())) {
      return InvalidArgument(
          "TensorArray {}: Could not write to TensorArray index {} because the value shape is {} which is incompatible "
          "with the TensorArray's inferred element shape: {} (consider setting infer_shape=False).",
          name(), i, value.shape().ToString(), o_.shape.ToString());
    }
    if (i >= Length()) {
      if (i >= TensorListObject::kMaxLength) {
        return ResourceExhausted("a TensorArray of {} elements is beyond the limit of {}", i + 1, TensorListObject::kMaxLength);
      }
      elements_.resize(static_cast<size_t>(i) + 1);
    }
    Element& e = elements_[i];
    if (e.state != State::kEmpty) {
      return InvalidArgument("TensorArray {}: Could not write to TensorArray index {} because it has already been {}.",
                             name(), i, e.state == State::kRead ? "read" : "written to");
    }
    if (o_.same_shapes) o_.shape = ElementShape(value.shape());
    e = {std::move(value), State::kWritten};
    return OkStatus();
  }

  // The elements `indices`, with zeros for those never written. Cleared ones cannot be read again.
  Result<std::vector<Tensor>> Read(const Ref<Account>& account, std::span<const int32_t> indices, DType as) {
    std::lock_guard lock(mutex_);
    TARE_RETURN_IF_ERROR(CheckDType(as, "read"));
    std::vector<Tensor> read;
    for (int32_t i : indices) {
      TARE_ASSIGN_OR_RETURN(Tensor t, ReadOne(account, i));
      read.push_back(std::move(t));
    }
    return read;
  }

  void Close() override {
    std::vector<Element> gone;
    std::lock_guard lock(mutex_);
    closed_ = true;
    elements_.swap(gone);
  }

 private:
  enum class State : uint8_t { kEmpty, kWritten, kRead };
  struct Element {
    Tensor value;
    State state = State::kEmpty;
  };
  int64_t Length() const { return static_cast<int64_t>(elements_.size()); }
  Status Closed() const { return InvalidArgument("TensorArray {} has already been closed.", name()); }
  Status CheckDType(DType t, std::string_view what) const {
    if (closed_) return Closed();
    if (t == o_.dtype) return OkStatus();
    return InvalidArgument("TensorArray dtype is {} but Op is trying to {} dtype {}.", DTypeName(o_.dtype), what, DTypeName(t));
  }

  Result<Tensor> ReadOne(const Ref<Account>& account, int64_t i) {
    if (i < 0 || i >= Length()) {
      return InvalidArgument("TensorArray {}: Tried to read from index {} but array size is: {}", name(), i, Length());
    }
    Element& e = elements_[i];
    if (e.state == State::kRead && !e.value.valid()) {
      return InvalidArgument(
          "TensorArray {}: Could not read index {} twice because it was cleared after a previous read (perhaps try "
          "setting clear_after_read = false?).",
          name(), i);
    }
    if (e.state == State::kEmpty) {
      if (!o_.shape.fully_defined()) {
        return InvalidArgument(
            "TensorArray {}: Could not read from TensorArray index {}.  Furthermore, the element shape is not fully "
            "defined: {}.  It is possible you are working with a resizeable TensorArray and stop_gradients is not "
            "allowing the gradients to be written.  If you set the full element_shape property on the forward "
            "TensorArray, the proper all-zeros tensor will be returned instead of incurring this error.",
            name(), i, o_.shape.ToString());
      }
      TARE_ASSIGN_OR_RETURN(Shape shape, o_.shape.ToShape());
      TARE_ASSIGN_OR_RETURN(e.value, MakeZeros(account, o_.dtype, shape));
    }
    e.state = State::kRead;
    return o_.clears_after_read ? std::exchange(e.value, Tensor()) : e.value;
  }

  mutable std::mutex mutex_;
  Options o_;                       // guarded by mutex_; dtype never changes
  std::vector<Element> elements_;   // guarded by mutex_
  bool closed_ = false;             // guarded by mutex_
};

ElementShape ReadShape(AttrReader& a, std::string_view name) {
  auto shape = ElementShape::Make(a.ShapeAttr(name));
  if (shape.ok()) return *shape;
  a.Fail(std::move(shape).status());
  return {};
}

Status OutputFlow(KernelCall& c, int i) {
  TARE_ASSIGN_OR_RETURN(Tensor * flow, c.Output(i, DType::kFloat, {}));
  *flow->mutable_data<float>() = 0;
  return OkStatus();
}

struct MakeArray {
  explicit MakeArray(AttrReader& a)
      : options{a.Type("dtype"), ReadShape(a, "element_shape"), a.Bool("dynamic_size"), a.Bool("clear_after_read"),
                a.Bool("identical_element_shapes")},
        name(a.String("tensor_array_name")) {}
  Status Run(KernelCall& c) const {
    const Tensor& size = c.input(0);
    if (size.rank() != 0) return InvalidArgument("TensorArray size must be scalar, but had shape: {}", size.shape().ToString());
    const int64_t n = size.scalar<int32_t>();
    if (n < 0) return InvalidArgument("Size should be >= 0.");
    if (n > TensorListObject::kMaxLength) {
      return ResourceExhausted("a TensorArray of {} elements is beyond the limit of {}", n, TensorListObject::kMaxLength);
    }
    auto array = MakeRef<TensorArray>(name.empty() ? std::string(c.node()) : name, options, n);
    TARE_ASSIGN_OR_RETURN(Tensor handle, MakeHandle(c.run().account, std::move(array)));
    c.SetOutput(0, std::move(handle));
    return OutputFlow(c, 1);
  }
  TensorArray::Options options;
  std::string name;
};

Result<Ref<TensorArray>> Array(const KernelCall& c) { return GetResource<TensorArray>(c.input(0)); }

Status Size(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
  TARE_ASSIGN_OR_RETURN(int64_t size, array->size());
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt32, {}));
  *out->mutable_data<int32_t>() = static_cast<int32_t>(size);
  return OkStatus();
}

Status Close(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
  array->Close();
  return OkStatus();
}

Status WriteOne(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
  const Tensor& index = c.input(1);
  if (index.rank() != 0) return InvalidArgument("TensorArray index must be scalar, but had shape: {}", index.shape().ToString());
  TARE_RETURN_IF_ERROR(array->Write(index.scalar<int32_t>(), c.TakeInput(2)));
  return OutputFlow(c, 0);
}

Status Scatter(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
  const Tensor &indices = c.input(1), &rows = c.input(2);
  if (indices.rank() != 1) return InvalidArgument("Expected indices to be a vector, but received shape: {}", indices.shape().ToString());
  if (rows.rank() < 1 || rows.dim(0) != indices.dim(0)) {
    return InvalidArgument("Expected len(indices) == values.shape[0], but saw: {} vs. {}", indices.dim(0),
                           rows.shape().ToString());
  }
  Shape item = rows.shape();
  item.Remove(0);
  for (int64_t i = 0; i < rows.dim(0); ++i) {
    TARE_RETURN_IF_ERROR(array->Write(indices.data<int32_t>()[i], rows.Rows(i, i + 1).Reshaped(item)));
  }
  return OutputFlow(c, 0);
}

Status Split(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
  const Tensor &value = c.input(1), &lengths = c.input(2);
  if (lengths.rank() != 1) return InvalidArgument("Expected lengths to be a vector, received shape: {}", lengths.shape().ToString());
  if (value.rank() < 1) return InvalidArgument("Expected value to be at least a vector, but received shape: {}", value.shape().ToString());
  int64_t total = 0;
  for (int64_t n : lengths.as<int64_t>()) {
    if (n < 0 || n > value.dim(0) - total) {
      return InvalidArgument("Expected sum of lengths to be equal to values.shape[0], {}; a length is {}", value.dim(0), n);
    }
    total += n;
  }
  if (total != value.dim(0)) {
    return InvalidArgument("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and value's shape is: {}",
                           total, value.shape().ToString());
  }
  TARE_ASSIGN_OR_RETURN(int64_t size, array->size());
  if (size < lengths.dim(0)) {
    // A write to the last index grows the array, or says why it cannot.
    size = lengths.dim(0);
  } else if (size != lengths.dim(0)) {
    return InvalidArgument("TensorArray's size is not equal to the size of lengths ({} vs. {}), and the TensorArray is not marked as dynamically resizeable",
                           size, lengths.dim(0));
  }
  int64_t at = 0;
  for (int64_t i = 0; i < lengths.dim(0); ++i) {
    int64_t n = lengths.data<int64_t>()[i];
    TARE_RETURN_IF_ERROR(array->Write(i, value.Rows(at, at + n)));
    at += n;
  }
  return OutputFlow(c, 0);
}

struct ReadItem {
  explicit ReadItem(AttrReader& a) : dtype(a.Type("dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
    const Tensor& index = c.input(1);
    if (index.rank() != 0) return InvalidArgument("TensorArray index must be scalar, but had shape: {}", index.shape().ToString());
    TARE_ASSIGN_OR_RETURN(std::vector<Tensor> read, array->Read(c.run().account, index.as<int32_t>(), dtype));
    c.SetOutput(0, std::move(read[0]));
    return OkStatus();
  }
  DType dtype;
};

// Copies the elements of `parts` one behind the other.
void JoinInto(const std::vector<Tensor>& parts, Tensor* out) {
  auto* to = static_cast<std::byte*>(out->mutable_raw());
  for (const Tensor& t : parts) {
    CopyElements(t.dtype(), t.raw(), to, static_cast<size_t>(t.num_elements()));
    to += t.bytes();
  }
}

Status NothingToJoin(const ElementShape& shape) {
  return Unimplemented("TensorArray has size zero, but element shape {} is not fully defined. Currently only static "
                       "shapes are supported when packing zero-size TensorArrays.", shape.ToString());
}

struct Gather {
  explicit Gather(AttrReader& a) : dtype(a.Type("dtype")), shape(ReadShape(a, "element_shape")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
    const Tensor& indices = c.input(1);
    if (indices.rank() != 1) return InvalidArgument("Expected indices to be a vector, but received shape: {}", indices.shape().ToString());
    TARE_ASSIGN_OR_RETURN(std::vector<Tensor> parts, array->Read(c.run().account, indices.as<int32_t>(), dtype));
    if (parts.empty() && !shape.fully_defined()) return NothingToJoin(shape);
    std::vector<int64_t> dims{indices.dim(0)};
    auto item = parts.empty() ? shape.view().dims : parts[0].shape().dims();
    dims.insert(dims.end(), item.begin(), item.end());
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!shape.Accepts(parts[i].shape()) || !(parts[i].shape() == parts[0].shape())) {
        return InvalidArgument("TensorArray {}: Inconsistent element shapes: index {} has shape {} where {} and {} are wanted",
                               array->name(), indices.data<int32_t>()[i], parts[i].shape().ToString(),
                               parts[0].shape().ToString(), shape.ToString());
      }
    }
    TARE_ASSIGN_OR_RETURN(Shape full, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, full));
    JoinInto(parts, out);
    return OkStatus();
  }
  DType dtype;
  ElementShape shape;
};

struct Concat {
  explicit Concat(AttrReader& a) : dtype(a.Type("dtype")), tail(ReadShape(a, "element_shape_except0")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<TensorArray> array, Array(c));
    TARE_ASSIGN_OR_RETURN(int64_t n, array->size());
    std::vector<int32_t> all(static_cast<size_t>(n));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    TARE_ASSIGN_OR_RETURN(std::vector<Tensor> parts, array->Read(c.run().account, all, dtype));
    if (parts.empty() && !tail.fully_defined()) return NothingToJoin(tail);
    TARE_ASSIGN_OR_RETURN(Tensor * lengths, c.Output(1, DType::kInt64, {n}));
    ElementShape rest = tail;
    int64_t total = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (parts[i].rank() == 0) {
        return InvalidArgument("Concat saw a scalar shape at index {} but requires at least vectors.  Did you mean to call pack?", i);
      }
      auto merged = rest.Merge(ElementShape(parts[i].shape()).Tail());
      if (!merged.ok()) {
        return InvalidArgument("TensorArray {}: Inconsistent shapes: index {} has shape {} where {} is wanted behind the first dimension",
                               array->name(), i, parts[i].shape().ToString(), rest.ToString());
      }
      rest = *merged;
      lengths->mutable_data<int64_t>()[i] = parts[i].dim(0);
      if (__builtin_add_overflow(total, parts[i].dim(0), &total)) return InvalidArgument("the concatenated length overflows");
    }
    std::vector<int64_t> dims{total};
    dims.insert(dims.end(), rest.view().dims.begin(), rest.view().dims.end());
    TARE_ASSIGN_OR_RETURN(Shape full, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, full));
    JoinInto(parts, out);
    return OkStatus();
  }
  DType dtype;
  ElementShape tail;
};

constexpr KernelRow kRows[] = {
    Op<Close>("TensorArrayCloseV3", kStateful),
    Op<Concat>("TensorArrayConcatV3", kStateful),
    Op<Gather>("TensorArrayGatherV3", kStateful),
    Op<ReadItem>("TensorArrayReadV3", kStateful),
    Op<Scatter>("TensorArrayScatterV3", kStateful),
    Op<Size>("TensorArraySizeV3", kStateful),
    Op<Split>("TensorArraySplitV3", kStateful),
    Op<MakeArray>("TensorArrayV3", kNeverCached | kStateful),
    Op<WriteOne>("TensorArrayWriteV3", kStateful),
};

}  // namespace
extern constinit const KernelFamily kTensorArrayKernels = kRows;
}  // namespace tare
