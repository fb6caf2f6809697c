// Discrete Fourier transforms of one, two and three dimensions, over the innermost dimensions of a batch.
//
// Computed in double: y[k] = sum over n of x[n] exp(-2 pi i k n / N); the inverse has the other sign and
// divides by N. A length whose prime factors are small is kissfft's; any other is Bluestein's convolution
// of a power of two, so that a large prime length costs N log N too.
#include <bit>
#include <complex>
#include <kissfft/kissfft.hh>
#include <numbers>
#include <optional>
#include <vector>

#include "kernels/registry.h"

namespace tare {
namespace {

using Value = std::complex<double>;

int64_t LargestPrimeFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return n > 1 ? n : largest;
}

// Transforms of one length, without the division. Not to be shared by threads.
class Transform {
 public:
  Transform(int64_t n, bool inverse) : n_(static_cast<size_t>(n)) {
    constexpr int64_t kDirect = 32;  // a factor p costs p operations a value
    if (LargestPrimeFactor(n) <= kDirect) {
      direct_.emplace(n_, inverse);
      out_.resize(n_);
      return;
    }
    const size_t wide = std::bit_ceil(2 * n_ - 1);
    direct_.emplace(wide, false);
    back_.emplace(wide, true);
    chirp_.resize(n_);
    for (size_t k = 0; k < n_; ++k) {
      const double turn = static_cast<double>(k * k % (2 * n_)) / static_cast<double>(n_);
      chirp_[k] = std::polar(1.0, (inverse ? 1 : -1) * std::numbers::pi * turn);
    }
    line_.assign(wide, 0);
    for (size_t k = 0; k < n_; ++k) line_[k] = line_[(wide - k) % wide] = std::conj(chirp_[k]);
    filter_.resize(wide);
    direct_->transform(line_.data(), filter_.data());
    out_.resize(wide);
  }

  // `line` [n], in place.
  void Run(Value* line) {
    if (!back_) {
      direct_->transform(line, out_.data());
      std::copy_n(out_.data(), n_, line);
      return;
    }
    std::ranges::fill(line_, 0);
    for (size_t k = 0; k < n_; ++k) line_[k] = line[k] * chirp_[k];
    direct_->transform(line_.data(), out_.data());
    for (size_t k = 0; k < out_.size(); ++k) out_[k] *= filter_[k];
    back_->transform(out_.data(), line_.data());
    const double scale = 1.0 / static_cast<double>(out_.size());
    for (size_t k = 0; k < n_; ++k) line[k] = line_[k] * chirp_[k] * scale;
  }

 private:
  size_t n_;
  std::optional<kissfft<double>> direct_, back_;
  std::vector<Value> chirp_, filter_, line_, out_;  // all but out_ for Bluestein alone
};

// Transforms every line along `axis` of `data`, an array of `shape`, in place.
void TransformAxis(ThreadPool& pool, Value* data, const Shape& shape, int axis, bool inverse) {
  const int64_t n = shape.dim(axis);
  int64_t stride = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) stride *= shape.dim(d);
  const int64_t lines = shape.num_elements() / n;
  const double scale = inverse ? 1.0 / static_cast<double>(n) : 1;
  pool.ParallelFor(lines, n * (std::bit_width(static_cast<uint64_t>(n)) + 1) * 4, [&](int64_t begin, int64_t end) {
    Transform transform(n, inverse);
    std::vector<Value> line(static_cast<size_t>(n));
    for (int64_t i = begin; i < end; ++i) {
      Value* at = data + i / stride * stride * n + i % stride;
      for (int64_t k = 0; k < n; ++k) line[static_cast<size_t>(k)] = at[k * stride];
      transform.Run(line.data());
      for (int64_t k = 0; k < n; ++k) at[k * stride] = line[static_cast<size_t>(k)] * scale;
    }
  });
}

Status CheckRank(const Tensor& x, int rank) {
  if (x.rank() >= rank) return OkStatus();
  return InvalidArgument("Input must have rank of at least {} but got: {}", rank, x.shape().ToString());
}

