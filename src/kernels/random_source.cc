#include "kernels/random_source.h"

#include "resource/variable.h"

namespace tare {

Result<KeyAndCounter> KeyFromSeed(const Tensor& seed) {
  if (seed.rank() != 1 || seed.dim(0) != 2) {
    return InvalidArgument("seed must have shape [2], not {}", seed.shape().ToString());
  }
  uint64_t s[2] = {};
  TARE_RETURN_IF_ERROR(
      ForType(Types<int32_t, int64_t, uint32_t, uint64_t>{}, seed.dtype(), [&]<class T>() {
        for (int i = 0; i < 2; ++i) s[i] = static_cast<uint64_t>(seed.data<T>()[i]);
        return OkStatus();
      }));
  // The seed is scrambled by one block under a fixed key, as TensorFlow scrambles it.
  Philox::Block mix = PhiloxFromKey(0x02461e293ec8f720, s[0], s[1])();
  return KeyAndCounter{uint64_t{mix[1]} << 32 | mix[0], {0, uint64_t{mix[3]} << 32 | mix[2]}};
}

Result<Philox> PhiloxFromSeed(const Tensor& seed) {
  TARE_ASSIGN_OR_RETURN(KeyAndCounter k, KeyFromSeed(seed));
  return PhiloxFromKey(k.key, k.counter[0], k.counter[1]);
}

Philox PhiloxFromKey(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  return Philox({low(key), high(key)},
                {low(counter_low), high(counter_low), low(counter_high), high(counter_high)});
}

Status CheckAlgorithm(int64_t algorithm) {
  constexpr int64_t kPhilox = 1, kAuto = 3;
  if (algorithm == kPhilox || algorithm == kAuto) return OkStatus();
  return InvalidArgument("Unsupported algorithm id: {}", algorithm);
}

Result<Philox> PhiloxFromInputs(const KernelCall& c, int i) {
  const Tensor &key = c.input(i), &counter = c.input(i + 1), &algorithm = c.input(i + 2);
  if (algorithm.rank() != 0)
    return InvalidArgument("alg must be of shape [], not {}", algorithm.shape().ToString());
  TARE_RETURN_IF_ERROR(CheckAlgorithm(algorithm.scalar<int32_t>()));
  if (key.rank() != 1 || key.dim(0) != 1) {
    return InvalidArgument(
        "key must have shape [1], not {}. (Note that batched keys are not supported yet.)",
        key.shape().ToString());
  }
  if (counter.rank() != 1 || counter.dim(0) < 2) {
    return InvalidArgument(
        "counter must be a vector with length at least 2; got shape: {}. (Note that batched "
        "counters are not supported yet.)",
        counter.shape().ToString());
  }
  return PhiloxFromKey(key.data<uint64_t>()[0], counter.data<uint64_t>()[0],
                       counter.data<uint64_t>()[1]);
}

Result<Philox> PhiloxFromVariable(KernelCall& c, int64_t algorithm, uint64_t outputs) {
  constexpr int64_t kThreeFry = 2;
  if (algorithm == kThreeFry) return Unimplemented("the ThreeFry algorithm is not supported");
  TARE_RETURN_IF_ERROR(CheckAlgorithm(algorithm));
  TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(0)));
  if (!v->initialized()) {
    return NotFound("Resource localhost/{}/N10tensorflow3VarE does not exist.", v->name());
  }
  Philox generator;
  TARE_RETURN_IF_ERROR(v->Update(c.run().account, [&](Tensor& state) -> Status {
    if (state.dtype() != DType::kInt64) {
      return InvalidArgument("dtype of RNG state variable must be int64, not {}",
                             DTypeName(state.dtype()));
    }
    if (state.rank() != 1)
      return InvalidArgument("RNG state must have one and only one dimension, not {}",
                             state.rank());
    if (state.dim(0) < 3) {
      return InvalidArgument(
          "For the Philox algorithm, the size of state must be at least 3; got {}", state.dim(0));
    }
    int64_t* s = state.mutable_data<int64_t>();
    const auto low = static_cast<uint64_t>(s[0]), high = static_cast<uint64_t>(s[1]);
    generator = PhiloxFromKey(static_cast<uint64_t>(s[2]), low, high);
    const uint64_t moved = low + outputs * kBlocksPerOutput;
    s[0] = static_cast<int64_t>(moved);
    s[1] = static_cast<int64_t>(high + (moved < low));
    return OkStatus();
  }));
  return generator;
}

StatefulSource::StatefulSource(AttrReader& a) : seed_(a.Int("seed")), seed2_(a.Int("seed2")) {
  std::string id(a.op().name);
  for (const char* type : {"dtype", "T", "Tout", "S", "R", "output_dtype"}) {
    if (a.op().FindAttrDef(type)) id += fmt::format(" {}", DTypeName(a.Type(type)));
  }
  op_ = std::hash<std::string>()(fmt::format("{} {} {}", id, seed_, seed2_));
}

Philox StatefulSource::Reserve(const KernelCall& c, uint64_t blocks) const {
  const uint64_t id = op_ * 0x9e3779b97f4a7c15 + std::hash<std::string_view>()(c.node());
  return c.run().randoms->Reserve(id, seed_, seed2_, blocks);
}

Result<Shape> ShapeInput(const KernelCall& c, int i) {
  const Tensor& t = c.input(i);
  if (t.rank() != 1)
    return InvalidArgument("shape must be a vector of {{int32,int64}}, got shape {}",
                           t.shape().ToString());
  std::array<int64_t, kMaxRank> space;
  TARE_ASSIGN_OR_RETURN(auto dims, IntValues(t, space));
  for (int64_t d : dims) {
    if (d < 0) return InvalidArgument("Dimension {} must be >= 0", d);
  }
  return Shape::Make(dims);
}

}  // namespace tare
