// Random choices and samples of parameterised distributions: shuffles, multinomial, gamma, Poisson.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/random_source.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// Rows in the order that Fisher and Yates' shuffle gives with the generator's words.
Status ShuffleRows(KernelCall& c, Philox g) {
  const Tensor& value = c.input(0);
  std::vector<int64_t> order(static_cast<size_t>(value.dim(0)));
  std::iota(order.begin(), order.end(), 0);
  Words words(g);
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + words() % static_cast<uint32_t>(order.size() - i)]);
  }
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, value.dtype(), value.shape()));
  const auto row = static_cast<size_t>(value.shape().product(1, value.rank()));
  const size_t bytes = row * DTypeSize(value.dtype());
  for (size_t i = 0; i < order.size(); ++i) {
    CopyElements(value.dtype(),
                 static_cast<const std::byte*>(value.raw()) + static_cast<size_t>(order[i]) * bytes,
                 static_cast<std::byte*>(out->mutable_raw()) + i * bytes, row);
  }
  return OkStatus();
}

bool NothingToShuffle(KernelCall& c) {
  const Tensor& value = c.input(0);
  if (value.num_elements() > 1 && value.rank() > 0 && value.dim(0) > 1) return false;
  c.SetOutput(0, value);
  return true;
}

Status CheckRows(const Tensor& value) {
  if (value.dim(0) <= std::numeric_limits<uint32_t>::max()) return OkStatus();
  return InvalidArgument("too many rows to shuffle: {}", value.dim(0));
}

struct RandomShuffle {
  explicit RandomShuffle(AttrReader& a) : source(a) {}
  Status Run(KernelCall& c) const {
    if (NothingToShuffle(c)) return OkStatus();
    TARE_RETURN_IF_ERROR(CheckRows(c.input(0)));
    return ShuffleRows(c, source.Reserve(c, static_cast<uint64_t>(c.input(0).dim(0) + 2) / 4));
  }
  StatefulSource source;
};

Status StatelessShuffle(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Philox g, PhiloxFromInputs(c, 1));
  if (NothingToShuffle(c)) return OkStatus();
  TARE_RETURN_IF_ERROR(CheckRows(c.input(0)));
  return ShuffleRows(c, g);
}

// Classes drawn by unnormalised log probabilities, from the running sums of each row.
Status DrawClasses(const Tensor& logits, int64_t samples, Philox g, Tensor* out) {
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  Words words(g);
  std::vector<double> sums(static_cast<size_t>(classes));
  return ForType(Reals{}, logits.dtype(), [&]<class T>() -> Status {
    for (int64_t r = 0; r < rows; ++r) {
      const T* row = logits.data<T>() + r * classes;
      auto finite = [&](int64_t k) { return std::isfinite(static_cast<double>(row[k])); };
      double most = std::numeric_limits<double>::lowest(), total = 0;
      for (int64_t k = 0; k < classes; ++k) {
        if (finite(k)) most = std::max(most, static_cast<double>(row[k]));
      }
      for (int64_t k = 0; k < classes; ++k) {
        if (finite(k)) total += std::exp(static_cast<double>(row[k]) - most);
        sums[k] = total;
      }
      for (int64_t j = 0; j < samples; ++j) {
        const uint32_t x0 = words(), x1 = words();
        const int64_t drawn =
            std::ranges::upper_bound(sums, UnitDouble(x0, x1) * total) - sums.begin();
        if (out->dtype() == DType::kInt32)
          out->mutable_data<int32_t>()[r * samples + j] = static_cast<int32_t>(drawn);
        else
          out->mutable_data<int64_t>()[r * samples + j] = drawn;
      }
    }
    return OkStatus();
  });
}

