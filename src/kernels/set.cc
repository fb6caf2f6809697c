// Sets: the last dimension of a tensor holds the values of one set, repeats allowed.
#include <limits>

#include "kernels/elements.h"
#include "kernels/registry.h"

namespace tare {
namespace {

using SetTypes = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, StringCell>;

// Strings are compared in place.
template <class T>
using Member = std::conditional_t<std::is_same_v<T, StringCell>, std::string_view, T>;

template <class T>
std::vector<Member<T>> Sorted(const T* values, int64_t n) {
  std::vector<Member<T>> set(values, values + n);
  std::ranges::sort(set);
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

// The groups of a sparse tensor of sets: entries whose index is the same but for its last part.
struct SetSizeOp {
  explicit SetSizeOp(AttrReader& a) : validate(a.Bool("validate_indices")) {}
  Status Run(KernelCall& c) const {
    const Tensor &indices = c.input(0), &values = c.input(1), &shape_tensor = c.input(2);
    TARE_RETURN_IF_ERROR(CheckSparse(indices, values, shape_tensor));
    const auto rank = static_cast<int>(indices.dim(1));
    const int64_t n = indices.dim(0);
    const auto dims = shape_tensor.as<int64_t>();
    TARE_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims.first(rank - 1)));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt32, shape));
    int32_t* sizes = out->mutable_data<int32_t>();
    std::fill_n(sizes, shape.num_elements(), 0);
    const int64_t* index = indices.data<int64_t>();
    return ForType(SetTypes{}, values.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < n;) {
        const int64_t* group = index + i * rank;
        int64_t end = i + 1;
        while (end < n && std::equal(group, group + rank - 1, index + end * rank)) ++end;
        int64_t at = 0;
        for (int d = 0; d + 1 < rank; ++d) at = at * dims[d] + group[d];
        sizes[at] = static_cast<int32_t>(Sorted<T>(values.data<T>() + i, end - i).size());
        i = end;
      }
      return OkStatus();
    });
  }
  Status CheckSparse(const Tensor& indices, const Tensor& values, const Tensor& shape) const {
    if (indices.rank() != 2) return InvalidArgument("Expected indices to be a matrix, got shape {}", indices.shape().ToString());
    if (values.rank() != 1) return InvalidArgument("Expected values to be a vector, got shape {}", values.shape().ToString());
    if (shape.rank() != 1) return InvalidArgument("Expected shape to be a vector, got shape {}", shape.shape().ToString());
    if (indices.dim(0) != values.dim(0)) {
      return InvalidArgument("Expected {} values, got {}", indices.dim(0), values.dim(0));
    }
    if (indices.dim(1) != shape.dim(0)) {
      return InvalidArgument("Expected indices of rank {}, got {}", shape.dim(0), indices.dim(1));
    }
    const int64_t rank = shape.dim(0);
    if (rank < 2 || rank > kMaxRank) return InvalidArgument("Invalid rank {}.", rank);
    const auto dims = shape.as<int64_t>();
    const int64_t* index = indices.data<int64_t>();
    for (int64_t i = 0; i < indices.dim(0); ++i, index += rank) {
      for (int64_t d = 0; d < rank; ++d) {
        if (index[d] < 0 || index[d] >= dims[d]) {
          return InvalidArgument("indices[{}] = [{}] is out of bounds: need 0 <= index < [{}]", i,
                                 fmt::join(index, index + rank, ","), fmt::join(dims, ","));
        }
      }
      if (!validate || i == 0) continue;
      const int64_t* before = index - rank;
      if (std::lexicographical_compare(before, before + rank, index, index + rank)) continue;
      return InvalidArgument("indices[{}] = [{}] is {}", i, fmt::join(index, index + rank, ","),
                             std::equal(before, index, index)
                                 ? "repeated."
                                 : "out of order. Many sparse ops require sorted indices.");
    }
    return OkStatus();
  }
  bool validate;
};

enum class SetOperation { kAMinusB, kBMinusA, kIntersection, kUnion };

