// Ragged tensors as variants, one a tensor or one a row: how they go through loops and datasets.
#include <algorithm>

#include "kernels/ragged_common.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// A ragged tensor: splits from the outermost in, and the flat values. Immutable.
class RaggedVariant final : public Object {
 public:
  static constexpr std::string_view kTypeName = "RaggedTensorVariant";
  RaggedVariant(std::vector<Tensor> splits, Tensor values) : splits_(std::move(splits)), values_(std::move(values)) {}
  std::string_view type_name() const override { return kTypeName; }
  const std::vector<Tensor>& splits() const { return splits_; }
  const Tensor& values() const { return values_; }
  // How many rows it has as a row of another.
  int64_t rows() const { return splits_.empty() ? values_.dim(0) : splits_[0].dim(0) - 1; }

 private:
  std::vector<Tensor> splits_;
  Tensor values_;
};

Result<Tensor> SplitsTensor(KernelCall& c, DType dtype, std::span<const int64_t> splits, int64_t base) {
  TARE_ASSIGN_OR_RETURN(Tensor t, c.Temp(dtype, {static_cast<int64_t>(splits.size())}));
  TARE_RETURN_IF_ERROR(ForType(Indexes(), dtype, [&]<class T>() {
    std::ranges::transform(splits, t.mutable_data<T>(), [&](int64_t s) { return static_cast<T>(s - base); });
    return OkStatus();
  }));
  return t;
}

struct ToVariant {
  explicit ToVariant(AttrReader& a)
      : ragged_rank(static_cast<int>(a.Int("RAGGED_RANK"))), splits_type(a.Type("Tsplits")),
        batched(a.Bool("batched_input")) {}

  Status Run(KernelCall& c) const {
    const Tensor& values = c.input(ragged_rank);
    TARE_ASSIGN_OR_RETURN(auto splits, NestedSplits(c, 0, ragged_rank, values));
    if (ragged_rank > 0 && values.rank() == 0) return InvalidArgument("flat values must have at least one dimension");
    if (!batched) {
      std::vector<Tensor> all;
      for (int i = 0; i < ragged_rank; ++i) all.push_back(c.input(i));
      TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kVariant, {}));
      out->mutable_objects()[0] = MakeRef<RaggedVariant>(std::move(all), values);
      return OkStatus();
    }
    if (values.rank() == 0) return InvalidArgument("batched_input needs at least one dimension");
    const int64_t rows = ragged_rank ? static_cast<int64_t>(splits[0].size()) - 1 : values.dim(0);
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kVariant, {rows}));
    for (int64_t r = 0; r < rows; ++r) {
      TARE_ASSIGN_OR_RETURN(out->mutable_objects()[static_cast<size_t>(r)], Row(c, splits, values, r));
    }
    return OkStatus();
  }

  // Row `r` on its own. Its values share the whole's bytes.
  Result<Ref<RaggedVariant>> Row(KernelCall& c, std::span<const std::vector<int64_t>> splits, const Tensor& values,
                                 int64_t r) const {
    if (splits.empty()) {
      // A row of a dense tensor has a dimension less.
      const Tensor row = values.Rows(r, r + 1);
      return MakeRef<RaggedVariant>(std::vector<Tensor>(), row.Reshaped(Shape(values.shape().dims().subspan(1))));
    }
    int64_t begin = splits[0][static_cast<size_t>(r)], end = splits[0][static_cast<size_t>(r) + 1];
    std::vector<Tensor> inner;
    for (size_t i = 1; i < splits.size(); ++i) {
      const std::span<const int64_t> part(splits[i].data() + begin, static_cast<size_t>(end - begin) + 1);
      TARE_ASSIGN_OR_RETURN(Tensor t, SplitsTensor(c, splits_type, part, part[0]));
      inner.push_back(std::move(t));
      begin = part.front();
      end = part.back();
    }
    return MakeRef<RaggedVariant>(std::move(inner), values.Rows(begin, end));
  }
  int ragged_rank;
  DType splits_type;
  bool batched;
};

struct FromVariant {
  explicit FromVariant(AttrReader& a)
      : in_rank(a.Int("input_ragged_rank")), out_rank(a.Int("output_ragged_rank")), dtype(a.Type("Tvalues")),
        splits_type(a.Type("Tsplits")) {}

