// Rows and elements picked out by index: Gather, GatherNd, and the same from variables.
#include "kernels/nd_index.h"
#include "kernels/registry.h"
#include "resource/variable.h"

namespace tare {
namespace {

// params as [batch, outer, limit, inner], indices as [batch, n], the result [batch, outer, n, inner].
struct GatherDims {
  int64_t batch, outer, limit, inner, n;
};

template <class T, class I>
void GatherSome(const T* params, const I* indices, T* to, int64_t n, int64_t inner) {
  if (inner == 1) {
    for (int64_t k = 0; k < n; ++k) PutElement(to[k], params[indices[k]]);
  } else {
    for (int64_t k = 0; k < n; ++k) CopyRun(params + indices[k] * inner, to + k * inner, inner);
  }
}

// REQUIRES: indices checked.
template <class T, class I>
void GatherAll(ThreadPool& threads, const T* params, const I* indices, T* to, const GatherDims& d) {
  const int64_t blocks = d.batch * d.outer;
  if (blocks == 1) {
    if (d.n * d.inner * sizeof(T) < 16384) return GatherSome(params, indices, to, d.n, d.inner);
    threads.ParallelFor(d.n, d.inner / 4 + 2, [&](int64_t begin, int64_t end) {
      GatherSome(params, indices + begin, to + begin * d.inner, end - begin, d.inner);
    });
    return;
  }
  threads.ParallelFor(blocks, d.n * (d.inner / 4 + 2), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      GatherSome(params + b * d.limit * d.inner, indices + b / d.outer * d.n, to + b * d.n * d.inner, d.n, d.inner);
    }
  });
}

// Output 0: the slices of `params` along `axis` that `indices` names.
Status GatherAlong(KernelCall& c, const Tensor& params, const Tensor& indices, int64_t axis, int64_t batch_dims) {
  if (batch_dims < -indices.rank() || batch_dims > indices.rank()) {
    return InvalidArgument("Expected batch_dims in the range [{}, {}], but got {}", -indices.rank(), indices.rank(),
                           batch_dims);
  }
  if (batch_dims < 0) batch_dims += indices.rank();
  if (params.rank() < 1) return InvalidArgument("params must be at least 1 dimensional");
  if (axis < -params.rank() || axis >= params.rank()) {
    return InvalidArgument("Expected axis in the range [{}, {}), but got {}", -params.rank(), params.rank(), axis);
  }
  if (axis < 0) axis += params.rank();
  if (batch_dims > axis) {
    return InvalidArgument("batch_dims ({}) must be less than or equal to axis ({}).", batch_dims, axis);
  }
  const int at = static_cast<int>(axis), batch = static_cast<int>(batch_dims);
  for (int i = 0; i < batch; ++i) {
    if (params.dim(i) != indices.dim(i)) {
      return InvalidArgument("params.shape[{}]: {} should be equal to indices.shape[{}]: {}", i, params.dim(i), i,
                             indices.dim(i));
    }
  }
  std::array<int64_t, 2 * kMaxRank> dims;
  size_t rank = 0;
  for (int i = 0; i < at; ++i) dims[rank++] = params.dim(i);
  for (int i = batch; i < indices.rank(); ++i) dims[rank++] = indices.dim(i);
  for (int i = at + 1; i < params.rank(); ++i) dims[rank++] = params.dim(i);
  TARE_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({dims.data(), rank}));
  const GatherDims d{params.shape().product(0, batch), params.shape().product(batch, at), params.dim(at),
                     params.shape().product(at + 1, params.rank()),
                     indices.shape().product(batch, indices.rank())};
  // Nothing is read where nothing is given out, so a wrong index is none.
  if (shape.num_elements() == 0) return c.Output(0, params.dtype(), shape).status();
  if (int64_t bad = FirstOutside(indices, d.limit); bad >= 0) return OutsideError(indices, bad, d.limit);
  if (d.batch * d.outer * d.n == 1) {  // one row: a share of the bytes
    const int64_t row = Ints(indices)[0];
    Tensor piece = params.Reshaped(Shape{d.limit, d.inner}).Rows(row, row + 1);
    c.SetOutput(0, piece.Reshaped(shape));
    return OkStatus();
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, params.dtype(), shape));
  return ForType(Types<int16_t, int32_t, int64_t>{}, indices.dtype(), [&]<class I>() {
    ForElement(params.dtype(), [&]<class T>() {
      GatherAll(c.threads(), static_cast<const T*>(params.raw()), indices.data<I>(),
                static_cast<T*>(out->mutable_raw()), d);
    });
    return OkStatus();
  });
}

