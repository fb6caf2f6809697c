// Parsing tf.train.Example messages.
#include "kernels/feature_output.h"
#include "kernels/registry.h"

namespace tare {
namespace {

Status CheckNames(const Tensor& names, const Tensor& serialized) {
  if (names.num_elements() == 0 || names.shape() == serialized.shape()) return OkStatus();
  return InvalidArgument(
      "Expected names have the same shape as serialized: name.shape={}, serialized.shape={}",
      names.shape().ToString(), serialized.shape().ToString());
}

// ParseExample, ParseExampleV2 and ParseSingleExample.
struct ParseExample {
  explicit ParseExample(AttrReader& a)
      : sparse_types(a.TypeList("sparse_types")),
        dense_types(a.TypeList("Tdense")),
        shapes(ReadDenseShapes(a, "dense_shapes")) {
    form = a.op().name == "ParseExample" ? kV1 : a.op().name == "ParseExampleV2" ? kV2 : kSingle;
    if (form == kV2) {
      ragged_types = a.TypeList("ragged_value_types");
      split_types = a.TypeList("ragged_split_types");
    } else if (form == kSingle) {
      sparse_names = a.Strings("sparse_keys");
      dense_names = a.Strings("dense_keys");
      if (sparse_names.size() != sparse_types.size() || dense_names.size() != dense_types.size()) {
        a.Fail(InvalidArgument("as many keys as types are needed"));
      }
    }
    if (const char* count = form == kV1 ? "Nsparse" : "num_sparse";
        a.Int(count) != static_cast<int64_t>(sparse_types.size())) {
      a.Fail(InvalidArgument("len(sparse_keys) != len(sparse_types)"));
    }
    if (shapes.size() != dense_types.size() || split_types.size() != ragged_types.size()) {
      a.Fail(InvalidArgument("len(dense_keys) != len(dense_shapes), or ragged types do not match"));
    }
  }

  Status Run(KernelCall& c) const {
    const Tensor& serialized = c.input(0);
    if (serialized.rank() > 1 || (form == kV1 && serialized.rank() != 1) ||
        (form == kSingle && serialized.rank() != 0)) {
      return InvalidArgument("Expected serialized to be a {}, got shape {}",
                             form == kSingle ? "scalar" : "vector", serialized.shape().ToString());
    }
    FeatureKeys sparse, dense, ragged;
    int defaults = 1;
    const int ns = static_cast<int>(sparse_types.size()), nd = static_cast<int>(dense_types.size());
    if (form == kV2) {
      TARE_ASSIGN_OR_RETURN(sparse, KeysFromVector(c.input(2), sparse_types.size()));
      TARE_ASSIGN_OR_RETURN(dense, KeysFromVector(c.input(3), dense_types.size()));
      TARE_ASSIGN_OR_RETURN(ragged, KeysFromVector(c.input(4), ragged_types.size()));
      defaults = 5;
    } else if (form == kV1) {
      TARE_ASSIGN_OR_RETURN(sparse, KeysFromScalars(c, 2, sparse_types.size()));
      TARE_ASSIGN_OR_RETURN(dense, KeysFromScalars(c, 2 + ns, dense_types.size()));
      defaults = 2 + ns + nd;
    } else {
      sparse = KeysFromAttr(sparse_names);
      dense = KeysFromAttr(dense_names);
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      TARE_RETURN_IF_ERROR(CheckDefault(i, shapes[i], c.input(defaults + static_cast<int>(i))));
    }
    const Tensor no_names(DType::kString, Shape{0}, nullptr, nullptr);
    const Tensor& names = form == kSingle ? no_names : c.input(1);
    TARE_RETURN_IF_ERROR(CheckNames(names, serialized));
    FeatureBatch batch(
        FeatureSpecs({{&sparse, &sparse_types}, {&dense, &dense_types}, {&ragged, &ragged_types}}));
    for (int64_t row = 0; row < serialized.num_elements(); ++row) {
      TARE_ASSIGN_OR_RETURN(auto features,
                            Submessages(serialized.data<StringCell>()[row].view(), 1));
      TARE_RETURN_IF_ERROR(batch.AddFeatures(features, RowName(names, row)));
    }
    return Write(c, batch, defaults, names, serialized.rank() == 1);
  }

 private:
  Status Write(KernelCall& c, const FeatureBatch& batch, int defaults, const Tensor& names,
               bool batched) const {
    FeatureOutputs o(c, batched);
    size_t k = 0;
    const int ns = static_cast<int>(sparse_types.size()),
              nr = static_cast<int>(ragged_types.size());
    for (int i = 0; i < ns; ++i) TARE_RETURN_IF_ERROR(o.Sparse(i, ns, batch.column(k++)));
    o.Skip(3 * ns);
    for (size_t i = 0; i < shapes.size(); ++i, o.Skip(1)) {
      TARE_RETURN_IF_ERROR(o.Dense(o.at(), batch.column(k++), shapes[i],
                                   c.input(defaults + static_cast<int>(i)), names));
    }
    for (int i = 0; i < nr; ++i) {
      const FeatureColumn& column = batch.column(k++);
      TARE_RETURN_IF_ERROR(o.Values(o.at() + i, column));
      TARE_RETURN_IF_ERROR(
          o.Vector(o.at() + nr + i, split_types[i],
                   batched ? FeatureOutputs::Splits(column.counts) : std::vector<int64_t>()));
    }
    return OkStatus();
  }
  enum Form { kV1, kV2, kSingle } form;
  std::vector<DType> sparse_types, dense_types, ragged_types, split_types;
  std::vector<DenseShape> shapes;
  std::vector<std::string> sparse_names, dense_names;
};

constexpr KernelRow kRows[] = {
    Op<ParseExample>("ParseExample"),
    Op<ParseExample>("ParseExampleV2"),
    Op<ParseExample>("ParseSingleExample"),
};

}  // namespace
extern constinit const KernelFamily kParseExampleKernels = kRows;
}  // namespace tare
