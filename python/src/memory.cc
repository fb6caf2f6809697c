// tare.memory and tare.kernel_cache: what is held, by whom.
#include <malloc.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <mutex>

#include "common.h"

namespace tare::python {
namespace {

struct Accounts {
  std::mutex mutex;
  std::vector<Ref<Account>> list;  // guarded by mutex
};
Accounts& TheAccounts() {
  static Accounts accounts;
  return accounts;
}

nb::dict AccountFigures(const Account& a) {
  nb::dict kinds;
  for (size_t i = 0; i < kKindCount; ++i) {
    if (int64_t b = a.bytes(static_cast<Kind>(i))) kinds[std::string(KindName(static_cast<Kind>(i))).c_str()] = b;
  }
  nb::dict d;
  d["name"] = std::string(a.name());
  d["total"] = a.total();
  d["peak"] = a.peak();
  d["kinds"] = kinds;
  return d;
}

nb::list MemoryFigures() {
  PruneAccounts();
  std::vector<Ref<Account>> accounts{TheContext()->account()};
  {
    std::lock_guard lock(TheAccounts().mutex);
    accounts.insert(accounts.end(), TheAccounts().list.begin(), TheAccounts().list.end());
  }
  nb::list list;
  for (const Ref<Account>& a : accounts) list.append(AccountFigures(*a));
  return list;
}

std::atomic<int64_t>& TheLimit() {
  static std::atomic<int64_t> limit{0};
  return limit;
}

int64_t LedgerBytes() {
  int64_t total = TheContext()->account()->total();
  std::lock_guard lock(TheAccounts().mutex);
  for (const Ref<Account>& a : TheAccounts().list) total += a->total();
  return total;
}

nb::dict StatsOf(const KernelCacheStats& s) {
  nb::dict d;
  d["entries"] = s.entries;
  d["bytes"] = s.bytes;
  d["hits"] = s.hits;
  d["misses"] = s.misses;
  d["inserts"] = s.inserts;
  d["evictions"] = s.evictions;
  d["refused"] = s.refused;
  return d;
}

nb::list CacheReport() {
  nb::list list;
  for (const KernelCacheOpReport& r : TheContext()->kernel_cache().report()) {
    nb::dict d;
    d["op"] = r.op;
    d["entries"] = r.entries;
    d["bytes"] = r.bytes;
    d["hits"] = r.hits;
    d["misses"] = r.misses;
    d["evictions"] = r.evictions;
    d["refused"] = r.refused;
    d["never_hit"] = r.never_hit;
    d["varying_attribute"] = r.varying_attribute;
    d["warning"] = r.warning;
    list.append(d);
  }
  return list;
}

}  // namespace

void RegisterAccount(const Account& account) {
  PruneAccounts();
  std::lock_guard lock(TheAccounts().mutex);
  TheAccounts().list.push_back(Ref<Account>::Share(const_cast<Account*>(&account)));
}

void PruneAccounts() {
  std::lock_guard lock(TheAccounts().mutex);
  std::erase_if(TheAccounts().list, [](const Ref<Account>& a) { return a->unique(); });
}

int64_t MemoryLimit() { return TheLimit().load(std::memory_order_relaxed); }

Status CheckMemoryLimit(std::string_view who, int64_t more) {
  const int64_t limit = MemoryLimit();
  if (limit == 0 || LedgerBytes() <= limit - more) return OkStatus();
  {
    std::lock_guard lock(TheAccounts().mutex);
    for (const Ref<Account>& a : TheAccounts().list) a->Trim(false);
  }
  TheContext()->account()->Trim(false);
  const int64_t held = LedgerBytes();
  if (held <= limit - more) return OkStatus();
  return more > 0 ? ResourceExhausted("memory limit: {} bytes are held, {} need {} more, the limit is {}", held, who,
                                      more, limit)
                  : ResourceExhausted("memory limit: {} bytes are held {}, the limit is {}", held, who, limit);
}

MemoryGate* TheMemoryGate() {
  static struct : MemoryGate {
    Status Allows(size_t bytes) override { return CheckMemoryLimit("tensors", static_cast<int64_t>(bytes)); }
  } gate;
  return &gate;
}

void BindMemory(nb::module_& m) {
  m.def("memory_figures", &MemoryFigures);
  // What a soak reads each cycle: ledger, kernel cache entries, malloc's bytes in use, free bytes malloc keeps.
  m.def("meters", [] {
    struct mallinfo2 info = mallinfo2();
    return nb::make_tuple(LedgerBytes(), TheContext()->kernel_cache().stats().entries,
                          static_cast<int64_t>(info.uordblks + info.hblkhd));
  });
  m.def("set_memory_limit", [](std::optional<int64_t> bytes) {
    if (bytes && *bytes <= 0) Throw(PyExc_ValueError, "a memory limit is a positive number of bytes, or None");
    TheContext();  // so that threads find it made
    TheLimit() = bytes.value_or(0);
  }, nb::arg("bytes").none(),
        "A budget in bytes for what all models and the context hold together; None for none.\n\n"
        "A load whose files would exceed it, a load or run that begins or ends above it, and one that asks for a\n"
        "block of 64 KiB or more that would exceed it raise ResourceExhaustedError with the figures; nothing is\n"
        "lost, and the next call may succeed once a model was unloaded or an output dropped.");
  m.def("memory_limit", [] { return MemoryLimit(); });
  m.def("kernel_cache_stats", [] { return StatsOf(TheContext()->kernel_cache().stats()); });
  m.def("kernel_cache_report", &CacheReport);
  m.def("kernel_cache_policy", [] { return TheContext()->kernel_cache().policy().ToString(); });
  m.def("set_kernel_cache_policy", [](const std::string& text) {
    TheContext()->kernel_cache().SetPolicy(Check(KernelCachePolicy::Parse(text)));
  });
  m.def("kernel_cache_limit", [] {
    KernelCachePolicy p = TheContext()->kernel_cache().policy();
    return nb::make_tuple(p.max_entries, p.max_bytes);
  });
  m.def("set_kernel_cache_limit", [](size_t entries, size_t bytes) {
    KernelCachePolicy p = TheContext()->kernel_cache().policy();
    p.max_entries = entries;
    p.max_bytes = bytes;
    TheContext()->kernel_cache().SetPolicy(p);
  });
  m.def("clear_kernel_cache", [] { TheContext()->ClearCaches(); });
}

}  // namespace tare::python
