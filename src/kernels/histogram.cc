// Counting values into bins.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/registry.h"

namespace tare {
namespace {

using BinTypes = Types<int32_t, int64_t, float, double>;

Result<int64_t> BinCount(const Tensor& size) {
  if (size.num_elements() != 1 || size.rank() != 0) {
    return InvalidArgument("Shape must be rank 0 but is rank {}", size.rank());
  }
  int64_t space;
  TARE_ASSIGN_OR_RETURN(auto values, IntValues(size, {&space, 1}));
  if (values[0] < 0) return InvalidArgument("size ({}) must be non-negative", values[0]);
  return values[0];
}

// Counts `n` values, or sums their weights, into `size` bins; values beyond the bins do not count.
template <class T>
void CountInto(const int64_t* values, const T* weights, int64_t n, bool binary, T* bins, int64_t size) {
  for (int64_t i = 0; i < n; ++i) {
    if (values[i] >= size) continue;
    T& bin = bins[values[i]];
    if (binary) bin = T(1);
    else bin = static_cast<T>(bin + (weights ? weights[i] : T(1)));
  }
}

// Rows of `row` values each into a row of bins each.
Status Count(KernelCall& c, int64_t row, const Shape& shape, bool binary) {
  const Tensor &values = c.input(0), &weights = c.input(2);
  std::vector<int64_t> space(values.num_elements());
  TARE_ASSIGN_OR_RETURN(auto in, IntValues(values, space));
  if (auto bad = std::ranges::find_if(in, [](int64_t v) { return v < 0; }); bad != in.end()) {
    if (shape.rank() < 2) return InvalidArgument("Input arr must be non-negative!");
    return InvalidArgument("Input 'in' must be non-negative! Negative input value found: {}", *bad);
  }
  int64_t size = shape[shape.rank() - 1];
  return ForType(BinTypes{}, weights.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, weights.dtype(), shape));
    std::ranges::fill(out->mut<T>(), T(0));
    const T* w = weights.num_elements() ? weights.data<T>() : nullptr;
    T* bins = out->mutable_data<T>();
    for (size_t i = 0; row > 0 && i < in.size(); i += row, bins += size) {
      CountInto(in.data() + i, w ? w + i : nullptr, row, binary, bins, size);
    }
    return OkStatus();
  });
}

Status Bincount(KernelCall& c) {
  const Tensor &values = c.input(0), &weights = c.input(2);
  TARE_ASSIGN_OR_RETURN(int64_t size, BinCount(c.input(1)));
  if (weights.num_elements() > 0 && weights.num_elements() != values.num_elements()) {
    return InvalidArgument("Input indices and weights must have the same size.");
  }
  return Count(c, values.num_elements(), Shape{size}, false);
}

struct DenseBincount {
  explicit DenseBincount(AttrReader& a) : binary(a.Bool("binary_output")) {}
  Status Run(KernelCall& c) const {
    const Tensor &values = c.input(0), &weights = c.input(2);
    if (values.rank() > 2) return InvalidArgument("Shape must be at most rank 2 but is rank {}", values.rank());
    TARE_ASSIGN_OR_RETURN(int64_t size, BinCount(c.input(1)));
    if (weights.shape() != values.shape() && weights.num_elements() != 0) {
      return InvalidArgument("`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
                             "acts as all weights equal to 1. Received {}", weights.shape().ToString());
    }
    if (values.rank() < 2) return Count(c, values.num_elements(), Shape{size}, binary);
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{values.dim(0), size}));
    return Count(c, values.dim(1), shape, binary);
  }
  bool binary;
};

struct Bucketize {
  explicit Bucketize(AttrReader& a) : boundaries(a.Floats("boundaries")) {
    if (!std::ranges::is_sorted(boundaries)) a.Fail(InvalidArgument("Expected sorted boundaries"));
  }
  Status Run(KernelCall& c) const {
    const Tensor& x = c.input(0);
    return ForType(BinTypes{}, x.dtype(), [&]<class T>() -> Status {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt32, x.shape()));
      int32_t* to = out->mutable_data<int32_t>();
      for (T v : x.as<T>()) {
        auto above = std::upper_bound(boundaries.begin(), boundaries.end(), v,
                                      [](T value, float boundary) { return value < static_cast<double>(boundary); });
        *to++ = static_cast<int32_t>(above - boundaries.begin());
      }
      return OkStatus();
    });
  }
  std::vector<float> boundaries;
};

template <class T>
Status CheckRange(const Tensor& range) {
  if (range.rank() != 1) return InvalidArgument("value_range should be a vector.");
  if (range.dim(0) != 2) return InvalidArgument("value_range should be a vector of 2 elements.");
  T low = range.data<T>()[0], high = range.data<T>()[1];
  if (!(low < high)) {
    return InvalidArgument("value_range should satisfy value_range[0] < value_range[1], but got '[{}, {}]'", low,
                           high);
  }
  return OkStatus();
}

struct HistogramFixedWidth {
  explicit HistogramFixedWidth(AttrReader& a) : dtype(a.Type("dtype")) {}
  Status Run(KernelCall& c) const {
    const Tensor &x = c.input(0), &range = c.input(1), &nbins = c.input(2);
    if (nbins.rank() != 0) return InvalidArgument("nbins should be a scalar.");
    int64_t n = nbins.scalar<int32_t>();
    if (n <= 0) return InvalidArgument("nbins should be a positive number, but got '{}'", n);
    return ForType(BinTypes{}, x.dtype(), [&]<class T>() -> Status {
      TARE_RETURN_IF_ERROR(CheckRange<T>(range));
      return CountBins<T>(c, x, range, n);
    });
  }

  template <class T>
  Status CountBins(KernelCall& c, const Tensor& x, const Tensor& range, int64_t n) const {
    double low = static_cast<double>(range.data<T>()[0]), high = static_cast<double>(range.data<T>()[1]);
    double step = (high - low) / static_cast<double>(n);
    return ForType(Indexes{}, dtype, [&]<class I>() -> Status {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, Shape{n}));
      auto bins = out->mut<I>();
      std::ranges::fill(bins, I(0));
      for (T v : x.as<T>()) {
        if (std::isnan(static_cast<double>(v))) return InvalidArgument("Histogram values must not contain NaN");
        double clamped = std::clamp(static_cast<double>(v), low, high);
        double bin = (clamped - low) / step;
        // The top edge belongs to the last bin; so does what overflows.
        ++bins[bin < static_cast<double>(n) ? static_cast<int64_t>(bin) : n - 1];
      }
      return OkStatus();
    });
  }
  DType dtype;
};

constexpr KernelRow kRows[] = {
    Op<Bincount>("Bincount"),
    Op<Bucketize>("Bucketize"),
    Op<DenseBincount>("DenseBincount"),
    Op<HistogramFixedWidth>("HistogramFixedWidth"),
};

}  // namespace
extern constinit const KernelFamily kHistogramKernels = kRows;
}  // namespace tare
