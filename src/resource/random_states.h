// Generator states of stateful random ops, kept outside their kernels so that evicting a kernel never
// restarts a sequence. One state per op identity (fingerprint of op, attributes and node), bounded: beyond
// kMaxStates the one unused longest is dropped. Thread-safe.
//
// A context has one for eager ops; each loaded model has its own, so that loading it again restarts its
// sequences, as in TensorFlow.
//
// The generator is Philox 4x32 with 10 rounds, seeded as TensorFlow's: key = {seed, 0..}, counter's high
// half = seed2; both zero means a seed nobody chose.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

namespace tare {

// Counter-based: Skip is O(1), so threads and calls reserve disjoint ranges.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;
  Philox() = default;
  Philox(uint64_t seed_low, uint64_t seed_high);
  // From a raw key and counter, as the stateless ops and RNG resources store them.
  Philox(std::array<uint32_t, 2> key, Block counter) : key_(key), counter_(counter) {}
  // The next four words.
  Block operator()();
  void Skip(uint64_t blocks);
  // As an RNG resource stores it: the counter's two halves, then the key.
  std::array<int64_t, 3> State() const {
    auto join = [](uint32_t low, uint32_t high) { return static_cast<int64_t>(uint64_t{high} << 32 | low); };
    return {join(counter_[0], counter_[1]), join(counter_[2], counter_[3]), join(key_[0], key_[1])};
  }

 private:
  std::array<uint32_t, 2> key_{};
  Block counter_{};
};

class RandomStates {
 public:
  static constexpr size_t kMaxStates = 10'000;
  // `seeds`, which must outlive this, chooses the seeds that nobody chose; null: this does.
  explicit RandomStates(RandomStates* seeds = nullptr) : seeds_(seeds) {}
  // Reserves `blocks` Philox blocks of the sequence `id` and returns a generator at their start.
  Philox Reserve(uint64_t id, int64_t seed, int64_t seed2, uint64_t blocks);
  // Forgets every state; ops with seeds of their own start again, others draw from `seed`.
  void SetSeed(int64_t seed);
  size_t size() const;

 private:
  // Half the seed of an op without one: random until SetSeed, then the next of a sequence.
  uint64_t DrawSeed();
  // Forgets every state when `seeds_` was set anew. Under mutex_.
  void FollowSeeds();
  struct State {
    uint64_t id;
    Philox generator;
  };
  RandomStates* const seeds_;
  mutable std::mutex mutex_;
  std::list<State> recent_;  // guarded by mutex_; most recently used first
  std::unordered_map<uint64_t, std::list<State>::iterator> states_;  // guarded by mutex_
  std::mutex seed_mutex_;
  bool has_seed_ = false;   // guarded by seed_mutex_
  uint64_t next_seed_ = 0;  // guarded by seed_mutex_
  std::atomic<uint64_t> times_set_{0};  // how often SetSeed was called
  uint64_t times_followed_ = 0;  // guarded by mutex_
};

}  // namespace tare
