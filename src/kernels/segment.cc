// Reductions over rows that carry the same segment id: sorted ids, any ids, and rows picked by index.
#include <cmath>
#include <limits>

#include "kernels/accumulate.h"
#include "kernels/nd_index.h"
#include "kernels/registry.h"

namespace tare {
namespace {

enum class Reduce { kSum, kMean, kProd, kMin, kMax, kSqrtN };

template <class T>
T Lowest() {
  if constexpr (std::is_same_v<T, Half>) return T(-65504.f);
  else if constexpr (kIsHalf<T>) return std::bit_cast<T>(uint16_t{0xff7f});
  else return std::numeric_limits<T>::lowest();
}
template <class T>
T Highest() {
  if constexpr (std::is_same_v<T, Half>) return T(65504.f);
  else if constexpr (kIsHalf<T>) return std::bit_cast<T>(uint16_t{0x7f7f});
  else return std::numeric_limits<T>::max();
}

struct SumOf {
  using Types = Numbers;
  using Step = AddStep;
  template <class T>
  static T Start() { return T(0); }
};
struct ProdOf {
  using Types = Numbers;
  using Step = MulStep;
  template <class T>
  static T Start() { return T(1); }
};
struct MinOf {
  using Types = Reals;
  using Step = MinStep;
  template <class T>
  static T Start() { return Highest<T>(); }
};
struct MaxOf {
  using Types = Reals;
  using Step = MaxStep;
  template <class T>
  static T Start() { return Lowest<T>(); }
};

template <class Step, class T>
void AddRow(const T* from, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = Step::Do(to[i], from[i]);
}

template <class R>
Status UnsortedSegment(KernelCall& c) {
  const Tensor &data = c.input(0), &ids = c.input(1);
  if (c.input(2).rank() != 0) {
    return InvalidArgument("num_segments should be a scalar, not shape {}", c.input(2).shape().ToString());
  }
  const int64_t segments = Ints(c.input(2))[0];
  if (segments < 0) return InvalidArgument("Input num_segments == {} must not be negative.", segments);
  if (ids.rank() > data.rank() || !std::ranges::equal(ids.shape().dims(), data.shape().dims().first(ids.rank()))) {
    return InvalidArgument("data.shape = {} does not start with segment_ids.shape = {}", data.shape().ToString(),
                           ids.shape().ToString());
  }
  std::array<int64_t, kMaxRank + 1> dims{segments};
  std::ranges::copy(data.shape().dims().subspan(ids.rank()), dims.begin() + 1);
  TARE_ASSIGN_OR_RETURN(const Shape shape,
                        Shape::Make({dims.data(), static_cast<size_t>(1 + data.rank() - ids.rank())}));
  const int64_t inner = data.shape().product(ids.rank(), data.rank());
  Ints id(ids);
  for (size_t i = 0; i < id.size(); ++i) {
    if (id[i] >= segments) {
      return InvalidArgument("segment_ids{} = {} is out of range [0, {})",
                             ids.rank() ? fmt::format("[{}]", IndexName(ids.shape(), static_cast<int64_t>(i))) : "", id[i],
                             segments);
    }
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, data.dtype(), shape));
  return ForType(typename R::Types{}, data.dtype(), [&]<class T>() {
    T* to = out->mutable_data<T>();
    std::fill_n(to, shape.num_elements(), R::template Start<T>());
    const T* from = data.data<T>();
    for (size_t i = 0; i < id.size(); ++i, from += inner) {
      if (id[i] >= 0) AddRow<typename R::Step>(from, to + id[i] * inner, inner);
    }
    return OkStatus();
  });
}

// Sorted ids: the number of segments, after every id was checked to be none less than the one before and
// inside [0, limit).
Result<int64_t> CheckSorted(std::span<const int64_t> ids) {
  if (ids.empty()) return 0;
  const int64_t segments = ids.back() + 1;
  if (segments <= 0) return InvalidArgument("segment ids must be >= 0");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i && ids[i] < ids[i - 1]) return InvalidArgument("segment ids are not increasing");
    if (ids[i] < 0 || ids[i] >= segments) {
      return InvalidArgument(
          "Segment id {} out of range [0, {}), possibly because 'segment_ids' input is not sorted.", ids[i], segments);
    }
  }
  return segments;
}

template <class T>
T DividedBy(T v, int64_t n) {
  if constexpr (kIsHalf<T>) return T(static_cast<float>(v) / static_cast<float>(n));
  else return static_cast<T>(v / static_cast<T>(n));
}

template <class R, bool kMean = false>
Status SortedSegment(KernelCall& c) {
  const Tensor &data = c.input(0), &ids = c.input(1);
  if (data.rank() < 1) return InvalidArgument("input must be at least rank 1");
  if (ids.rank() != 1) return InvalidArgument("segment_ids should be a vector.");
  if (ids.num_elements() != data.dim(0)) {
    return InvalidArgument("segment_ids should be the same size as dimension 0 of input.");
  }
  Ints id(ids);
  TARE_ASSIGN_OR_RETURN(const int64_t segments, CheckSorted(id));
  Shape shape = data.shape();
  shape.set_dim(0, segments);
  TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, data.dtype(), shape));
  const int64_t inner = shape.product(1, shape.rank());
  return ForType(typename R::Types{}, data.dtype(), [&]<class T>() {
    T* to = out->mutable_data<T>();
    // Segments without rows: 1 for products, 0 for all others.
    std::fill_n(to, shape.num_elements(), std::is_same_v<R, ProdOf> ? T(1) : T(0));
    const T* from = data.data<T>();
    for (size_t i = 0; i < id.size();) {
      T* row = to + id[i] * inner;
      std::copy_n(from + static_cast<int64_t>(i) * inner, inner, row);
      size_t end = i + 1;
      for (; end < id.size() && id[end] == id[i]; ++end) {
        AddRow<typename R::Step>(from + static_cast<int64_t>(end) * inner, row, inner);
      }
      if (kMean) {
        for (int64_t k = 0; k < inner; ++k) row[k] = DividedBy(row[k], static_cast<int64_t>(end - i));
      }
      i = end;
    }
    return OkStatus();
  });
}