// Multinomial and StatelessMultinomial: F gives the generator for so many outputs.
template <class F>
Status RunMultinomial(KernelCall& c, DType dtype, F generator) {
  const Tensor &logits = c.input(0), &count = c.input(1);
  if (logits.rank() != 2)
    return InvalidArgument("logits should be a matrix, got shape {}", logits.shape().ToString());
  if (count.rank() != 0)
    return InvalidArgument("num_samples should be a scalar, got shape {}",
                           count.shape().ToString());
  const int64_t samples = count.scalar<int32_t>();
  if (samples < 0) return InvalidArgument("num_samples should be nonnegative, got {}", samples);
  if (logits.dim(1) <= 0)
    return InvalidArgument("num_classes should be positive, got {}", logits.dim(1));
  const int64_t dims[] = {logits.dim(0), samples};
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
  if (shape.num_elements() == 0) return OkStatus();
  TARE_ASSIGN_OR_RETURN(Philox g, generator(logits.dim(0) * ((samples + 3) / 4 * 4)));
  return DrawClasses(logits, samples, g, out);
}

struct Multinomial {
  explicit Multinomial(AttrReader& a) : source(a), dtype(a.Type("output_dtype")) {}
  Status Run(KernelCall& c) const {
    return RunMultinomial(c, dtype, [&](int64_t n) -> Result<Philox> {
      return source.Reserve(c, static_cast<uint64_t>(n) * kBlocksPerOutput);
    });
  }
  StatefulSource source;
  DType dtype;
};

struct StatelessMultinomial {
  explicit StatelessMultinomial(AttrReader& a) : dtype(a.Type("output_dtype")) {}
  Status Run(KernelCall& c) const {
    return RunMultinomial(c, dtype, [&](int64_t) { return PhiloxFromSeed(c.input(2)); });
  }
  DType dtype;
};

// Doubles of a distribution, each block's from the last to the first.
template <class Distribution>
class Backwards {
 public:
  double operator()(Philox& g) {
    if (left_ == 0) {
      Distribution()(g(), values_);
      left_ = Distribution::kPerBlock;
    }
    return values_[--left_];
  }

 private:
  double values_[Distribution::kPerBlock];
  int left_ = 0;
};

// Gamma(alpha, 1) by Marsaglia and Tsang's rejection, which makes some 1.05 attempts.
struct Gamma {
  double operator()(double alpha, Philox g) const {
    Backwards<UniformReal<double>> uniform;
    if (alpha == 1.0) return -std::log1p(-uniform(g));
    Backwards<Normal<double>> normal;
    const bool small = alpha < 1;
    const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
    // A NaN would be rejected for ever.
    for (int attempt = 0; attempt < 10'000; ++attempt) {
      const double x = normal(g);
      double v = 1 + c * x;
      if (v <= 0) continue;
      v = v * v * v;
      const double u = uniform(g);
      const bool accept = u < 1 - 0.0331 * (x * x) * (x * x) ||
                          std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v));
      if (accept) return d * v * (small ? std::pow(uniform(g), 1 / alpha) : 1.0);
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
};

// Knuth's product of uniforms below a rate of 10, Hoermann's transformed rejection from there on.
struct Poisson {
  double operator()(double rate, Philox g) const {
    if (!std::isfinite(rate) || rate < 0) return std::numeric_limits<double>::quiet_NaN();
    Backwards<UniformReal<double>> uniform;
    if (rate < 10) {
      const double limit = std::exp(-rate);
      double product = 1, count = 0;
      while ((product *= uniform(g)) > limit) count += 1;
      return count;
    }
    const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate),
                 a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    for (;;) {
      const double u = uniform(g) - 0.5, v = uniform(g);
      const double shifted = 0.5 - std::abs(u),
                   k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
      if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
      if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
      const double s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
      if (s <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
    }
  }
};

