// Parsing tf.train.SequenceExample messages: a context of features, and lists of features step by
// step.
#include "kernels/feature_output.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// ParseSequenceExample, its V2 and ParseSingleSequenceExample.
struct ParseSequence {
  explicit ParseSequence(AttrReader& a)
      : sparse_types(a.TypeList("context_sparse_types")),
        dense_types(a.TypeList("Tcontext_dense")),
        shapes(ReadDenseShapes(a, "context_dense_shapes")),
        list_sparse_types(a.TypeList("feature_list_sparse_types")),
        list_dense_types(a.TypeList("feature_list_dense_types")),
        list_shapes(ReadDenseShapes(a, "feature_list_dense_shapes")) {
    form = a.op().name == "ParseSequenceExample"     ? kV1
           : a.op().name == "ParseSequenceExampleV2" ? kV2
                                                     : kSingle;
    if (form == kV1) {
      names = {a.Strings("context_sparse_keys"), a.Strings("context_dense_keys"),
               a.Strings("feature_list_sparse_keys"), a.Strings("feature_list_dense_keys")};
      assumed_empty = a.Strings("feature_list_dense_missing_assumed_empty");
      if (names[0].size() != sparse_types.size() || names[1].size() != dense_types.size() ||
          names[2].size() != list_sparse_types.size() ||
          names[3].size() != list_dense_types.size()) {
        a.Fail(InvalidArgument("as many keys as types are needed"));
      }
    } else if (form == kV2) {
      ragged_types = a.TypeList("context_ragged_value_types");
      split_types = a.TypeList("context_ragged_split_types");
      list_ragged_types = a.TypeList("feature_list_ragged_value_types");
      list_split_types = a.TypeList("feature_list_ragged_split_types");
    }
    auto counts = [&](const char* name, size_t n) {
      if (a.Has(name) && a.Int(name) != static_cast<int64_t>(n))
        a.Fail(InvalidArgument("{} does not match its types", name));
    };
    counts("Ncontext_sparse", sparse_types.size());
    if (form != kV2) counts("Ncontext_dense", dense_types.size());
    counts("Nfeature_list_sparse", list_sparse_types.size());
    counts("Nfeature_list_dense", list_dense_types.size());
    if (shapes.size() != dense_types.size() || list_shapes.size() != list_dense_types.size() ||
        split_types.size() != ragged_types.size() ||
        list_split_types.size() != list_ragged_types.size()) {
      a.Fail(InvalidArgument(
          "as many shapes as dense types, and split types as ragged types, are needed"));
    }
  }

  Status Run(KernelCall& c) const {
    const Tensor& serialized = c.input(0);
    if (serialized.rank() > 1 || (form == kV1 && serialized.rank() != 1) ||
        (form == kSingle && serialized.rank() != 0)) {
      return InvalidArgument("Expected serialized to be a {}, got shape {}",
                             form == kSingle ? "scalar" : "vector", serialized.shape().ToString());
    }
    Wanted w;
    TARE_RETURN_IF_ERROR(ReadInputs(c, &w));
    for (size_t i = 0; i < shapes.size(); ++i) {
      TARE_RETURN_IF_ERROR(CheckDefault(i, shapes[i], c.input(w.defaults + static_cast<int>(i))));
    }
    FeatureBatch context(FeatureSpecs(
        {{&w.keys[0], &sparse_types}, {&w.keys[1], &dense_types}, {&w.keys[4], &ragged_types}}));
    FeatureBatch lists(FeatureSpecs({{&w.keys[2], &list_sparse_types},
                                     {&w.keys[3], &list_dense_types},
                                     {&w.keys[5], &list_ragged_types}}));
    for (int64_t row = 0; row < serialized.num_elements(); ++row) {
      std::string_view message = serialized.data<StringCell>()[row].view(),
                       name = RowName(*w.debug_names, row);
      TARE_ASSIGN_OR_RETURN(auto features, Submessages(message, 1));
      TARE_ASSIGN_OR_RETURN(auto feature_lists, Submessages(message, 2));
      TARE_RETURN_IF_ERROR(context.AddFeatures(features, name));
      TARE_RETURN_IF_ERROR(lists.AddFeatureLists(feature_lists, name));
    }
    return Write(c, w, context, lists, serialized.rank() == 1);
  }

 private:
  // What the inputs ask for.
  struct Wanted {
    // Context sparse, context dense, list sparse, list dense, context ragged, list ragged.
    std::array<FeatureKeys, 6> keys;
    std::vector<bool> may_be_absent;  // by dense list
    int defaults = 0;
    const Tensor* debug_names = nullptr;
  };