// Calls fn(from, to) for the first element of each line of the innermost dimension of `part`, a corner of the
// arrays `x` and `y` over their last `rank` dimensions: offsets in both. The dimensions before are those of `part`.
template <class F>
void ForLines(const Shape& x, const Shape& y, const Shape& part, F&& fn) {
  const int last = part.rank() - 1;
  const int64_t lines = part.dim(last) == 0 ? 0 : part.num_elements() / part.dim(last);
  for (int64_t i = 0; i < lines; ++i) {
    int64_t from = 0, to = 0, rest = i, x_size = x.dim(last), y_size = y.dim(last);
    for (int d = last - 1; d >= 0; --d) {
      const int64_t at = rest % part.dim(d);
      rest /= part.dim(d);
      from += at * x_size;
      to += at * y_size;
      x_size *= x.dim(d);
      y_size *= y.dim(d);
    }
    fn(from, to);
  }
}

template <int kRank, bool kInverse>
Status ComplexToComplex(KernelCall& c) {
  const Tensor& x = c.input(0);
  TARE_RETURN_IF_ERROR(CheckRank(x, kRank));
  return ForType(Complexes{}, x.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), x.shape()));
    if (x.num_elements() == 0) return OkStatus();
    TARE_ASSIGN_OR_RETURN(Tensor work, c.Temp(DType::kComplex128, x.shape()));
    Value* data = work.mutable_data<Value>();
    std::ranges::copy(x.as<T>(), data);
    for (int axis = x.rank() - kRank; axis < x.rank(); ++axis) {
      TransformAxis(c.threads(), data, x.shape(), axis, kInverse);
    }
    std::transform(data, data + x.num_elements(), out->mutable_data<T>(), [](Value v) { return static_cast<T>(v); });
    return OkStatus();
  });
}

// The lengths in input 1, checked against the dimensions they replace. `half`: of the innermost dimension of
// input 0 only length / 2 + 1 values are needed, since the spectrum of real values is symmetric.
Result<std::vector<int64_t>> Lengths(const KernelCall& c, int rank, bool half) {
  const Tensor &x = c.input(0), &lengths = c.input(1);
  TARE_RETURN_IF_ERROR(CheckRank(x, rank));
  if (lengths.rank() != 1 || lengths.dim(0) != rank) return InvalidArgument("fft_length must have shape [{}]", rank);
  std::vector<int64_t> n;
  for (int i = 0; i < rank; ++i) {
    const int64_t length = lengths.data<int32_t>()[i];
    if (length < 0) return InvalidArgument("fft_length[{}] must >= 0, but got: {}", i, length);
    const int64_t least = half && i == rank - 1 ? length / 2 + 1 : length, have = x.dim(x.rank() - rank + i);
    if (have != 0 && have < least) {
      return InvalidArgument("Input dimension {} must have length of at least {} but got: {}", x.rank() - rank + i, least, have);
    }
    n.push_back(length);
  }
  return n;
}

// `shape` with its last dimensions replaced.
Result<Shape> WithLast(const Shape& shape, std::span<const int64_t> last) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  std::ranges::copy(last, dims.end() - static_cast<std::ptrdiff_t>(last.size()));
  return Shape::Make(dims);
}

template <int kRank>
Status RealToComplex(KernelCall& c) {
  const Tensor& x = c.input(0);
  TARE_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, Lengths(c, kRank, false));
  TARE_ASSIGN_OR_RETURN(Shape full, WithLast(x.shape(), lengths));
  lengths.back() = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  TARE_ASSIGN_OR_RETURN(Shape half, WithLast(x.shape(), lengths));
  return ForType(Types<float, double>{}, x.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DTypeOf<std::complex<T>>::value, half));
    auto* to = out->mutable_data<std::complex<T>>();
    std::fill_n(to, half.num_elements(), std::complex<T>());
    if (x.num_elements() == 0 || full.num_elements() == 0) return OkStatus();
    TARE_ASSIGN_OR_RETURN(Tensor work, c.Temp(DType::kComplex128, full));
    Value* data = work.mutable_data<Value>();
    const int64_t n = full.dim(full.rank() - 1), kept = half.dim(half.rank() - 1);
    ForLines(x.shape(), full, full, [&](int64_t a, int64_t b) { std::copy_n(x.data<T>() + a, n, data + b); });
    for (int axis = full.rank() - kRank; axis < full.rank(); ++axis) {
      TransformAxis(c.threads(), data, full, axis, false);
    }
    ForLines(full, half, half, [&](int64_t a, int64_t b) {
      for (int64_t k = 0; k < kept; ++k) to[b + k] = static_cast<std::complex<T>>(data[a + k]);
    });
    return OkStatus();
  });
}

