#include "saved_model/receipt.h"

#include <numeric>

namespace tare {

int64_t Receipt::total_charged() const { return std::accumulate(charged.begin(), charged.end(), int64_t{0}); }
int64_t Receipt::total_held() const { return std::accumulate(held.begin(), held.end(), int64_t{0}); }

int64_t Receipt::leaked(bool outputs_alias_weights) const {
  int64_t sum = total_held() - held[static_cast<size_t>(Kind::kCaller)];
  if (outputs_alias_weights) {
    sum -= held[static_cast<size_t>(Kind::kMappedWeights)] + held[static_cast<size_t>(Kind::kWeights)];
  }
  return sum;
}

std::string Receipt::ToString() const {
  std::string s = fmt::format("{:<18}{:>16}{:>16}{:>16}\n", "bytes", "charged", "returned", "still held");
  auto row = [&](std::string_view name, int64_t c, int64_t h) {
    s += fmt::format("{:<18}{:>16}{:>16}{:>16}\n", name, c, c - h, h);
  };
  for (size_t i = 0; i < kKindCount; ++i) {
    if (charged[i] == 0 && held[i] == 0) continue;
    // What moved from one kind to the caller's is charged twice and returned twice.
    row(KindName(static_cast<Kind>(i)), charged[i], held[i]);
  }
  row("all", total_charged(), total_held());
  int64_t caller = held[static_cast<size_t>(Kind::kCaller)];
  if (caller > 0) s += fmt::format("{} bytes are in outputs the caller keeps\n", caller);
  return s;
}

void FillReceipt(const Account& account, Receipt* receipt) {
  receipt->peak = account.peak();
  for (size_t i = 0; i < kKindCount; ++i) {
    receipt->charged[i] = account.charged(static_cast<Kind>(i));
    receipt->held[i] = account.bytes(static_cast<Kind>(i));
  }
}

}  // namespace tare
