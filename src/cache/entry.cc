#include "cache/entry.h"

#include <algorithm>

namespace tare {
namespace {

// From how many kernels on an op is warned of, and which part of them was of no use.
constexpr uint64_t kManyKernels = 100;
constexpr double kMostOfThem = 0.9;

}  // namespace

void OpCounts::NoteAttrs(Attrs values) {
  for (const Attr& a : values) {
    auto spread = std::ranges::find(attrs, a.name, &AttrSpread::name);
    if (spread == attrs.end()) spread = attrs.insert(attrs.end(), AttrSpread{std::string(a.name), {}});
    spread->seen.set(FingerprintOf(a.value).low % spread->seen.size());
  }
}

std::string_view OpCounts::varying_attribute() const {
  size_t most = 1;
  std::string_view name;
  for (const AttrSpread& a : attrs) {
    if (size_t n = a.seen.count(); n > most) {
      most = n;
      name = a.name;
    }
  }
  return name;
}

void OpCounts::Add(const OpCounts& other) {
  entries += other.entries, bytes += other.bytes;
  hits += other.hits, misses += other.misses;
  inserts += other.inserts, evictions += other.evictions;
  evicted_never_hit += other.evicted_never_hit, refused += other.refused;
  for (const AttrSpread& a : other.attrs) {
    auto spread = std::ranges::find(attrs, a.name, &AttrSpread::name);
    if (spread == attrs.end()) attrs.push_back(a);
    else spread->seen |= a.seen;
  }
}

void OpSummary::AddRecord(const OpRecord& record) {
  Add(record);
  for (const KernelCache::Entry* e = record.first; e; e = e->op_next) {
    hits += e->hits();
    never_hit += e->hits() == 0;
  }
}

KernelCacheOpReport OpSummary::Report(const std::string& name) const {
  KernelCacheOpReport r;
  r.op = name;
  r.entries = entries;
  r.bytes = bytes;
  r.hits = hits;
  r.never_hit = never_hit;
  r.misses = misses;
  r.evictions = evictions;
  r.refused = refused;
  r.evicted_never_hit = evicted_never_hit;
  r.varying_attribute = varying_attribute();
  const uint64_t of_no_use = never_hit + evicted_never_hit;
  if (of_no_use >= kManyKernels && static_cast<double>(of_no_use) >= kMostOfThem * static_cast<double>(inserts)) {
    r.warning = fmt::format("{} of the {} kernels made for {} were never used again", of_no_use, inserts, name);
    if (!r.varying_attribute.empty()) r.warning += fmt::format(": attribute '{}' differs", r.varying_attribute);
  }
  return r;
}

KernelCache::Entry::Entry(const Fingerprint& k, KernelPtr p, Account* a, const void* o)
    : key(k), kernel(std::move(p)), account(a), bytes(sizeof(Entry) + kernel->bytes()), owner(o) {}

void LruHeap::Add(Entry* e) {
  slots_.push_back({e->last_used.load(std::memory_order_relaxed), e});
  SiftUp(slots_.size() - 1);
}

void LruHeap::Remove(Entry* e) {
  const size_t place = e->place;
  const Slot last = slots_.back();
  slots_.pop_back();
  if (last.entry == e) return;
  Put(place, last);
  SiftUp(place);
  SiftDown(last.entry->place);
}

LruHeap::Entry* LruHeap::LeastRecentlyUsed() {
  // Other threads may go on using entries; after one round any of the oldest will do.
  for (size_t looked_at = 0; looked_at < slots_.size(); ++looked_at) {
    Slot& top = slots_[0];
    const uint64_t last_used = top.entry->last_used.load(std::memory_order_relaxed);
    if (last_used <= top.filed_under) break;
    top.filed_under = last_used;
    SiftDown(0);
  }
  return slots_[0].entry;
}

void LruHeap::SiftUp(size_t place) {
  const Slot slot = slots_[place];
  for (; place > 0; place = (place - 1) / 2) {
    const Slot& parent = slots_[(place - 1) / 2];
    if (parent.filed_under <= slot.filed_under) break;
    Put(place, parent);
  }
  Put(place, slot);
}

void LruHeap::SiftDown(size_t place) {
  const Slot slot = slots_[place];
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= slots_.size()) break;
    if (child + 1 < slots_.size() && slots_[child + 1].filed_under < slots_[child].filed_under) ++child;
    if (slot.filed_under <= slots_[child].filed_under) break;
    Put(place, slots_[child]);
    place = child;
  }
  Put(place, slot);
}

}  // namespace tare
