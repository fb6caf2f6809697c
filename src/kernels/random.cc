// Random tensors: uniform, normal and truncated normal, by stateful ops (seed attributes),
// stateless ops (a seed, or a key and a counter) and ops on an RNG state variable. Other
// distributions: random_samples.cc.
#include "kernels/random_source.h"
#include "kernels/registry.h"

namespace tare {
namespace {

// Fills `out` with consecutive blocks of a distribution.
template <class T, class Distribution>
void FillBlocks(const KernelCall& c, Philox start, Tensor* out, const Distribution& distribution) {
  constexpr int kPerBlock = Distribution::kPerBlock;
  const int64_t n = out->num_elements();
  T* to = out->mutable_data<T>();
  c.threads().ParallelFor((n + kPerBlock - 1) / kPerBlock, 20, [&](int64_t begin, int64_t end) {
    Philox generator = start;
    generator.Skip(static_cast<uint64_t>(begin));
    for (int64_t block = begin; block < end; ++block) {
      const int64_t at = block * kPerBlock;
      if (at + kPerBlock <= n) {
        distribution(generator(), to + at);
      } else {
        T last[kPerBlock];
        distribution(generator(), last);
        std::copy_n(last, n - at, to + at);
      }
    }
  });
}

// What a kernel fills its output with. `bounds` is the input that holds the first bound, if it
// takes any.
struct FillUniform {
  static Status Fill(const KernelCall& c, int, Philox g, Tensor* out) {
    return ForType(Floats{}, out->dtype(), [&]<class T>() {
      FillBlocks<T>(c, g, out, UniformReal<T>());
      return OkStatus();
    });
  }
};

struct FillNormal {
  static Status Fill(const KernelCall& c, int, Philox g, Tensor* out) {
    return ForType(Floats{}, out->dtype(), [&]<class T>() {
      FillBlocks<T>(c, g, out, Normal<T>());
      return OkStatus();
    });
  }
};

// Normals of magnitude below 2: pairs are drawn until a group is full. Each group has its own
// stretch of the sequence, so that groups do not depend on how many were thrown away.
struct FillTruncated {
  static Status Fill(const KernelCall& c, int, Philox g, Tensor* out) {
    return ForType(Floats{}, out->dtype(), [&]<class T>() {
      using F = std::conditional_t<std::is_same_v<T, double>, double, float>;
      constexpr int kGroup = Normal<T>::kPerBlock;
      const int64_t n = out->num_elements();
      T* to = out->mutable_data<T>();
      c.threads().ParallelFor((n + kGroup - 1) / kGroup, 50, [&](int64_t begin, int64_t end) {
        for (int64_t group = begin; group < end; ++group) {
          Philox at = g;
          at.Skip(static_cast<uint64_t>(group) * kGroup * kBlocksPerOutput / 4);
          Words words(at);
          for (int i = 0; i < kGroup;) {
            F pair[2];
            if constexpr (std::is_same_v<T, double>) {
              const uint32_t x0 = words(), x1 = words(), x2 = words(), x3 = words();
              BoxMuller(UnitDouble(x0, x1), UnitDouble(x2, x3), pair);
            } else {
              const uint32_t x0 = words(), x1 = words();
              BoxMuller(UnitFloat(x0), UnitFloat(x1), pair);
            }
            for (int k = 0; k < 2 && i < kGroup; ++k) {
              if (!(std::abs(pair[k]) < F(2))) continue;
              if (group * kGroup + i < n) to[group * kGroup + i] = T(pair[k]);
              ++i;
            }
          }
        }
      });
      return OkStatus();
    });
  }
};

struct FillFullInt {
  static Status Fill(const KernelCall& c, int, Philox g, Tensor* out) {
    return ForType(Types<int32_t, int64_t, uint32_t, uint64_t>{}, out->dtype(), [&]<class T>() {
      FillBlocks<T>(c, g, out, FullInt<T>());
      return OkStatus();
    });
  }
};

struct FillUniformInt {
  static Status Fill(const KernelCall& c, int bounds, Philox g, Tensor* out) {
    const Tensor &low = c.input(bounds), &high = c.input(bounds + 1);
    for (auto [t, name] : {std::pair{&low, "minval"}, std::pair{&high, "maxval"}}) {
      if (t->rank() != 0)
        return InvalidArgument("{} must be 0-D, got shape {}", name, t->shape().ToString());
    }
    if (out->num_elements() == 0) return OkStatus();
    return ForType(Types<int32_t, int64_t, uint32_t, uint64_t>{}, out->dtype(),
                   [&]<class T>() -> Status {
                     if (low.scalar<T>() >= high.scalar<T>()) {
                       return InvalidArgument("Need minval < maxval, got {} >= {}", low.scalar<T>(),
                                              high.scalar<T>());
                     }
                     FillBlocks<T>(c, g, out, UniformInt<T>(low.scalar<T>(), high.scalar<T>()));
                     return OkStatus();
                   });
  }
};

DType OutputType(AttrReader& a) {
  return a.op().FindAttrDef("dtype")  ? a.Type("dtype")
         : a.op().FindAttrDef("Tout") ? a.Type("Tout")
                                      : DType::kInvalid;
}

// Where the generator comes from, for ops that take (shape, [generator inputs], [bounds]).
struct FromAttrs {
  static constexpr int kShape = 0, kBounds = 1;
  explicit FromAttrs(AttrReader& a) : source(a) {}
  Result<Philox> Make(KernelCall& c, int64_t outputs) const {
    return source.Reserve(c, static_cast<uint64_t>(outputs) * kBlocksPerOutput);
  }
  StatefulSource source;
};
struct FromSeed {
  static constexpr int kShape = 0, kBounds = 2;
  explicit FromSeed(AttrReader&) {}
  static Result<Philox> Make(KernelCall& c, int64_t) { return PhiloxFromSeed(c.input(1)); }
};
struct FromKey {
  static constexpr int kShape = 0, kBounds = 4;
  explicit FromKey(AttrReader&) {}
  static Result<Philox> Make(KernelCall& c, int64_t) { return PhiloxFromInputs(c, 1); }
};
struct FromVariable {
  static constexpr int kShape = 2, kBounds = 3;
  explicit FromVariable(AttrReader&) {}
  static Result<Philox> Make(KernelCall& c, int64_t outputs) {
    if (c.input(1).rank() != 0)
      return InvalidArgument("algorithm must be of shape [], not {}",
                             c.input(1).shape().ToString());
    return PhiloxFromVariable(c, c.input(1).scalar<int64_t>(), static_cast<uint64_t>(outputs));
  }
};

template <class Source, class Filler>
struct Draw {
  explicit Draw(AttrReader& a) : source(a), dtype(OutputType(a)) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Shape shape, ShapeInput(c, Source::kShape));
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, dtype, shape));
    if (shape.num_elements() == 0) return Filler::Fill(c, Source::kBounds, Philox(), out);
    TARE_ASSIGN_OR_RETURN(Philox g, source.Make(c, shape.num_elements()));
    return Filler::Fill(c, Source::kBounds, g, out);
  }
  Source source;
  DType dtype;
};

