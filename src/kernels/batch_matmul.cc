#include "kernels/batch_matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels/float_math.h"
#include "math/generic_gemm.h"

namespace tare {
namespace {

// Neighbours along the last batch dimensions that share y and follow each other in x and in the output are rows
// of one product: folds such dimensions into m.
void FoldBatch(BatchProduct& p) {
  while (p.batch.rank() > 0 && !p.turn_x) {
    const int d = p.batch.rank() - 1;
    const auto at = static_cast<size_t>(d);
    const bool folds = p.batch[d] == 1 || (p.y_at.steps[at] == 0 && p.x_at.steps[at] == p.m * p.x_at.stride &&
                                           p.out_at.steps[at] == p.m * p.out_at.stride);
    if (!folds) return;
    p.m *= p.batch[d];
    p.batch.Remove(d);
  }
}

Status FloatProducts(KernelCall& c, BatchProduct p, float* out) {
  FoldBatch(p);
  const int64_t batch = p.batch.num_elements();
  math::GemmProblem problem{p.m, p.n, p.k};
  problem.a = {p.x.data<float>(), p.x_at.stride, p.turn_x};
  problem.b = {p.y.data<float>(), p.y_at.stride, p.turn_y};
  problem.c = out;
  problem.c_stride = p.out_at.stride;
  problem.epilogue = p.epilogue;
  auto problem_of = [&](int64_t i) {
    math::GemmProblem one = problem;
    one.a.data += p.x_at.Offset(p.batch, i);
    one.b.data += p.y_at.Offset(p.batch, i);
    one.c += p.out_at.Offset(p.batch, i);
    return one;
  };
  const int threads = c.threads().threads();
  if (batch < threads || batch == 1) {
    for (int64_t i = 0; i < batch; ++i) TARE_RETURN_IF_ERROR(RunGemm(c, problem_of(i)));
    return OkStatus();
  }
  // Each part has scratch of its own and runs its products one after the other.
  const int64_t parts = std::min<int64_t>(batch, 2 * threads);
  const int64_t scratch_size = math::Gemm(problem, 1).scratch();
  Tensor scratch;
  float* space = nullptr;
  if (scratch_size > 0) {
    TARE_ASSIGN_OR_RETURN(scratch, c.Temp(DType::kFloat, Shape{parts * scratch_size}));
    space = scratch.mutable_data<float>();
  }
  const double nanos = 2.0 * static_cast<double>(p.m * p.n) * static_cast<double>(p.k) / 50 + 50;
  const double cost = nanos * static_cast<double>(batch) / static_cast<double>(parts);
  c.threads().ParallelFor(parts, static_cast<int64_t>(std::min(cost, 1e12)), [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      for (int64_t i = batch * part / parts; i < batch * (part + 1) / parts; ++i) {
        math::Gemm(problem_of(i), 1).RunHere(space ? space + part * scratch_size : nullptr);
      }
    }
  });
  return OkStatus();
}

template <class T>
Status OtherProducts(KernelCall& c, const BatchProduct& p, T* out) {
  const int64_t batch = p.batch.num_elements();
  const double cost = static_cast<double>(p.n) * static_cast<double>(p.k);
  c.threads().ParallelFor(batch * p.m, static_cast<int64_t>(std::min(cost, 1e12)), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t i = begin / p.m, row = begin % p.m, stop = std::min(p.m, row + end - begin);
      const math::StridedMatrix<T> a{p.x.data<T>() + p.x_at.Offset(p.batch, i), p.turn_x ? 1 : p.x_at.stride,
                                     p.turn_x ? p.x_at.stride : 1};
      const math::StridedMatrix<T> b{p.y.data<T>() + p.y_at.Offset(p.batch, i), p.turn_y ? 1 : p.y_at.stride,
                                     p.turn_y ? p.y_at.stride : 1};
      math::GenericGemmRows(row, stop, p.n, p.k, a, b, out + p.out_at.Offset(p.batch, i), p.out_at.stride);
      begin += stop - row;
    }
  });
  return OkStatus();
}

template <class T>
Result<Tensor> Conjugated(KernelCall& c, const Tensor& t) {
  TARE_ASSIGN_OR_RETURN(Tensor to, c.Temp(t.dtype(), t.shape()));
  const T* from = t.data<T>();
  std::ranges::transform(from, from + t.num_elements(), to.mutable_data<T>(), [](T z) { return std::conj(z); });
  return to;
}

Status Conjugate(KernelCall& c, Tensor& t) {
  if (t.dtype() == DType::kComplex64) {
    TARE_ASSIGN_OR_RETURN(t, Conjugated<std::complex<float>>(c, t));
  } else if (t.dtype() == DType::kComplex128) {
    TARE_ASSIGN_OR_RETURN(t, Conjugated<std::complex<double>>(c, t));
  }
  return OkStatus();
}

Result<BatchProduct> Widened(KernelCall& c, const BatchProduct& product) {
  BatchProduct wide = product;
  TARE_ASSIGN_OR_RETURN(wide.x, ToFloat(c, product.x));
  TARE_ASSIGN_OR_RETURN(wide.y, ToFloat(c, product.y));
  return wide;
}

}  // namespace

MatrixLayout MatrixLayout::Dense(const Shape& batch, std::span<const int64_t> dims, int64_t columns, int64_t size) {
  MatrixLayout at;
  at.stride = columns;
  int64_t step = size;
  for (int d = batch.rank() - 1, e = static_cast<int>(dims.size()) - 1; e >= 0; --d, --e) {
    const auto from = static_cast<size_t>(e);
    at.steps[static_cast<size_t>(d)] = dims[from] == 1 ? 0 : step;
    step *= dims[from];
  }
  return at;
}

int64_t MatrixLayout::Offset(const Shape& batch, int64_t i) const {
  int64_t offset = 0;
  for (int d = batch.rank() - 1; d >= 0; --d) {
    offset += i % batch[d] * steps[static_cast<size_t>(d)];
    i /= batch[d];
  }
  return offset;
}

Status RunBatchProductInto(KernelCall& c, const BatchProduct& product, Tensor& out) {
  BatchProduct p = product;
  if (out.num_elements() == 0) return OkStatus();
  if (out.dtype() == DType::kFloat) return FloatProducts(c, p, out.mutable_data<float>());
  if (p.k == 0) {
    std::memset(out.mutable_raw(), 0, out.bytes());
    return OkStatus();
  }
  if (p.conjugate_x) TARE_RETURN_IF_ERROR(Conjugate(c, p.x));
  if (p.conjugate_y) TARE_RETURN_IF_ERROR(Conjugate(c, p.y));
  return ForType(Join<Types<double>, Join<Integers, Complexes>>{}, out.dtype(),
                 [&]<class T>() { return OtherProducts(c, p, out.mutable_data<T>()); });
}

Status RunBatchProduct(KernelCall& c, int output, const BatchProduct& product, const Shape& shape) {
  const DType dtype = product.x.dtype();
  if (!IsNarrowFloat(dtype)) {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(output, dtype, shape));
    return RunBatchProductInto(c, product, *out);
  }
  TARE_ASSIGN_OR_RETURN(BatchProduct wide, Widened(c, product));
  TARE_ASSIGN_OR_RETURN(Tensor sum, MakeBatchProduct(c, wide, shape));
  return SetRounded(c, output, dtype, std::move(sum));
}

Result<Tensor> MakeBatchProduct(KernelCall& c, const BatchProduct& product, const Shape& shape) {
  TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(product.x.dtype(), shape));
  TARE_RETURN_IF_ERROR(RunBatchProductInto(c, product, out));
  return out;
}

}  // namespace tare