// `samples` draws for each of the parameters: out[sample][parameter]. Each draw has its own stretch
// of the sequence, counted parameter by parameter.
template <class Distribution>
Status FillSamples(const KernelCall& c, const Tensor& parameters, int64_t samples, Philox start,
                   Tensor* out) {
  std::vector<double> values(static_cast<size_t>(parameters.num_elements()));
  TARE_RETURN_IF_ERROR(
      ForType(Join<Floats, Types<int32_t, int64_t>>{}, parameters.dtype(), [&]<class T>() {
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = static_cast<double>(parameters.data<T>()[i]);
        return OkStatus();
      }));
  const auto n = static_cast<int64_t>(values.size());
  return ForType(Join<Floats, Types<int32_t, int64_t>>{}, out->dtype(), [&]<class T>() {
    T* to = out->mutable_data<T>();
    c.threads().ParallelFor(n * samples, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Philox g = start;
        g.Skip(static_cast<uint64_t>(i) * kBlocksPerOutput);
        const int64_t parameter = i / samples;
        const double value = Distribution()(values[parameter], g);
        if constexpr (std::is_integral_v<T>) {
          to[i % samples * n + parameter] = std::isnan(value) ? T{0}
                                            : value >= 0x1p62 ? std::numeric_limits<T>::max()
                                                              : static_cast<T>(value);
        } else {
          to[i % samples * n + parameter] = static_cast<T>(value);
        }
      }
    });
    return OkStatus();
  });
}

// RandomGamma and RandomPoissonV2: the output's shape is input 0 followed by the parameters' shape.
template <class Distribution>
struct StatefulSamples {
  explicit StatefulSamples(AttrReader& a)
      : source(a), dtype(a.op().FindAttrDef("dtype") ? a.Type("dtype") : a.Type("T")) {}
  Status Run(KernelCall& c) const {
    const Tensor& parameters = c.input(1);
    TARE_ASSIGN_OR_RETURN(Shape lead, ShapeInput(c, 0));
    std::vector<int64_t> dims(lead.dims().begin(), lead.dims().end());
    dims.insert(dims.end(), parameters.shape().dims().begin(), parameters.shape().dims().end());
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
    if (shape.num_elements() == 0) return OkStatus();
    Philox g = source.Reserve(c, static_cast<uint64_t>(shape.num_elements()) * kBlocksPerOutput);
    return FillSamples<Distribution>(c, parameters, lead.num_elements(), g, out);
  }
  StatefulSource source;
  DType dtype;
};

// The stateless forms: the output's shape is input 0 and ends with the parameters'. The parameters
// are the last input.
template <class Distribution>
struct StatelessSamples {
  explicit StatelessSamples(AttrReader& a) : dtype(a.Type("dtype")) {}
  Status Run(KernelCall& c) const {
    const Tensor& parameters = c.input(c.num_inputs() - 1);
    TARE_ASSIGN_OR_RETURN(Shape shape, ShapeInput(c, 0));
    const int lead = shape.rank() - parameters.rank();
    if (lead < 0 || !std::ranges::equal(shape.dims().subspan(static_cast<size_t>(lead)),
                                        parameters.shape().dims())) {
      return InvalidArgument("Shape passed in must end with broadcasted shape.");
    }
    TARE_ASSIGN_OR_RETURN(
        Philox g, c.num_inputs() == 3 ? PhiloxFromSeed(c.input(1)) : PhiloxFromInputs(c, 1));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
    if (shape.num_elements() == 0) return OkStatus();
    return FillSamples<Distribution>(c, parameters, shape.product(0, lead), g, out);
  }
  DType dtype;
};

constexpr KernelRow kRows[] = {
    Op<Multinomial>("Multinomial", kStateful),
    Op<StatefulSamples<Gamma>>("RandomGamma", kStateful),
    Op<StatefulSamples<Poisson>>("RandomPoissonV2", kStateful),
    Op<RandomShuffle>("RandomShuffle", kStateful),
    Op<StatelessMultinomial>("StatelessMultinomial"),
    Op<StatelessSamples<Gamma>>("StatelessRandomGammaV2"),
    Op<StatelessSamples<Gamma>>("StatelessRandomGammaV3"),
    Op<StatelessSamples<Poisson>>("StatelessRandomPoisson"),
    Op<StatelessShuffle>("StatelessShuffle"),
};

}  // namespace
extern constinit const KernelFamily kRandomSamplesKernels = kRows;
}  // namespace tare
