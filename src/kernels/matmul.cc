// MatMul and the batch products.
#include "kernels/batch_matmul.h"
#include "kernels/fused.h"
#include "kernels/registry.h"

namespace tare {
namespace {

struct MatMul {
  explicit MatMul(AttrReader& a) : turn_a(a.Bool("transpose_a")), turn_b(a.Bool("transpose_b")), fused(a) {}
  Status Run(KernelCall& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() != b.rank()) {
      return InvalidArgument("In[0] and In[1] has different ndims: {} vs. {}", a.shape().ToString(),
                             b.shape().ToString());
    }
    if (a.rank() != 2) return InvalidArgument("In[0] and In[1] ndims must be == 2: {}", a.rank());
    BatchProduct p;
    p.x = a, p.y = b, p.turn_x = turn_a, p.turn_y = turn_b;
    p.m = a.dim(turn_a ? 1 : 0);
    p.k = a.dim(turn_a ? 0 : 1);
    p.n = b.dim(turn_b ? 0 : 1);
    if (p.k != b.dim(turn_b ? 1 : 0)) {
      return InvalidArgument("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.shape().ToString(),
                             b.shape().ToString());
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{p.m, p.n}));
    p.x_at.stride = a.dim(1), p.y_at.stride = b.dim(1), p.out_at.stride = p.n;
    if (!fused.any()) return RunBatchProduct(c, 0, p, shape);
    if (a.dtype() != DType::kFloat) return Unimplemented("fused operations of {}", DTypeName(a.dtype()));
    return fused.Produce(c, 2, shape, [&](Tensor& out, const math::Epilogue& e) {
      p.epilogue = e;
      return RunBatchProductInto(c, p, out);
    });
  }
  bool turn_a, turn_b;
  FusedEpilogue fused;
};

// Integers of mixed widths, as BatchMatMulV3 takes them, become the output's type first.
template <class To>
Result<Tensor> CastTo(KernelCall& c, const Tensor& t) {
  TARE_ASSIGN_OR_RETURN(Tensor to, c.Temp(DTypeOf<To>::value, t.shape()));
  To* out = to.mutable_data<To>();
  TARE_RETURN_IF_ERROR(ForType(Join<Floats, Integers>{}, t.dtype(), [&]<class From>() {
    const From* from = t.data<From>();
    for (int64_t i = 0; i < t.num_elements(); ++i) out[i] = static_cast<To>(from[i]);
    return OkStatus();
  }));
  return to;
}

Status Unify(KernelCall& c, DType dtype, Tensor& t) {
  if (t.dtype() == dtype) return OkStatus();
  if (dtype == DType::kInt32) {
    TARE_ASSIGN_OR_RETURN(t, CastTo<int32_t>(c, t));
  } else if (dtype == DType::kBfloat16) {
    TARE_ASSIGN_OR_RETURN(t, CastTo<BFloat16>(c, t));
  } else if (dtype == DType::kFloat) {
    TARE_ASSIGN_OR_RETURN(t, CastTo<float>(c, t));
  } else {
    return Unimplemented("BatchMatMulV3 from {} to {}", DTypeName(t.dtype()), DTypeName(dtype));
  }
  return OkStatus();
}

// V1 wants equal batches, V2 and V3 broadcast them.
enum class Batches { kEqual, kBroadcast };

template <Batches kBatches>
struct BatchMatMul {
  explicit BatchMatMul(AttrReader& a)
      : adj_x(a.Bool("adj_x")), adj_y(a.Bool("adj_y")), dtype(a.Type(a.op().outputs[0].type_attr)) {}

  Status Run(KernelCall& c) const {
    const Tensor &x = c.input(0), &y = c.input(1);
    BatchProduct p{x, y, adj_x, adj_y, adj_x, adj_y};
    TARE_ASSIGN_OR_RETURN(p.batch, Batch(x, y));
    p.m = x.dim(x.rank() - (adj_x ? 1 : 2));
    p.k = x.dim(x.rank() - (adj_x ? 2 : 1));
    p.n = y.dim(y.rank() - (adj_y ? 2 : 1));
    if (p.k != y.dim(y.rank() - (adj_y ? 1 : 2))) {
      return InvalidArgument("Matrix size-incompatible: In[0]: {}, In[1]: {}", x.shape().ToString(),
                             y.shape().ToString());
    }
    std::vector<int64_t> dims(p.batch.dims().begin(), p.batch.dims().end());
    dims.insert(dims.end(), {p.m, p.n});
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    p.x_at = MatrixLayout::Dense(p.batch, BatchDims(x), x.dim(x.rank() - 1), p.m * p.k);
    p.y_at = MatrixLayout::Dense(p.batch, BatchDims(y), y.dim(y.rank() - 1), p.k * p.n);
    p.out_at = MatrixLayout::Dense(p.batch, p.batch.dims(), p.n, p.m * p.n);
    TARE_RETURN_IF_ERROR(Unify(c, dtype, p.x));
    TARE_RETURN_IF_ERROR(Unify(c, dtype, p.y));
    return RunBatchProduct(c, 0, p, shape);
  }

  static std::span<const int64_t> BatchDims(const Tensor& t) {
    return t.shape().dims().first(static_cast<size_t>(t.rank() - 2));
  }

  static Result<Shape> Batch(const Tensor& x, const Tensor& y) {
    const std::string sx = x.shape().ToString(), sy = y.shape().ToString();
    if (kBatches == Batches::kEqual && x.rank() != y.rank()) {
      return InvalidArgument("In[0] and In[1] has different ndims: {} vs. {}", sx, sy);
    }
    for (int i = 0; i < 2; ++i) {
      if ((i ? y : x).rank() < 2) return InvalidArgument("In[{}] ndims must be >= 2: {}", i, (i ? y : x).rank());
    }
    const Shape batch_x(BatchDims(x)), batch_y(BatchDims(y));
    if (kBatches == Batches::kEqual) {
      for (int i = 0; i < batch_x.rank(); ++i) {
        if (batch_x[i] != batch_y[i]) {
          return InvalidArgument("In[0].dim({}) and In[1].dim({}) must be the same: {} vs {}", i, i, sx, sy);
        }
      }
      return batch_x;
    }
    Result<Shape> both = BroadcastShape(batch_x, batch_y);
    if (!both.ok()) return InvalidArgument("In[0] and In[1] must have compatible batch dimensions: {} vs. {}", sx, sy);
    return both;
  }

  bool adj_x, adj_y;
  DType dtype;
};

constexpr KernelRow kRows[] = {
    Op<BatchMatMul<Batches::kEqual>>("BatchMatMul"),
    Op<BatchMatMul<Batches::kBroadcast>>("BatchMatMulV2"),
    Op<BatchMatMul<Batches::kBroadcast>>("BatchMatMulV3"),
    Op<MatMul>("MatMul"),
};

}  // namespace
extern constinit const KernelFamily kMatmulKernels = kRows;
}  // namespace tare