  Status ReadInputs(const KernelCall& c, Wanted* w) const {
    const std::array<size_t, 6> sizes = {sparse_types.size(),      dense_types.size(),
                                         list_sparse_types.size(), list_dense_types.size(),
                                         ragged_types.size(),      list_ragged_types.size()};
    FeatureKeys absent;
    if (form == kV2) {
      constexpr int kInputs[] = {2, 3, 5, 6, 4, 7};
      for (int i = 0; i < 6; ++i) {
        TARE_ASSIGN_OR_RETURN(w->keys[i], KeysFromVector(c.input(kInputs[i]), sizes[i]));
      }
      const Tensor& flags = c.input(8);
      if (flags.num_elements() != static_cast<int64_t>(sizes[3])) {
        return InvalidArgument("Expected {} flags of lists that may be missing, got shape {}",
                               sizes[3], flags.shape().ToString());
      }
      w->may_be_absent.assign(flags.as<bool>().begin(), flags.as<bool>().end());
      w->defaults = 9;
      w->debug_names = &c.input(1);
      return OkStatus();
    }
    if (form == kV1) {
      for (int i = 0; i < 4; ++i) w->keys[i] = KeysFromAttr(names[i]);
      absent = KeysFromAttr(assumed_empty);
      w->defaults = 2;
      w->debug_names = &c.input(1);
    } else {
      int at = 2;
      for (int i = 0; i < 4; at += static_cast<int>(sizes[i++])) {
        TARE_ASSIGN_OR_RETURN(w->keys[i], KeysFromScalars(c, at, sizes[i]));
      }
      for (const StringCell& s : c.input(1).as<StringCell>()) absent.push_back(s.view());
      w->defaults = at;
      w->debug_names = &c.input(c.num_inputs() - 1);
    }
    for (std::string_view key : w->keys[3])
      w->may_be_absent.push_back(std::ranges::find(absent, key) != absent.end());
    return OkStatus();
  }

  Status Write(KernelCall& c, const Wanted& w, const FeatureBatch& context,
               const FeatureBatch& lists, bool batched) const {
    FeatureOutputs o(c, batched);
    // Splits of a single message say nothing: they are a zero.
    auto splits = [&](int i, DType dtype, const std::vector<int64_t>& counts) {
      return batched ? o.Vector(i, dtype, FeatureOutputs::Splits(counts))
                     : o.Integers(i, dtype, Shape{}, {0});
    };
    size_t k = 0;
    int n = static_cast<int>(sparse_types.size());
    for (int i = 0; i < n; ++i) TARE_RETURN_IF_ERROR(o.Sparse(i, n, context.column(k++)));
    o.Skip(3 * n);
    for (size_t i = 0; i < shapes.size(); ++i, o.Skip(1)) {
      TARE_RETURN_IF_ERROR(o.Dense(o.at(), context.column(k++), shapes[i],
                                   c.input(w.defaults + static_cast<int>(i)), *w.debug_names));
    }
    n = static_cast<int>(ragged_types.size());
    for (int i = 0; i < n; ++i) {
      const FeatureColumn& column = context.column(k++);
      TARE_RETURN_IF_ERROR(o.Values(o.at() + i, column));
      TARE_RETURN_IF_ERROR(splits(o.at() + n + i, split_types[i], column.counts));
    }
    o.Skip(2 * n);
    k = 0;
    n = static_cast<int>(list_sparse_types.size());
    for (int i = 0; i < n; ++i) TARE_RETURN_IF_ERROR(o.SparseList(i, n, lists.column(k++)));
    o.Skip(3 * n);
    n = static_cast<int>(list_shapes.size());
    for (int i = 0; i < n; ++i) {
      const FeatureColumn& column = lists.column(k++);
      TARE_RETURN_IF_ERROR(
          o.DenseList(o.at() + i, column, list_shapes[i], w.may_be_absent[i], *w.debug_names));
      if (form == kSingle) continue;
      std::vector<int64_t> lengths = column.lengths;
      for (int64_t& l : lengths) l = std::max<int64_t>(l, 0);
      const Shape shape = batched ? Shape{static_cast<int64_t>(lengths.size())} : Shape{};
      TARE_RETURN_IF_ERROR(o.Integers(o.at() + n + i, DType::kInt64, shape, lengths));
    }
    o.Skip(2 * n);
    n = static_cast<int>(list_ragged_types.size());
    for (int i = 0; i < n; ++i) {
      const FeatureColumn& column = lists.column(k++);
      TARE_RETURN_IF_ERROR(o.Values(o.at() + i, column));
      TARE_RETURN_IF_ERROR(splits(o.at() + n + i, list_split_types[i], column.lengths));
      TARE_RETURN_IF_ERROR(
          o.Vector(o.at() + 2 * n + i, list_split_types[i], FeatureOutputs::Splits(column.counts)));
    }
    return OkStatus();
  }

  enum Form { kV1, kV2, kSingle } form;
  std::vector<DType> sparse_types, dense_types, ragged_types, split_types;
  std::vector<DenseShape> shapes;
  std::vector<DType> list_sparse_types, list_dense_types, list_ragged_types, list_split_types;
  std::vector<DenseShape> list_shapes;
  std::array<std::vector<std::string>, 4> names;
  std::vector<std::string> assumed_empty;
};

constexpr KernelRow kRows[] = {
    Op<ParseSequence>("ParseSequenceExample"),
    Op<ParseSequence>("ParseSequenceExampleV2"),
    Op<ParseSequence>("ParseSingleSequenceExample"),
};

}  // namespace
extern constinit const KernelFamily kParseSequenceKernels = kRows;
}  // namespace tare
