// What one eager op costs beside its arithmetic, and what an entry of the kernel cache weighs.
#include <malloc.h>

#include <chrono>
#include <cstdio>

#include "context/eager_context.h"

namespace {

using namespace tare;

// The best of a few rounds, in nanoseconds a call.
template <class F>
double Nanos(int calls, F f) {
  double best = 1e30;
  for (int round = 0; round < 7; ++round) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / calls);
  }
  return best;
}

Tensor Matrix(EagerContext& context) {
  Tensor t = *Tensor::Make(context.account(), DType::kFloat, Shape{2, 2});
  for (float& f : t.mut<float>()) f = 1;
  return t;
}

void AddInto(EagerContext& context, const Tensor& a, const Tensor& b, Tensor* sum) {
  auto op = EagerOp::Make(context, "AddV2");
  if (!op.ok() || !op->AddInput(a).ok() || !op->AddInput(b).ok() ||
      !context.Execute(*op, context.run_context(), {sum, 1}).ok()) {
    std::abort();
  }
}

void WeighEntries() {
  constexpr int kEntries = 20'000;
  EagerContext context({.threads = 1, .kernel_cache = *KernelCachePolicy::Parse("unbounded")});
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < kEntries; ++i) {
    auto op = EagerOp::Make(context, "VarHandleOp");
    op->SetAttr("dtype", AttrValue::Type(DType::kFloat));
    op->SetAttr("shape", AttrValue::OfShape({}));
    op->SetAttr("shared_name", AttrValue::String(fmt::format("variable_{}", i)));
    if (!op->Execute().ok()) std::abort();
  }
  const size_t full = mallinfo2().uordblks;
  const KernelCacheStats stats = context.kernel_cache().stats();
  context.ClearCaches();
  std::printf("entry of the cache: %zu bytes charged, %zu on the heap, %zu entries; %zu bytes back on ClearCaches\n",
              stats.bytes / stats.entries, (full - before) / kEntries, stats.entries, full - mallinfo2().uordblks);
}

}  // namespace

int main() {
  EagerContext context({.threads = 1});
  const Attr attr{"T", AttrValue::Type(DType::kFloat)};
  const Fingerprint identity = FingerprintOf("AddV2");
  Tensor a = Matrix(context), b = Matrix(context), sum;
  AddInto(context, a, b, &sum);
  const IndexedOp op{context.ops().Find("AddV2"), context.kernels().Find("AddV2"), identity};
  (void)context.GetOrCreateKernel(op, {&attr, 1}).ok();
  const Fingerprint key = WithAttrs(identity, {&attr, 1});
  uint64_t sink = 0;
  std::printf("fingerprint of AddV2's attributes  %6.1f ns\n",
              Nanos(200'000, [&] { sink += WithAttrs(identity, {&attr, 1}).low; }));
  std::printf("KernelCache::Get, a hit            %6.1f ns\n",
              Nanos(200'000, [&] { sink += !!context.kernel_cache().Get(key, "AddV2"); }));
  std::printf("Tensor::Make, 2x2                  %6.1f ns\n",
              Nanos(200'000, [&] { sink += Matrix(context).bytes(); }));
  std::printf("EagerOp::Make                      %6.1f ns\n",
              Nanos(200'000, [&] { sink += EagerOp::Make(context, "AddV2").ok(); }));
  std::printf("AddV2 2x2, all of it               %6.1f ns\n",
              Nanos(200'000, [&] { AddInto(context, a, b, &sum); }));
  WeighEntries();
  return sink == 0;
}