Status GetKeyCounter(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(KeyAndCounter k, KeyFromSeed(c.input(0)));
  TARE_ASSIGN_OR_RETURN(Tensor * key, c.Output(0, DType::kUint64, {1}));
  TARE_ASSIGN_OR_RETURN(Tensor * counter, c.Output(1, DType::kUint64, {2}));
  key->mutable_data<uint64_t>()[0] = k.key;
  std::copy_n(k.counter, 2, counter->mutable_data<uint64_t>());
  if (c.num_outputs() < 3) return OkStatus();
  TARE_ASSIGN_OR_RETURN(Tensor * algorithm, c.Output(2, DType::kInt32, {}));
  *algorithm->mutable_data<int32_t>() = 1;
  return OkStatus();
}

Status GetAlgorithm(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt32, {}));
  *out->mutable_data<int32_t>() = 1;
  return OkStatus();
}

// RngSkip, and RngReadAndSkip, which gives the state from before.
Status Skip(KernelCall& c) {
  const Tensor &algorithm = c.input(1), &delta = c.input(2);
  if (algorithm.rank() != 0 || delta.rank() != 0)
    return InvalidArgument("algorithm and delta must be scalars");
  const bool reads = c.num_outputs() == 1;
  const int64_t id = reads ? algorithm.scalar<int32_t>() : algorithm.scalar<int64_t>();
  const uint64_t outputs =
      reads ? delta.scalar<uint64_t>() : static_cast<uint64_t>(delta.scalar<int64_t>());
  TARE_ASSIGN_OR_RETURN(Philox before, PhiloxFromVariable(c, id, outputs));
  if (!reads) return OkStatus();
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt64, {3}));
  std::ranges::copy(before.State(), out->mutable_data<int64_t>());
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<Draw<FromAttrs, FillNormal>>("RandomStandardNormal", kStateful),
    Op<Draw<FromAttrs, FillUniform>>("RandomUniform", kStateful),
    Op<Draw<FromAttrs, FillUniformInt>>("RandomUniformInt", kStateful),
    Op<Skip>("RngReadAndSkip", kStateful),
    Op<Skip>("RngSkip", kStateful),
    Op<Draw<FromVariable, FillNormal>>("StatefulStandardNormalV2", kStateful),
    Op<Draw<FromVariable, FillTruncated>>("StatefulTruncatedNormal", kStateful),
    Op<Draw<FromVariable, FillUniform>>("StatefulUniform", kStateful),
    Op<Draw<FromVariable, FillFullInt>>("StatefulUniformFullInt", kStateful),
    Op<Draw<FromVariable, FillUniformInt>>("StatefulUniformInt", kStateful),
    Op<GetAlgorithm>("StatelessRandomGetAlg"),
    Op<GetKeyCounter>("StatelessRandomGetKeyCounter"),
    Op<GetKeyCounter>("StatelessRandomGetKeyCounterAlg"),
    Op<Draw<FromSeed, FillNormal>>("StatelessRandomNormal"),
    Op<Draw<FromKey, FillNormal>>("StatelessRandomNormalV2"),
    Op<Draw<FromSeed, FillUniform>>("StatelessRandomUniform"),
    Op<Draw<FromSeed, FillFullInt>>("StatelessRandomUniformFullInt"),
    Op<Draw<FromKey, FillFullInt>>("StatelessRandomUniformFullIntV2"),
    Op<Draw<FromSeed, FillUniformInt>>("StatelessRandomUniformInt"),
    Op<Draw<FromKey, FillUniformInt>>("StatelessRandomUniformIntV2"),
    Op<Draw<FromKey, FillUniform>>("StatelessRandomUniformV2"),
    Op<Draw<FromSeed, FillTruncated>>("StatelessTruncatedNormal"),
    Op<Draw<FromKey, FillTruncated>>("StatelessTruncatedNormalV2"),
    Op<Draw<FromAttrs, FillTruncated>>("TruncatedNormal", kStateful),
};

}  // namespace
extern constinit const KernelFamily kRandomKernels = kRows;
}  // namespace tare
