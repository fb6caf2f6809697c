#include "kernels/batch_matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels/float_math.h"
#include "math/generic_gemm.h"

namespace tare {
namespace {

// Which matrix of a tensor with batch dimensions `in` belongs to the i-th of the broadcast batch `out`.
int64_t BroadcastIndex(const Shape& out, std::span<const int64_t> in, int64_t i) {
  int64_t index = 0, step = 1;
  for (int d = out.rank() - 1, e = static_cast<int>(in.size()) - 1; e >= 0; --d, --e) {
    if (in[e] != 1) index += i % out[d] * step;
    i /= out[d];
    step *= in[e];
  }
  return index;
}

std::span<const int64_t> BatchDims(const Tensor& t) {
  return t.shape().dims().first(static_cast<size_t>(t.rank() - 2));
}

Status FloatProducts(KernelCall& c, const BatchProduct& p, float* out) {
  int64_t batch = p.batch.num_elements();
  const int64_t x_size = p.m * p.k, y_size = p.k * p.n;
  math::GemmProblem problem{p.m, p.n, p.k};
  problem.a = {p.x.data<float>(), p.turn_x ? p.m : p.k, p.turn_x};
  problem.b = {p.y.data<float>(), p.turn_y ? p.k : p.n, p.turn_y};
  problem.c = out;
  problem.c_stride = p.n;
  // One y for all x: the rows of all batches are rows of one product.
  if (y_size == p.y.num_elements() && !p.turn_x && p.x.num_elements() == batch * x_size) {
    problem.m *= batch;
    batch = 1;
  }
  if (batch == 1) return RunGemm(c, problem);
  const int threads = c.threads().threads();
  auto problem_of = [&](int64_t i) {
    math::GemmProblem one = problem;
    one.a.data += BroadcastIndex(p.batch, BatchDims(p.x), i) * x_size;
    one.b.data += BroadcastIndex(p.batch, BatchDims(p.y), i) * y_size;
    one.c += i * p.m * p.n;
    return one;
  };
  if (batch < threads) {
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
  const double nanos = 2.0 * static_cast<double>(x_size) * static_cast<double>(p.n) / 50 + 50;
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
  const T* x = p.x.data<T>();
  const T* y = p.y.data<T>();
  const double cost = static_cast<double>(p.n) * static_cast<double>(p.k);
  c.threads().ParallelFor(batch * p.m, static_cast<int64_t>(std::min(cost, 1e12)), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t i = begin / p.m, row = begin % p.m, stop = std::min(p.m, row + end - begin);
      const math::StridedMatrix<T> a{x + BroadcastIndex(p.batch, BatchDims(p.x), i) * p.m * p.k,
                                     p.turn_x ? 1 : p.k, p.turn_x ? p.m : 1};
      const math::StridedMatrix<T> b{y + BroadcastIndex(p.batch, BatchDims(p.y), i) * p.k * p.n,
                                     p.turn_y ? 1 : p.n, p.turn_y ? p.k : 1};
      math::GenericGemmRows(row, stop, p.n, p.k, a, b, out + i * p.m * p.n, p.n);
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

// Everything but the narrow floats.
Status Compute(KernelCall& c, BatchProduct p, Tensor& out) {
  if (out.num_elements() == 0) return OkStatus();
  if (p.k == 0) {
    std::memset(out.mutable_raw(), 0, out.bytes());
    return OkStatus();
  }
  if (out.dtype() == DType::kFloat) return FloatProducts(c, p, out.mutable_data<float>());
  if (p.conjugate_x) TARE_RETURN_IF_ERROR(Conjugate(c, p.x));
  if (p.conjugate_y) TARE_RETURN_IF_ERROR(Conjugate(c, p.y));
  return ForType(Join<Types<double>, Join<Integers, Complexes>>{}, out.dtype(),
                 [&]<class T>() { return OtherProducts(c, p, out.mutable_data<T>()); });
}

Result<BatchProduct> Widened(KernelCall& c, const BatchProduct& product) {
  BatchProduct wide = product;
  TARE_ASSIGN_OR_RETURN(wide.x, ToFloat(c, product.x));
  TARE_ASSIGN_OR_RETURN(wide.y, ToFloat(c, product.y));
  return wide;
}

}  // namespace

Status RunBatchProduct(KernelCall& c, int output, const BatchProduct& product, const Shape& shape) {
  const DType dtype = product.x.dtype();
  if (!IsNarrowFloat(dtype)) {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(output, dtype, shape));
    return Compute(c, product, *out);
  }
  TARE_ASSIGN_OR_RETURN(BatchProduct wide, Widened(c, product));
  TARE_ASSIGN_OR_RETURN(Tensor sum, MakeBatchProduct(c, wide, shape));
  return SetRounded(c, output, dtype, std::move(sum));
}

Result<Tensor> MakeBatchProduct(KernelCall& c, const BatchProduct& product, const Shape& shape) {
  TARE_ASSIGN_OR_RETURN(Tensor out, c.Temp(product.x.dtype(), shape));
  TARE_RETURN_IF_ERROR(Compute(c, product, out));
  return out;
}

}  // namespace tare