  Status Run(KernelCall& c) const {
    const Tensor& encoded = c.input(0);
    const int64_t rank = in_rank < 0 ? out_rank - encoded.rank() : in_rank;
    if (rank < 0 || rank + encoded.rank() != out_rank) {
      return InvalidArgument("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
                             "output_ragged_rank: {}, input_ragged_rank: {}, encoded_ragged.dims(): {}",
                             out_rank, rank, encoded.rank());
    }
    std::vector<RaggedVariant*> parts;
    for (const Ref<Object>& o : encoded.objects()) {
      RaggedVariant* v = o ? o->As<RaggedVariant>() : nullptr;
      if (!v) return InvalidArgument("Input Variant element at index {} doesn't hold a RaggedTensorVariant", parts.size());
      TARE_RETURN_IF_ERROR(Check(*v, rank, encoded.rank() > 0));
      parts.push_back(v);
    }
    if (encoded.rank() == 0) {
      for (int64_t i = 0; i < rank; ++i) c.SetOutput(static_cast<int>(i), parts[0]->splits()[static_cast<size_t>(i)]);
      c.SetOutput(static_cast<int>(rank), parts[0]->values());
      return OkStatus();
    }
    TARE_RETURN_IF_ERROR(StackSplits(c, encoded.shape(), parts, static_cast<size_t>(rank)));
    return StackValues(c, parts);
  }

  Status Check(const RaggedVariant& v, int64_t rank, bool stacked) const {
    if (static_cast<int64_t>(v.splits().size()) != rank) {
      return InvalidArgument("Encoded input RaggedTensorVariant has ragged_rank={}.  Expected ragged_rank={}.",
                             v.splits().size(), rank);
    }
    if (v.values().dtype() != dtype) {
      return InvalidArgument("Expected values Tensor dtype: {}, found: {}", DTypeName(dtype), DTypeName(v.values().dtype()));
    }
    if (stacked && v.values().rank() < 1) {
      return InvalidArgument("Ragged values must have rank >= 1; encoded_ragged element has rank 0");
    }
    for (const Tensor& s : v.splits()) {
      if (s.dtype() != splits_type) {
        return InvalidArgument("Expected row_splits Tensor dtype: {}, found: {}", DTypeName(splits_type), DTypeName(s.dtype()));
      }
    }
    return OkStatus();
  }

  // Splits of the variants' own dimensions, then theirs one after another.
  Status StackSplits(KernelCall& c, const Shape& shape, std::span<RaggedVariant* const> parts, size_t rank) const {
    int output = 0;
    for (int d = 0; d + 1 < shape.rank(); ++d) {
      std::vector<int64_t> even(static_cast<size_t>(shape.product(0, d + 1)) + 1);
      for (size_t i = 0; i < even.size(); ++i) even[i] = static_cast<int64_t>(i) * shape[d + 1];
      TARE_RETURN_IF_ERROR(SetInts(c, output++, splits_type, even));
    }
    std::vector<int64_t> ends = {0};
    for (const RaggedVariant* v : parts) ends.push_back(ends.back() + v->rows());
    TARE_RETURN_IF_ERROR(SetInts(c, output++, splits_type, ends));
    for (size_t level = 0; level < rank; ++level) {
      ends = {0};
      for (const RaggedVariant* v : parts) {
        TARE_ASSIGN_OR_RETURN(std::vector<int64_t> s, WideValues(v->splits()[level]));
        const int64_t base = ends.back();
        for (size_t i = 1; i < s.size(); ++i) ends.push_back(base + s[i]);
      }
      TARE_RETURN_IF_ERROR(SetInts(c, output++, splits_type, ends));
    }
    return OkStatus();
  }

  Status StackValues(KernelCall& c, std::span<RaggedVariant* const> parts) const {
    std::vector<int64_t> dims = {0};
    for (size_t i = 0; i < parts.size(); ++i) {
      const Shape& s = parts[i]->values().shape();
      if (i == 0) dims.assign(s.dims().begin(), s.dims().end());
      else if (!std::ranges::equal(std::span(dims).subspan(1), s.dims().subspan(1))) {
        return InvalidArgument("All flat_values must have compatible shapes.  Shape at index 0: {}.  Shape at index {}: {}.",
                               Shape(std::span(dims).subspan(1)).ToString(), i, Shape(s.dims().subspan(1)).ToString());
      } else if (__builtin_add_overflow(dims[0], s[0], &dims[0])) {
        return InvalidArgument("the flat values are too many");
      }
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(static_cast<int>(out_rank), dtype, shape));
    int64_t to = 0;
    for (const RaggedVariant* v : parts) {
      CopyRange(v->values(), 0, *out, to, v->values().num_elements());
      to += v->values().num_elements();
    }
    return OkStatus();
  }
  int64_t in_rank, out_rank;
  DType dtype, splits_type;
};

constexpr KernelRow kRows[] = {
    Op<FromVariant>("RaggedTensorFromVariant"),
    Op<ToVariant>("RaggedTensorToVariant"),
};

}  // namespace
extern constinit const KernelFamily kRaggedVariantKernels = kRows;
}  // namespace tare
