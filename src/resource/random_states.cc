#include "resource/random_states.h"

#include <random>

namespace tare {

Philox::Philox(uint64_t seed_low, uint64_t seed_high)
    : key_{static_cast<uint32_t>(seed_low), static_cast<uint32_t>(seed_low >> 32)},
      counter_{0, 0, static_cast<uint32_t>(seed_high), static_cast<uint32_t>(seed_high >> 32)} {}

Philox::Block Philox::operator()() {
  constexpr uint32_t kMul0 = 0xD2511F53, kMul1 = 0xCD9E8D57, kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  Block c = counter_;
  auto key = key_;
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{kMul0} * c[0], p1 = uint64_t{kMul1} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  Skip(1);
  return c;
}

void Philox::Skip(uint64_t blocks) {
  uint64_t low = uint64_t{counter_[1]} << 32 | counter_[0], sum = low + blocks;
  counter_[0] = static_cast<uint32_t>(sum);
  counter_[1] = static_cast<uint32_t>(sum >> 32);
  if (sum < low && ++counter_[2] == 0) ++counter_[3];
}

Philox RandomStates::Reserve(uint64_t id, int64_t seed, int64_t seed2, uint64_t blocks) {
  std::lock_guard lock(mutex_);
  FollowSeeds();
  auto it = states_.find(id);
  if (it == states_.end()) {
    auto low = static_cast<uint64_t>(seed), high = static_cast<uint64_t>(seed2);
    if (low == 0 && high == 0) {
      RandomStates& source = seeds_ ? *seeds_ : *this;
      low = source.DrawSeed();
      high = source.DrawSeed();
    }
    recent_.push_front({id, Philox(low, high)});
    it = states_.emplace(id, recent_.begin()).first;
    if (states_.size() > kMaxStates) {
      states_.erase(recent_.back().id);
      recent_.pop_back();
    }
  } else {
    recent_.splice(recent_.begin(), recent_, it->second);
  }
  Philox at = it->second->generator;
  it->second->generator.Skip(blocks);
  return at;
}

uint64_t RandomStates::DrawSeed() {
  std::random_device device;
  std::lock_guard lock(seed_mutex_);
  return has_seed_ ? next_seed_++ : uint64_t{device()} << 32 | device();
}

void RandomStates::FollowSeeds() {
  if (!seeds_ || seeds_->times_set_ == times_followed_) return;
  times_followed_ = seeds_->times_set_;
  states_.clear();
  recent_.clear();
}

void RandomStates::SetSeed(int64_t seed) {
  std::scoped_lock lock(mutex_, seed_mutex_);
  ++times_set_;
  states_.clear();
  recent_.clear();
  has_seed_ = true;
  next_seed_ = static_cast<uint64_t>(seed);
}

size_t RandomStates::size() const {
  std::lock_guard lock(mutex_);
  return states_.size();
}

}  // namespace tare