// Rows of `data` picked by `indices`, reduced by sorted segment ids. Half types sum in float.
template <Reduce kReduce, class T>
void SparseReduce(const T* data, const auto& index, const auto& id, int64_t inner, T* to) {
  if (id.size() == 0) return;
  using Sum = std::conditional_t<kIsHalf<T>, float, T>;
  std::vector<Sum> sums(static_cast<size_t>(inner));
  for (size_t i = 0; i < id.size();) {
    std::ranges::fill(sums, Sum(0));
    size_t end = i;
    for (; end < id.size() && id[end] == id[i]; ++end) {
      const T* row = data + index[end] * inner;
      for (int64_t k = 0; k < inner; ++k) sums[k] = AddStep::Do<Sum>(sums[k], static_cast<Sum>(row[k]));
    }
    const auto n = static_cast<double>(end - i);
    T* out = to + id[i] * inner;
    for (int64_t k = 0; k < inner; ++k) {
      if constexpr (kReduce == Reduce::kMean) sums[k] /= static_cast<Sum>(n);
      if constexpr (kReduce == Reduce::kSqrtN) sums[k] /= static_cast<Sum>(std::sqrt(n));
      out[k] = static_cast<T>(sums[k]);
    }
    i = end;
  }
}

template <Reduce kReduce, bool kWithNum = false>
Status SparseSegment(KernelCall& c) {
  const Tensor &data = c.input(0), &indices = c.input(1), &ids = c.input(2);
  if (data.rank() < 1) return InvalidArgument("Shape must be at least rank 1");
  if (indices.rank() != 1) return InvalidArgument("indices should be a vector.");
  if (ids.rank() != 1) return InvalidArgument("segment_ids should be a vector.");
  if (indices.num_elements() != ids.num_elements()) {
    return InvalidArgument("segment_ids and indices should have same size.");
  }
  Ints index(indices), id(ids);
  TARE_ASSIGN_OR_RETURN(int64_t segments, CheckSorted(id));
  if (kWithNum) {
    if (c.input(3).rank() != 0) {
      return InvalidArgument("num_segments should be a scalar, not shape {}", c.input(3).shape().ToString());
    }
    const int64_t wanted = Ints(c.input(3))[0];
    if (wanted < 0) return InvalidArgument("segment ids must be >= 0");
    if (segments > wanted) return InvalidArgument("segment ids must be < num_segments");
    segments = wanted;
  }
  if (int64_t bad = FirstOutside(indices, data.dim(0)); bad >= 0) {
    return InvalidArgument("Bad: indices[{}] == {} out of range [0, {})", bad, index[bad], data.dim(0));
  }
  Shape shape = data.shape();
  shape.set_dim(0, segments);
  TARE_ASSIGN_OR_RETURN(shape, Shape::Make(shape.dims()));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, data.dtype(), shape));
  ZeroElements(data.dtype(), out->mutable_raw(), shape.num_elements());
  using Ts = std::conditional_t<kReduce == Reduce::kSum, Reals, Floats>;
  return ForType(Ts{}, data.dtype(), [&]<class T>() {
    SparseReduce<kReduce, T>(data.data<T>(), index, id, shape.product(1, shape.rank()), out->mutable_data<T>());
    return OkStatus();
  });
}

constexpr KernelRow kRows[] = {
    Op<SortedSegment<MaxOf>>("SegmentMax"),
    Op<SortedSegment<SumOf, true>>("SegmentMean"),
    Op<SortedSegment<MinOf>>("SegmentMin"),
    Op<SortedSegment<ProdOf>>("SegmentProd"),
    Op<SortedSegment<SumOf>>("SegmentSum"),
    Op<SparseSegment<Reduce::kMean>>("SparseSegmentMean"),
    Op<SparseSegment<Reduce::kMean, true>>("SparseSegmentMeanWithNumSegments"),
    Op<SparseSegment<Reduce::kSqrtN>>("SparseSegmentSqrtN"),
    Op<SparseSegment<Reduce::kSqrtN, true>>("SparseSegmentSqrtNWithNumSegments"),
    Op<SparseSegment<Reduce::kSum>>("SparseSegmentSum"),
    Op<SparseSegment<Reduce::kSum, true>>("SparseSegmentSumWithNumSegments"),
    Op<UnsortedSegment<MaxOf>>("UnsortedSegmentMax"),
    Op<UnsortedSegment<MinOf>>("UnsortedSegmentMin"),
    Op<UnsortedSegment<ProdOf>>("UnsortedSegmentProd"),
    Op<UnsortedSegment<SumOf>>("UnsortedSegmentSum"),
};

}  // namespace
extern constinit const KernelFamily kSegmentKernels = kRows;
}  // namespace tare
