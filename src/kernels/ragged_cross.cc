// RaggedCross: every combination of one value of each feature, row by row, joined or hashed.
#include <farmhash.h>

#include <algorithm>

#include "kernels/ragged_common.h"
#include "kernels/registry.h"

namespace tare {
namespace {

uint64_t ShiftMix(uint64_t v) { return v ^ v >> 47; }

// TensorFlow's way of hashing two fingerprints to one.
uint64_t CombineFingerprints(uint64_t a, uint64_t b) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  uint64_t v = a ^ kMul;
  v = (v ^ ShiftMix(b * kMul) * kMul) * kMul;
  return ShiftMix(ShiftMix(v) * kMul);
}

// One input: values, of which row r has [splits[r], splits[r + 1]).
struct Feature {
  const Tensor* values;
  std::vector<int64_t> splits;

  std::string Text(int64_t i) const {
    if (values->dtype() == DType::kInt64) return std::to_string(values->data<int64_t>()[i]);
    return std::string(values->data<StringCell>()[i].view());
  }
  uint64_t Hash(int64_t i) const {
    if (values->dtype() == DType::kInt64) return static_cast<uint64_t>(values->data<int64_t>()[i]);
    const std::string_view s = values->data<StringCell>()[i].view();
    return util::Fingerprint64(s.data(), s.size());
  }
};

struct RaggedCross {
  explicit RaggedCross(AttrReader& a)
      : order(a.String("input_order")), hashed(a.Bool("hashed_output")),
        buckets(static_cast<uint64_t>(a.Int("num_buckets"))), key(static_cast<uint64_t>(a.Int("hash_key"))),
        ragged(static_cast<int>(a.TypeList("ragged_values_types").size())), sparse(static_cast<int>(a.Int("Nsparse"))),
        dense(static_cast<int>(a.TypeList("dense_types").size())), splits_type(a.Type("out_row_splits_type")) {
    auto count = [&](char c) { return std::ranges::count(order, c); };
    if (static_cast<int>(order.size()) != ragged + sparse + dense) {
      a.Fail(InvalidArgument("Invalid length for input_order"));
    } else if (count('R') != ragged || count('S') != sparse || count('D') != dense) {
      a.Fail(InvalidArgument("Invalid input_order"));
    }
    if (a.Type("out_values_type") != (hashed ? DType::kInt64 : DType::kString)) {
      a.Fail(InvalidArgument("crosses are int64 when hashed, else strings"));
    }
    if (static_cast<int64_t>(buckets) < 0) a.Fail(InvalidArgument("num_buckets must not be negative"));
  }

