// What unloading gives back, by kind: charged, returned, and what is still held and by whom.
#pragma once
#include <array>
#include <string>

#include "memory/account.h"
#include "status/status.h"

namespace tare {

struct Receipt {
  std::string model;
  std::array<int64_t, kKindCount> charged{};  // all that was ever charged
  std::array<int64_t, kKindCount> held{};     // what is charged still
  int64_t peak = 0;

  int64_t total_charged() const;
  int64_t total_held() const;
  // Bytes that stay although nobody holds them: a bug. An output the caller keeps, and a mapping such an
  // output lies in, are held.
  int64_t leaked(bool outputs_alias_weights) const;
  // A table for people.
  std::string ToString() const;
};

// What the account counts now, all but the model's name. Takes no memory: it is how an unload ends.
void FillReceipt(const Account& account, Receipt* receipt);

}  // namespace tare
