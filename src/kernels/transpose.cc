// Dimensions in another order.
#include "kernels/registry.h"
#include "kernels/strided_copy.h"

namespace tare {
namespace {

// perm as dimensions of x, each once.
Result<std::array<int, kMaxRank>> ReadPerm(const Tensor& perm, int rank) {
  if (perm.rank() != 1) return InvalidArgument("perm must be rank 1, got shape {}", perm.shape().ToString());
  if (perm.num_elements() != rank) {
    return InvalidArgument("transpose expects a vector of size {}. But input(1) is a vector of size {}", rank,
                           perm.num_elements());
  }
  Ints given(perm);
  std::array<int, kMaxRank> dims{};
  unsigned seen = 0;
  for (int i = 0; i < rank; ++i) {
    int64_t d = given[i] < 0 ? given[i] + rank : given[i];
    if (d < 0 || d >= rank) return InvalidArgument("{} is out of range [0 .. {})", given[i], rank);
    dims[i] = static_cast<int>(d);
    seen |= 1u << d;
  }
  for (int i = 0; i < rank; ++i) {
    if (!(seen >> i & 1)) return InvalidArgument("{} is missing from {{{}}}.", i, fmt::join(given, ","));
  }
  return dims;
}

// Whether only dimensions of one element change places, so that the bytes stay as they are.
bool KeepsOrder(const Shape& in, std::span<const int> perm) {
  int last = -1;
  for (int d : perm) {
    if (in[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

template <class T>
void ConjugateAll(std::span<std::complex<T>> values) {
  for (auto& v : values) v = std::conj(v);
}

template <bool kConjugate>
Status Transpose(KernelCall& c) {
  const Tensor in = c.input(0);
  TARE_ASSIGN_OR_RETURN(const auto dims, ReadPerm(c.input(1), in.rank()));
  std::span<const int> perm(dims.data(), static_cast<size_t>(in.rank()));
  const bool conjugate = kConjugate && (in.dtype() == DType::kComplex64 || in.dtype() == DType::kComplex128);
  Shape shape;
  for (int d : perm) shape.Append(in.dim(d));
  if (!conjugate && KeepsOrder(in.shape(), perm)) {
    c.SetOutput(0, in.Reshaped(shape));
    return OkStatus();
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, in.dtype(), shape));
  const auto from = StridesOf(in.shape()), to = StridesOf(shape);
  CopyAxes axes;
  for (int i = 0; i < shape.rank(); ++i) axes.Add(shape[i], from[perm[i]], to[i]);
  StridedCopy(c.threads(), in.dtype(), in.raw(), out->mutable_raw(), axes);
  if (conjugate && in.dtype() == DType::kComplex64) ConjugateAll(out->mut<std::complex<float>>());
  if (conjugate && in.dtype() == DType::kComplex128) ConjugateAll(out->mut<std::complex<double>>());
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<Transpose<true>>("ConjugateTranspose"),
    Op<Transpose<false>>("Transpose"),
};

}  // namespace
extern constinit const KernelFamily kTransposeKernels = kRows;
}  // namespace tare