Status Gather(KernelCall& c) {
  const Tensor params = c.input(0), indices = c.input(1);
  return GatherAlong(c, params, indices, 0, 0);
}

struct GatherV2 {
  explicit GatherV2(AttrReader& a) : batch_dims(a.Int("batch_dims")) {}
  Status Run(KernelCall& c) const {
    if (c.input(2).rank() != 0) return InvalidArgument("axis must be scalar");
    const Tensor params = c.input(0), indices = c.input(1);
    return GatherAlong(c, params, indices, Ints(c.input(2))[0], batch_dims);
  }
  int64_t batch_dims;
};

// Input 0 is a variable's handle, or its value where that was frozen.
Result<Tensor> ReadVariable(KernelCall& c, DType dtype) {
  if (c.input(0).dtype() == dtype) return c.input(0);
  TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
  if (v->dtype() != dtype) {
    return InvalidArgument("Trying to read variable with wrong dtype. Expected {} got {}", DTypeName(dtype),
                           DTypeName(v->dtype()));
  }
  return v->Read();
}

struct ResourceGather {
  explicit ResourceGather(AttrReader& a) : batch_dims(a.Int("batch_dims")), dtype(a.Type("dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Tensor params, ReadVariable(c, dtype));
    const Tensor& indices = c.input(1);
    return GatherAlong(c, params, indices, batch_dims < 0 ? batch_dims + indices.rank() : batch_dims, batch_dims);
  }
  int64_t batch_dims;
  DType dtype;
};

Status GatherElements(KernelCall& c, const Tensor& params, const Tensor& indices, BadIndices policy) {
  if (params.rank() < 1) return InvalidArgument("params must be at least a vector");
  if (indices.rank() < 1) return InvalidArgument("indices must be at least a vector");
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank()) {
    return InvalidArgument("index innermost dimension length must be <= params rank; saw: {} vs. {}", depth,
                           params.rank());
  }
  std::array<int64_t, 2 * kMaxRank> dims;
  size_t rank = 0;
  for (int i = 0; i + 1 < indices.rank(); ++i) dims[rank++] = indices.dim(i);
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) dims[rank++] = params.dim(i);
  TARE_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({dims.data(), rank}));
  if (indices.shape().product(0, indices.rank() - 1) > 0 && params.num_elements() == 0) {
    return InvalidArgument("Requested more than 0 entries, but params is empty.  Params shape: {}",
                           params.shape().ToString());
  }
  TARE_ASSIGN_OR_RETURN(const NdOffsets at, ResolveNd(c, indices, params.shape(), policy, "param shape"));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, params.dtype(), shape));
  const std::span<const int64_t> offsets = at.values();
  ForElement(params.dtype(), [&]<class T>() {
    const T* from = static_cast<const T*>(params.raw());
    T* to = static_cast<T*>(out->mutable_raw());
    c.threads().ParallelFor(static_cast<int64_t>(offsets.size()), at.run / 4 + 2, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        if (offsets[k] >= 0) CopyRun(from + offsets[k], to + k * at.run, at.run);
        else ZeroElements(params.dtype(), to + k * at.run, at.run);
      }
    });
  });
  return OkStatus();
}

struct GatherNd {
  explicit GatherNd(AttrReader& a) : policy(ReadBadIndicesPolicy(a)) {}
  Status Run(KernelCall& c) const { return GatherElements(c, c.input(0), c.input(1), policy); }
  BadIndices policy;
};

struct ResourceGatherNd {
  explicit ResourceGatherNd(AttrReader& a) : dtype(a.Type("dtype")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Tensor params, ReadVariable(c, dtype));
    return GatherElements(c, params, c.input(1), BadIndices::kError);
  }
  DType dtype;
};

constexpr KernelRow kRows[] = {
    Op<Gather>("Gather"),
    Op<GatherNd>("GatherNd"),
    Op<GatherV2>("GatherV2"),
    Op<ResourceGather>("ResourceGather", kStateful),
    Op<ResourceGatherNd>("ResourceGatherNd", kStateful),
};

}  // namespace
extern constinit const KernelFamily kGatherKernels = kRows;
}  // namespace tare
