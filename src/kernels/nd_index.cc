#include "kernels/nd_index.h"

#include "kernels/strided_copy.h"

namespace tare {
namespace {

using IndexTypes = Types<int8_t, int16_t, uint16_t, int32_t, int64_t>;

template <class I>
Status Resolve(const Tensor& indices, const Shape& shape, BadIndices policy, std::string_view what, int depth,
               std::span<int64_t> to) {
  const auto strides = StridesOf(shape);
  const I* index = indices.data<I>();
  for (size_t k = 0; k < to.size(); ++k, index += depth) {
    int64_t at = 0;
    bool inside = true;
    for (int d = 0; d < depth; ++d) {
      const int64_t v = index[d];
      inside &= v >= 0 && v < shape[d];
      at += (inside ? v : 0) * strides[d];
    }
    to[k] = inside ? at : -1;
    if (inside || policy == BadIndices::kIgnore) continue;
    Shape outer = indices.shape();
    outer.Remove(outer.rank() - 1);
    return InvalidArgument("indices[{}] = [{}] does not index into {} {}", IndexName(outer, static_cast<int64_t>(k)),
                           fmt::join(index, index + depth, ", "), what, shape.ToString());
  }
  return OkStatus();
}

}  // namespace

BadIndices ReadBadIndicesPolicy(AttrReader& a) {
  std::string policy = a.String("bad_indices_policy");
  if (policy == "IGNORE") return BadIndices::kIgnore;
  if (policy != "" && policy != "DEFAULT" && policy != "ERROR") {
    a.Fail(InvalidArgument("Unknown bad indices handling attribute: {}", policy));
  }
  return BadIndices::kError;
}

Result<NdOffsets> ResolveNd(KernelCall& c, const Tensor& indices, const Shape& shape, BadIndices policy,
                            std::string_view what) {
  NdOffsets r;
  r.depth = static_cast<int>(indices.dim(indices.rank() - 1));
  r.run = shape.product(r.depth, shape.rank());
  const int64_t n = indices.shape().product(0, indices.rank() - 1);
  TARE_ASSIGN_OR_RETURN(r.offsets, c.Temp(DType::kInt64, Shape{n}));
  TARE_RETURN_IF_ERROR(ForType(IndexTypes{}, indices.dtype(), [&]<class I>() {
    return Resolve<I>(indices, shape, policy, what, r.depth, r.offsets.mut<int64_t>());
  }));
  return r;
}

int64_t FirstOutside(const Tensor& indices, int64_t limit) {
  int64_t first = -1;
  (void)ForType(IndexTypes{}, indices.dtype(), [&]<class I>() {
    using U = std::make_unsigned_t<I>;
    const std::span<const I> values = indices.as<I>();
    const uint64_t most = static_cast<uint64_t>(std::numeric_limits<I>::max());
    // A negative index is a large one without its sign.
    const auto cap = static_cast<uint64_t>(limit) > most ? U(most) : U(limit - 1);
    bool bad = limit == 0 && !values.empty();
    if (limit > 0) {
      for (I v : values) bad |= static_cast<U>(v) > cap;
    }
    if (!bad) return OkStatus();
    for (size_t i = 0; i < values.size() && first < 0; ++i) {
      if (limit == 0 || static_cast<U>(values[i]) > cap) first = static_cast<int64_t>(i);
    }
    return OkStatus();
  });
  return first;
}

Status OutsideError(const Tensor& indices, int64_t at, int64_t limit, std::string_view name) {
  int64_t value = 0;
  (void)ForType(IndexTypes{}, indices.dtype(), [&]<class I>() {
    value = static_cast<int64_t>(indices.data<I>()[at]);
    return OkStatus();
  });
  std::string where = indices.rank() ? fmt::format("[{}]", IndexName(indices.shape(), at)) : "";
  return InvalidArgument("{}{} = {} is not in [0, {})", name, where, value, limit);
}

}  // namespace tare
