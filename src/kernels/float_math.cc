#include "kernels/float_math.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "math/transpose.h"

namespace tare {
namespace {

template <class From, class To>
void Convert(KernelCall& c, const Tensor& from, Tensor& to) {
  const From* f = from.data<From>();
  To* t = to.mutable_data<To>();
  c.threads().ParallelFor(from.num_elements(), 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) t[i] = static_cast<To>(f[i]);
  });
}

template <class T>
void PermuteElements(const T* from, T* to, const Shape& shape, std::span<const int64_t> strides) {
  const int rank = shape.rank();
  const int64_t inner = shape[rank - 1], stride = strides[rank - 1], rows = shape.product(0, rank - 1);
  std::array<int64_t, kMaxRank> at{};
  const T* base = from;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < inner; ++i) *to++ = base[i * stride];
    for (int d = rank - 2; d >= 0; --d) {
      base += strides[d];
      if (++at[d] < shape[d]) break;
      base -= at[d] * strides[d];
      at[d] = 0;
    }
  }
}

}  // namespace

Status RunGemm(KernelCall& c, const math::GemmProblem& problem) {
  math::Gemm gemm(problem, c.threads().threads());
  Tensor scratch;
  if (gemm.scratch() > 0) {
    TARE_ASSIGN_OR_RETURN(scratch, c.Temp(DType::kFloat, Shape{gemm.scratch()}));
  }
  gemm.Run(c.threads(), gemm.scratch() > 0 ? scratch.mutable_data<float>() : nullptr);
  return OkStatus();
}

Result<Tensor> ToFloat(KernelCall& c, const Tensor& t) {
  if (t.dtype() == DType::kFloat) return t;
  TARE_ASSIGN_OR_RETURN(Tensor wide, c.Temp(DType::kFloat, t.shape()));
  if (t.dtype() == DType::kHalf) Convert<Half, float>(c, t, wide);
  else if (t.dtype() == DType::kBfloat16) Convert<BFloat16, float>(c, t, wide);
  else return Unimplemented("no float kernel for dtype {}", DTypeName(t.dtype()));
  return wide;
}

Status SetRounded(KernelCall& c, int i, DType dtype, Tensor t) {
  if (dtype == DType::kFloat) {
    c.SetOutput(i, std::move(t));
    return OkStatus();
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(i, dtype, t.shape()));
  if (dtype == DType::kHalf) Convert<float, Half>(c, t, *out);
  else Convert<float, BFloat16>(c, t, *out);
  return OkStatus();
}

Result<Tensor> Permuted(KernelCall& c, const Tensor& from, std::span<const int> order) {
  const int rank = from.rank();
  bool same = true;
  for (int i = 0; i < rank; ++i) same = same && order[i] == i;
  if (same) return from;
  std::array<int64_t, kMaxRank> from_strides, strides;
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    from_strides[i] = step;
    step *= from.dim(i);
  }
  Shape shape = from.shape();
  for (int i = 0; i < rank; ++i) {
    shape.set_dim(i, from.dim(order[i]));
    strides[i] = from_strides[order[i]];
  }
  TARE_ASSIGN_OR_RETURN(Tensor to, c.Temp(from.dtype(), shape));
  if (from.num_elements() == 0) return to;
  if (!IsPlain(from.dtype())) return Unimplemented("no kernel for dtype {}", DTypeName(from.dtype()));
  TARE_RETURN_IF_ERROR(ForSize(from.dtype(), [&]<class T>() {
    PermuteElements(static_cast<const T*>(from.raw()), static_cast<T*>(to.mutable_raw()), shape,
                    std::span<const int64_t>(strides.data(), static_cast<size_t>(rank)));
    return OkStatus();
  }));
  return to;
}

namespace {

// [batch, rows, columns] to [batch, columns, rows].
Result<Tensor> TurnedInside(KernelCall& c, const Tensor& t, int64_t batch, int64_t rows, int64_t columns,
                            const Shape& shape) {
  if (t.dtype() == DType::kFloat) {
    TARE_ASSIGN_OR_RETURN(Tensor to, c.Temp(DType::kFloat, shape));
    const float* src = t.data<float>();
    float* dst = to.mutable_data<float>();
    c.threads().ParallelFor(batch, rows * columns, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t at = b * rows * columns;
        math::TransposeFloats(src + at, columns, rows, columns, dst + at, rows);
      }
    });
    return to;
  }
  const int order[] = {0, 2, 1};
  TARE_ASSIGN_OR_RETURN(Tensor to, Permuted(c, t.Reshaped(Shape{batch, rows, columns}), order));
  return to.Reshaped(shape);
}

}  // namespace

Result<Tensor> ChannelsLast(KernelCall& c, const Tensor& t) {
  Shape shape = t.shape();
  const int64_t channels = shape[1];
  shape.Remove(1);
  shape.Append(channels);
  return TurnedInside(c, t, t.dim(0), channels, t.shape().product(2, t.rank()), shape);
}

Result<Tensor> ChannelsSecond(KernelCall& c, const Tensor& t) {
  Shape shape = t.shape();
  const int last = t.rank() - 1;
  const int64_t channels = shape[last];
  shape.Remove(last);
  shape.Insert(1, channels);
  return TurnedInside(c, t, t.dim(0), t.shape().product(1, last), channels, shape);
}

}  // namespace tare