template <int kRank>
Status ComplexToReal(KernelCall& c) {
  const Tensor& x = c.input(0);
  TARE_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, Lengths(c, kRank, true));
  TARE_ASSIGN_OR_RETURN(Shape full, WithLast(x.shape(), lengths));
  lengths.back() = lengths.back() / 2 + 1;
  TARE_ASSIGN_OR_RETURN(Shape half, WithLast(x.shape(), lengths));
  return ForType(Complexes{}, x.dtype(), [&]<class T>() -> Status {
    using R = typename T::value_type;
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DTypeOf<R>::value, full));
    R* to = out->mutable_data<R>();
    std::fill_n(to, full.num_elements(), R());
    if (x.num_elements() == 0 || full.num_elements() == 0) return OkStatus();
    TARE_ASSIGN_OR_RETURN(Tensor work, c.Temp(DType::kComplex128, half));
    Value* data = work.mutable_data<Value>();
    const int64_t n = full.dim(full.rank() - 1), kept = half.dim(half.rank() - 1);
    ForLines(x.shape(), half, half, [&](int64_t a, int64_t b) { std::copy_n(x.data<T>() + a, kept, data + b); });
    for (int axis = half.rank() - kRank; axis + 1 < half.rank(); ++axis) {
      TransformAxis(c.threads(), data, half, axis, true);
    }
    // What no real signal has is left out: parts of the mean and of the highest frequency that are not real.
    TARE_ASSIGN_OR_RETURN(Tensor spectrum, c.Temp(DType::kComplex128, full));
    Value* whole = spectrum.mutable_data<Value>();
    ForLines(half, full, full, [&](int64_t a, int64_t b) {
      for (int64_t k = 0; k < n; ++k) whole[b + k] = k < kept ? data[a + k] : std::conj(data[a + n - k]);
      whole[b] = whole[b].real();
      if (n % 2 == 0) whole[b + n / 2] = whole[b + n / 2].real();
    });
    TransformAxis(c.threads(), whole, full, full.rank() - 1, true);
    std::transform(whole, whole + full.num_elements(), to, [](Value v) { return static_cast<R>(v.real()); });
    return OkStatus();
  });
}

constexpr KernelRow kRows[] = {
    Op<ComplexToComplex<1, false>>("FFT"),        Op<ComplexToComplex<2, false>>("FFT2D"),
    Op<ComplexToComplex<3, false>>("FFT3D"),      Op<ComplexToComplex<1, true>>("IFFT"),
    Op<ComplexToComplex<2, true>>("IFFT2D"),      Op<ComplexToComplex<3, true>>("IFFT3D"),
    Op<ComplexToComplex<1, false>>("BatchFFT"),   Op<ComplexToComplex<2, false>>("BatchFFT2D"),
    Op<ComplexToComplex<3, false>>("BatchFFT3D"), Op<ComplexToComplex<1, true>>("BatchIFFT"),
    Op<ComplexToComplex<2, true>>("BatchIFFT2D"), Op<ComplexToComplex<3, true>>("BatchIFFT3D"),
    Op<RealToComplex<1>>("RFFT"),                 Op<RealToComplex<2>>("RFFT2D"),
    Op<RealToComplex<3>>("RFFT3D"),               Op<ComplexToReal<1>>("IRFFT"),
    Op<ComplexToReal<2>>("IRFFT2D"),              Op<ComplexToReal<3>>("IRFFT3D"),
};

}  // namespace
extern constinit const KernelFamily kFftKernels = kRows;
}  // namespace tare
