// Scattering into variables: slices of the variable, named by indices, meet slices of the updates.
// Each op exists on resource handles (ResourceScatterAdd) and on TF1 references (ScatterAdd).
#include <algorithm>
#include <limits>

#include "kernels/registry.h"
#include "kernels/variable_update.h"

namespace tare {
namespace {

// The new value replaces the old.
struct Replace {};

// Where each slice of the updates goes: offsets in elements, -1 for a slice that is dropped.
struct Slices {
  std::vector<int64_t> offsets;
  int64_t size = 1;  // elements of one
};

Result<std::vector<int64_t>> Widened(const Tensor& indices) {
  std::vector<int64_t> space(static_cast<size_t>(indices.num_elements()));
  TARE_ASSIGN_OR_RETURN(auto values, IntValues(indices, space));
  if (values.data() != space.data()) space.assign(values.begin(), values.end());
  return space;
}

// Scatter*: an index names a row.
Result<Slices> Rows(const Tensor& var, const Tensor& indices, const Tensor& updates) {
  const Shape &p = var.shape(), &u = updates.shape();
  auto tail = p.rank() > 0 ? p.dims().subspan(1) : p.dims();
  bool fits = p.rank() > 0 &&
              (u.rank() == 0 ||
               (u.rank() == indices.rank() + static_cast<int>(tail.size()) &&
                std::ranges::equal(u.dims().first(indices.rank()), indices.shape().dims()) &&
                std::ranges::equal(u.dims().subspan(indices.rank()), tail)));
  if (!fits) {
    return InvalidArgument(
        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
        "updates.shape {}, "
        "indices.shape {}, params.shape {}",
        u.ToString(), indices.shape().ToString(), p.ToString());
  }
  Slices s;
  TARE_ASSIGN_OR_RETURN(s.offsets, Widened(indices));
  s.size = p.product(1, p.rank());
  for (size_t i = 0; i < s.offsets.size(); ++i) {
    if (s.offsets[i] < 0 || s.offsets[i] >= p[0]) {
      return InvalidArgument("indices[{}] = {} is not in [0, {})", i, s.offsets[i], p[0]);
    }
    s.offsets[i] *= s.size;
  }
  return s;
}

// ScatterNd*: a row of `indices` names a slice by its first dimensions.
Result<Slices> SlicesNd(const Tensor& var, const Tensor& indices, const Tensor& updates,
                        bool drop_bad) {
  const Shape &p = var.shape(), &x = indices.shape(), &u = updates.shape();
  if (x.rank() < 1)
    return InvalidArgument("Indices shape must have rank at least one. Found: {}", x.ToString());
  if (p.rank() < 1)
    return InvalidArgument("Output must be at least 1-D, got shape: {}", p.ToString());
  int outer = x.rank() - 1;
  int64_t depth = x[outer];
  bool fits =
      depth <= p.rank() && u.rank() == outer + p.rank() - depth &&
      std::ranges::equal(u.dims().first(outer), x.dims().first(outer)) &&
      std::ranges::equal(u.dims().subspan(outer), p.dims().subspan(static_cast<size_t>(depth)));
  if (!fits) {
    return InvalidArgument(
        "indices of shape {} do not lead updates of shape {} into a variable of shape {}",
        x.ToString(), u.ToString(), p.ToString());
  }
  TARE_ASSIGN_OR_RETURN(std::vector<int64_t> at, Widened(indices));
  Slices s;
  s.size = p.product(static_cast<int>(depth), p.rank());
  s.offsets.resize(static_cast<size_t>(x.product(0, outer)));
  for (size_t i = 0; i < s.offsets.size(); ++i) {
    std::span<const int64_t> index(at.data() + i * static_cast<size_t>(depth),
                                   static_cast<size_t>(depth));
    int64_t offset = 0;
    for (int d = 0; d < depth && offset >= 0; ++d) {
      bool in = index[d] >= 0 && index[d] < p[d];
      if (!in && !drop_bad) {
        return InvalidArgument("indices[{}] = {} does not index into shape {}", i,
                               PartialShape{false, index}.ToString(), p.ToString());
      }
      offset = in ? offset * p[d] + index[d] : -1;
    }
    s.offsets[i] = offset < 0 ? -1 : offset * s.size;
  }
  return s;
}

template <class Combine, class T>
Status CombineSlices(Tensor& var, const Slices& s, const Tensor& updates) {
  const T* from = updates.data<T>();
  const bool one_for_all =
      updates.rank() == 0 && s.size * static_cast<int64_t>(s.offsets.size()) != 1;
  if constexpr (std::is_same_v<Combine, Over> && std::is_integral_v<T>) {
    if (std::ranges::find(updates.as<T>(), T{0}) != updates.as<T>().end()) {
      return InvalidArgument("Integer division by zero");
    }
  }
  for (int64_t offset : s.offsets) {
    T* to = var.mutable_data<T>() + offset;
    if (offset >= 0) {
      for (int64_t j = 0; j < s.size; ++j) to[j] = Combine()(to[j], one_for_all ? *from : from[j]);
    }
    if (!one_for_all) from += s.size;
  }
  return OkStatus();
}

void ReplaceSlices(Tensor& var, const Slices& s, const Tensor& updates) {
  const size_t bytes = DTypeSize(var.dtype());
  const bool one_for_all = updates.rank() == 0;
  auto* from = static_cast<const std::byte*>(updates.raw());
  for (int64_t offset : s.offsets) {
    auto* to = static_cast<std::byte*>(var.mutable_raw()) + offset * static_cast<int64_t>(bytes);
    if (offset >= 0 && one_for_all) {
      for (int64_t j = 0; j < s.size; ++j)
        CopyElements(var.dtype(), from, to + static_cast<size_t>(j) * bytes, 1);
    } else if (offset >= 0) {
      CopyElements(var.dtype(), from, to, static_cast<size_t>(s.size));
    }
    if (!one_for_all) from += static_cast<size_t>(s.size) * bytes;
  }
}

template <class Combine>
struct Scatter {
  explicit Scatter(AttrReader& a) : nd(a.op().name.find("Nd") != a.op().name.npos) {
    if (!nd) return;
    std::string policy = a.String("bad_indices_policy");
    drop_bad = policy == "IGNORE";
    if (!drop_bad && policy != "" && policy != "ERROR" && policy != "DEFAULT") {
      a.Fail(InvalidArgument("bad_indices_policy '{}' is none of ERROR, IGNORE, DEFAULT", policy));
    }
  }
  Status Run(KernelCall& c) const {
    return UpdateVariable(c, [&](Tensor& var) -> Status {
      const Tensor &indices = c.input(1), &updates = c.input(2);
      if (var.dtype() != updates.dtype()) {
        return InvalidArgument("a variable of type {} cannot take updates of type {}",
                               DTypeName(var.dtype()), DTypeName(updates.dtype()));
      }
      TARE_ASSIGN_OR_RETURN(
          Slices s, nd ? SlicesNd(var, indices, updates, drop_bad) : Rows(var, indices, updates));
      if constexpr (std::is_same_v<Combine, Replace>) {
        ReplaceSlices(var, s, updates);
        return OkStatus();
      } else if constexpr (std::is_same_v<Combine, Smaller> || std::is_same_v<Combine, Larger>) {
        return ForType(Reals{}, var.dtype(),
                       [&]<class T>() { return CombineSlices<Combine, T>(var, s, updates); });
      } else {
        return ForType(Numbers{}, var.dtype(),
                       [&]<class T>() { return CombineSlices<Combine, T>(var, s, updates); });
      }
    });
  }
  bool nd;
  bool drop_bad = false;
};

constexpr KernelRow kRows[] = {
    Op<Scatter<Plus>>("ResourceScatterAdd", kStateful),
    Op<Scatter<Over>>("ResourceScatterDiv", kStateful),
    Op<Scatter<Larger>>("ResourceScatterMax", kStateful),
    Op<Scatter<Smaller>>("ResourceScatterMin", kStateful),
    Op<Scatter<Times>>("ResourceScatterMul", kStateful),
    Op<Scatter<Plus>>("ResourceScatterNdAdd", kStateful),
    Op<Scatter<Larger>>("ResourceScatterNdMax", kStateful),
    Op<Scatter<Smaller>>("ResourceScatterNdMin", kStateful),
    Op<Scatter<Minus>>("ResourceScatterNdSub", kStateful),
    Op<Scatter<Replace>>("ResourceScatterNdUpdate", kStateful),
    Op<Scatter<Minus>>("ResourceScatterSub", kStateful),
    Op<Scatter<Replace>>("ResourceScatterUpdate", kStateful),
    Op<Scatter<Plus>>("ScatterAdd", kStateful),
    Op<Scatter<Over>>("ScatterDiv", kStateful),
    Op<Scatter<Larger>>("ScatterMax", kStateful),
    Op<Scatter<Smaller>>("ScatterMin", kStateful),
    Op<Scatter<Times>>("ScatterMul", kStateful),
    Op<Scatter<Plus>>("ScatterNdAdd", kStateful),
    Op<Scatter<Larger>>("ScatterNdMax", kStateful),
    Op<Scatter<Smaller>>("ScatterNdMin", kStateful),
    Op<Scatter<Minus>>("ScatterNdSub", kStateful),
    Op<Scatter<Replace>>("ScatterNdUpdate", kStateful),
    Op<Scatter<Minus>>("ScatterSub", kStateful),
    Op<Scatter<Replace>>("ScatterUpdate", kStateful),
};

}  // namespace
extern constinit const KernelFamily kScatterVariableKernels = kRows;
}  // namespace tare