struct DenseToDense {
  explicit DenseToDense(AttrReader& a) {
    std::string name = a.String("set_operation");
    std::ranges::transform(name, name.begin(), [](unsigned char ch) { return std::tolower(ch); });
    constexpr std::string_view kNames[] = {"a-b", "b-a", "intersection", "union"};
    const auto* found = std::ranges::find(kNames, name);
    if (found == std::end(kNames)) a.Fail(InvalidArgument("Invalid set_operation {}.", name));
    operation = static_cast<SetOperation>(found - kNames);
  }
  Status Run(KernelCall& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    for (const Tensor* t : {&a, &b}) {
      if (t->rank() < 2) return InvalidArgument("Shape {} has rank {} < 2", t->shape().ToString(), t->rank());
    }
    const int rank = a.rank();
    if (b.rank() != rank || !std::ranges::equal(a.shape().dims().first(rank - 1), b.shape().dims().first(rank - 1))) {
      return InvalidArgument("Mismatched shapes {} vs {}", a.shape().ToString(), b.shape().ToString());
    }
    return ForType(SetTypes{}, a.dtype(), [&]<class T>() { return Of<T>(c, a, b); });
  }
  template <class T>
  Status Of(KernelCall& c, const Tensor& a, const Tensor& b) const {
    const int last = a.rank() - 1;
    const bool empty = a.num_elements() == 0 && b.num_elements() == 0;
    const int64_t groups = empty ? 0 : a.shape().product(0, last);
    std::vector<Member<T>> members;
    std::vector<size_t> ends;
    size_t largest = 0;
    for (int64_t g = 0; g < groups; ++g) {
      const size_t begin = members.size();
      Combine(Sorted<T>(a.data<T>() + g * a.dim(last), a.dim(last)),
              Sorted<T>(b.data<T>() + g * b.dim(last), b.dim(last)), members);
      ends.push_back(members.size());
      largest = std::max(largest, members.size() - begin);
    }
    return Store<T>(c, a.shape(), members, ends, largest);
  }
  template <class Set>
  void Combine(const Set& a, const Set& b, Set& out) const {
    auto to = std::back_inserter(out);
    switch (operation) {
      case SetOperation::kAMinusB: std::ranges::set_difference(a, b, to); break;
      case SetOperation::kBMinusA: std::ranges::set_difference(b, a, to); break;
      case SetOperation::kIntersection: std::ranges::set_intersection(a, b, to); break;
      case SetOperation::kUnion: std::ranges::set_union(a, b, to); break;
    }
  }
  // The sets as a sparse tensor: indices, values, shape.
  template <class T>
  static Status Store(KernelCall& c, const Shape& in, std::span<const Member<T>> members, std::span<const size_t> ends,
                      size_t largest) {
    const int rank = in.rank();
    const auto n = static_cast<int64_t>(members.size());
    TARE_ASSIGN_OR_RETURN(Tensor * indices, c.Output(0, DType::kInt64, Shape{n, rank}));
    TARE_ASSIGN_OR_RETURN(Tensor * values, c.Output(1, DTypeOf<T>::value, Shape{n}));
    TARE_ASSIGN_OR_RETURN(Tensor * shape, c.Output(2, DType::kInt64, Shape{rank}));
    std::ranges::copy(in.dims(), shape->mutable_data<int64_t>());
    shape->mutable_data<int64_t>()[rank - 1] = static_cast<int64_t>(largest);
    T* value = values->mutable_data<T>();
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, StringCell>) value[i].Assign(members[i]);
      else value[i] = members[i];
    }
    int64_t* to = indices->mutable_data<int64_t>();
    size_t at = 0;
    for (size_t g = 0; g < ends.size(); ++g) {
      for (size_t first = at; at < ends[g]; ++at, to += rank) {
        to[rank - 1] = static_cast<int64_t>(at - first);
        auto rest = static_cast<int64_t>(g);
        for (int d = rank - 2; d >= 0; rest /= in[d--]) to[d] = rest % in[d];
      }
    }
    return OkStatus();
  }
  SetOperation operation = SetOperation::kUnion;
};

constexpr KernelRow kRows[] = {
    Op<DenseToDense>("DenseToDenseSetOperation"),
    Op<SetSizeOp>("SetSize"),
};

}  // namespace
extern constinit const KernelFamily kSetKernels = kRows;
}  // namespace tare