  Status Run(KernelCall& c) const {
    std::vector<Feature> features;
    TARE_RETURN_IF_ERROR(ReadFeatures(c, &features));
    const size_t rows = features.empty() ? 0 : features[0].splits.size() - 1;
    std::vector<int64_t> ends = {0};
    for (size_t r = 0; r < rows; ++r) {
      int64_t crosses = 1;
      for (const Feature& f : features) {
        if (__builtin_mul_overflow(crosses, f.splits[r + 1] - f.splits[r], &crosses)) {
          return InvalidArgument("row {} has too many crosses", r);
        }
      }
      int64_t end;
      if (__builtin_add_overflow(ends.back(), crosses, &end)) return InvalidArgument("there are too many crosses");
      ends.push_back(end);
    }
    TARE_RETURN_IF_ERROR(SetInts(c, 1, splits_type, ends));
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::span(&ends.back(), 1)));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, hashed ? DType::kInt64 : DType::kString, shape));
    int64_t to = 0;
    std::vector<int64_t> at(features.size());
    for (size_t r = 0; r < rows; ++r) {
      for (size_t f = 0; f < features.size(); ++f) at[f] = features[f].splits[r];
      for (; to < ends[r + 1]; ++to) {
        Write(features, at, *out, to);
        // The next combination: the last feature turns fastest.
        for (size_t f = features.size(); f-- > 0;) {
          if (++at[f] < features[f].splits[r + 1]) break;
          at[f] = features[f].splits[r];
        }
      }
    }
    return OkStatus();
  }

  void Write(std::span<const Feature> features, std::span<const int64_t> at, Tensor& out, int64_t to) const {
    if (hashed) {
      uint64_t h = key;
      for (size_t f = 0; f < features.size(); ++f) h = CombineFingerprints(h, features[f].Hash(at[f]));
      // Without buckets the result is still kept from being negative.
      h %= buckets ? buckets : static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
      out.mutable_data<int64_t>()[to] = static_cast<int64_t>(h);
      return;
    }
    std::string text;
    for (size_t f = 0; f < features.size(); ++f) {
      if (f > 0) text += "_X_";
      text += features[f].Text(at[f]);
    }
    out.mutable_data<StringCell>()[to].Assign(text);
  }

  Status ReadFeatures(KernelCall& c, std::vector<Feature>* features) const {
    int next_ragged = 0, next_sparse = 0, next_dense = 0;
    for (char kind : order) {
      Feature f;
      if (kind == 'R') {
        f.values = &c.input(next_ragged);
        TARE_ASSIGN_OR_RETURN(f.splits, WideValues(c.input(ragged + next_ragged++)));
        if (f.values->rank() != 1) return WrongRank();
        TARE_RETURN_IF_ERROR(CheckSplits(f.splits, f.values->dim(0)));
      } else if (kind == 'S') {
        const int first = 2 * ragged + next_sparse++;
        f.values = &c.input(first + sparse);
        TARE_ASSIGN_OR_RETURN(f.splits, SparseSplits(c.input(first), *f.values, c.input(first + 2 * sparse)));
      } else {
        f.values = &c.input(2 * ragged + 3 * sparse + next_dense++);
        if (f.values->rank() != 2) return WrongRank();
        for (int64_t r = 0; r <= f.values->dim(0); ++r) f.splits.push_back(r * f.values->dim(1));
      }
      if (!features->empty() && features->front().splits.size() != f.splits.size()) {
        return InvalidArgument("inputs must all have the same batch dimension size.");
      }
      features->push_back(std::move(f));
    }
    return OkStatus();
  }

  static Status WrongRank() { return InvalidArgument("tf.ragged.cross only supports inputs with rank=2."); }

  static Result<std::vector<int64_t>> SparseSplits(const Tensor& indices, const Tensor& values, const Tensor& shape) {
    if (indices.rank() != 2 || indices.dim(1) != 2 || values.rank() != 1 || shape.num_elements() != 2) return WrongRank();
    if (indices.dim(0) != values.dim(0)) {
      return InvalidArgument("indices and values differ in number: {} and {}", indices.dim(0), values.dim(0));
    }
    const int64_t rows = shape.data<int64_t>()[0], *index = indices.data<int64_t>();
    // A shape is no promise: rows are bounded by what a file could mean.
    constexpr int64_t kMaxRows = int64_t{1} << 31;
    if (rows < 0 || rows > kMaxRows) return InvalidArgument("a batch of {} rows is not supported", rows);
    std::vector<int64_t> splits(static_cast<size_t>(rows) + 1);
    int64_t row = 0;
    for (int64_t i = 0; i < values.dim(0); ++i) {
      const int64_t r = index[2 * i];
      if (r < row || r >= rows) return InvalidArgument("sparse indices must be sorted and within their shape");
      for (; row < r; ++row) splits[static_cast<size_t>(row) + 1] = i;
    }
    for (; row < rows; ++row) splits[static_cast<size_t>(row) + 1] = values.dim(0);
    return splits;
  }

  std::string order;
  bool hashed;
  uint64_t buckets, key;
  int ragged, sparse, dense;
  DType splits_type;
};

constexpr KernelRow kRows[] = {Op<RaggedCross>("RaggedCross")};

}  // namespace
extern constinit const KernelFamily kRaggedCrossKernels = kRows;
}  // namespace tare
