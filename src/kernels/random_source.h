// Where random kernels get their generator, and how its blocks become numbers.
//
// Every sequence is TensorFlow's, bit for bit: Philox 4x32-10, one block of four words after
// another, the mantissa of a float from the low bits of a word, normals in pairs by Box and Muller.
#pragma once
#include <bit>
#include <cmath>
#include <numbers>

#include "kernels/kernel.h"
#include "resource/random_states.h"

namespace tare {

// Blocks a stateful draw reserves for each number it gives, however many it uses.
constexpr uint64_t kBlocksPerOutput = 256;

// A generator from a stateless op's seed [2].
Result<Philox> PhiloxFromSeed(const Tensor& seed);
// The key and the 128-bit counter that such a seed stands for.
struct KeyAndCounter {
  uint64_t key;
  uint64_t counter[2];
};
Result<KeyAndCounter> KeyFromSeed(const Tensor& seed);
Philox PhiloxFromKey(uint64_t key, uint64_t counter_low, uint64_t counter_high);
// A generator from inputs key [1], counter [2] and alg, which start at input `i`.
Result<Philox> PhiloxFromInputs(const KernelCall& c, int i);
// From the RNG state variable of input 0, whose counter moves past `outputs` numbers.
Result<Philox> PhiloxFromVariable(KernelCall& c, int64_t algorithm, uint64_t outputs);
// Philox by name or by default; InvalidArgument for the rest.
Status CheckAlgorithm(int64_t algorithm);

// The generator of a stateful op: one sequence for each op, its attributes and node.
class StatefulSource {
 public:
  explicit StatefulSource(AttrReader& a);
  Philox Reserve(const KernelCall& c, uint64_t blocks) const;

 private:
  int64_t seed_, seed2_;
  uint64_t op_;
};

// The shape in input i: a vector.
Result<Shape> ShapeInput(const KernelCall& c, int i);

// Words of a generator, one at a time.
class Words {
 public:
  explicit Words(Philox g) : generator_(g) {}
  uint32_t operator()() {
    if (used_ == 4) {
      block_ = generator_();
      used_ = 0;
    }
    return block_[used_++];
  }

 private:
  Philox generator_;
  Philox::Block block_{};
  size_t used_ = 4;
};

// In [0, 1).
inline float UnitFloat(uint32_t x) {
  return std::bit_cast<float>(0x3f800000u | (x & 0x7fffffu)) - 1.0f;
}
inline double UnitDouble(uint32_t x0, uint32_t x1) {
  return std::bit_cast<double>(uint64_t{1023} << 52 | uint64_t{x0 & 0xfffffu} << 32 | x1) - 1.0;
}

// Two standard normals from two uniforms.
template <class F>
void BoxMuller(F uniform0, F uniform1, F* normals) {
  const F u1 = uniform0 < F(1.0e-7) ? F(1.0e-7) : uniform0;
  // The angle is rounded once, from double.
  const F angle = static_cast<F>(2 * std::numbers::pi * uniform1),
          radius = std::sqrt(F(-2) * std::log(u1));
  normals[0] = std::sin(angle) * radius;
  normals[1] = std::cos(angle) * radius;
}

// A distribution turns a block into kPerBlock numbers.
template <class T>
struct UniformReal {
  static constexpr int kPerBlock = std::is_same_v<T, double> ? 2 : 4;
  void operator()(const Philox::Block& b, T* out) const {
    if constexpr (std::is_same_v<T, double>) {
      out[0] = UnitDouble(b[0], b[1]);
      out[1] = UnitDouble(b[2], b[3]);
    } else {
      for (int i = 0; i < 4; ++i) {
        if constexpr (std::is_same_v<T, float>) {
          out[i] = UnitFloat(b[i]);
        } else {
          T one_to_two;
          one_to_two.bits =
              std::is_same_v<T, Half> ? 0x3c00 | (b[i] & 0x3ff) : 0x3f80 | (b[i] & 0x7f);
          out[i] = T(static_cast<float>(one_to_two) - 1.0f);
        }
      }
    }
  }
};

template <class T>
struct Normal {
  static constexpr int kPerBlock = std::is_same_v<T, double> ? 2 : 4;
  void operator()(const Philox::Block& b, T* out) const {
    if constexpr (std::is_same_v<T, double>) {
      BoxMuller(UnitDouble(b[0], b[1]), UnitDouble(b[2], b[3]), out);
    } else {
      float normals[4];
      BoxMuller(UnitFloat(b[0]), UnitFloat(b[1]), normals);
      BoxMuller(UnitFloat(b[2]), UnitFloat(b[3]), normals + 2);
      for (int i = 0; i < 4; ++i) out[i] = T(normals[i]);
    }
  }
};

// All the values of an integer type.
template <class T>
struct FullInt {
  static constexpr int kPerBlock = 16 / sizeof(T);
  void operator()(const Philox::Block& b, T* out) const {
    for (int i = 0; i < kPerBlock; ++i) {
      if constexpr (sizeof(T) == 8)
        out[i] = static_cast<T>(b[2 * i] | uint64_t{b[2 * i + 1]} << 32);
      else
        out[i] = static_cast<T>(b[i]);
    }
  }
};

// [low, high). REQUIRES: low < high.
template <class T>
struct UniformInt {
  static constexpr int kPerBlock = FullInt<T>::kPerBlock;
  using U = std::make_unsigned_t<T>;
  UniformInt(T low, T high)
      : low(static_cast<U>(low)), range(static_cast<U>(high) - static_cast<U>(low)) {}
  void operator()(const Philox::Block& b, T* out) const {
    U words[kPerBlock];
    FullInt<U>()(b, words);
    for (int i = 0; i < kPerBlock; ++i) out[i] = static_cast<T>(low + words[i] % range);
  }
  U low, range;
};

}  // namespace tare
