#include "capi/config.h"
#include "capi/device.h"
#include "capi/eager.h"
#include "capi/function.h"

using namespace tare;
using namespace tare::capi;

Ref<Executor> TFE_Context::ExecutorOfThread() {
  std::lock_guard lock(mutex);
  auto it = thread_executors.find(std::this_thread::get_id());
  Ref<Executor> of_thread = it == thread_executors.end() ? executor : it->second;
  return of_thread && of_thread->async() ? of_thread : nullptr;
}

std::unique_ptr<TFE_Op> TFE_Context::TakeSpare() {
  std::atomic<TFE_Op*>& spare = spares[EagerContext::ThisThreadsLane()].op;
  // Looked at first: an exchange costs where there is nothing to be had.
  if (!spare.load(std::memory_order_relaxed)) return nullptr;
  return std::unique_ptr<TFE_Op>(spare.exchange(nullptr, std::memory_order_acquire));
}

void TFE_Context::KeepSpare(std::unique_ptr<TFE_Op> op) {
  TFE_Op* none = nullptr;
  if (spares[EagerContext::ThisThreadsLane()].op.compare_exchange_strong(none, op.get(), std::memory_order_release)) {
    (void)op.release();
  }
}

TFE_Context::~TFE_Context() {
  for (Spare& s : spares) delete s.op.load();
}

TFE_ContextOptions* TFE_NewContextOptions() { return TryNew<TFE_ContextOptions>(); }
void TFE_DeleteContextOptions(TFE_ContextOptions* options) { delete options; }

void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options, const void* proto, size_t proto_len,
                                 TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(options);
    TARE_ASSIGN_OR_RETURN(options->threads, ThreadsOfConfig({static_cast<const char*>(proto), proto_len}));
    return OkStatus();
  });
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options, unsigned char enable) {
  if (options) options->async = enable;
}

void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions*, TFE_ContextDevicePlacementPolicy) {}

TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status) {
  return TryGet<TFE_Context*>(status, nullptr, [&]() -> Result<TFE_Context*> {
    TARE_CAPI_REQUIRE(opts);
    auto context = std::make_unique<TFE_Context>(opts->threads);
    if (opts->async) {
      context->executor = MakeRef<Executor>(true, 0);
      context->may_queue = true;
    }
    return context.release();
  });
}

void TFE_DeleteContext(TFE_Context* ctx) {
  if (!ctx) return;
  TFE_ContextAsyncWait(ctx, nullptr);
  delete ctx;
}

TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status) {
  return TryGet<TF_DeviceList*>(status, nullptr, [&]() -> Result<TF_DeviceList*> {
    TARE_CAPI_REQUIRE(ctx);
    return MakeDeviceList();
  });
}

void TFE_ContextClearCaches(TFE_Context* ctx) {
  if (ctx) TryQuietly([&] { ctx->context.ClearCaches(); });
}

void TFE_ContextSetExecutorForThread(TFE_Context* ctx, TFE_Executor* executor) {
  if (!ctx) return;
  TryQuietly([&] {
    std::lock_guard lock(ctx->mutex);
    if (!executor) {
      ctx->thread_executors.erase(std::this_thread::get_id());
      return;
    }
    ctx->thread_executors[std::this_thread::get_id()] = executor->executor;
    if (executor->executor->async()) ctx->may_queue = true;
  });
}

TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx) {
  return TryGet<TFE_Executor*>(nullptr, nullptr, [&]() -> Result<TFE_Executor*> {
    TARE_CAPI_REQUIRE(ctx);
    std::lock_guard lock(ctx->mutex);
    if (!ctx->executor) ctx->executor = MakeRef<Executor>(false, 0);
    auto it = ctx->thread_executors.find(std::this_thread::get_id());
    return new TFE_Executor{it == ctx->thread_executors.end() ? ctx->executor : it->second};
  });
}

void TFE_ContextAsyncWait(TFE_Context* ctx, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(ctx);
    std::vector<Ref<Executor>> executors;
    {
      std::lock_guard lock(ctx->mutex);
      if (ctx->executor) executors.push_back(ctx->executor);
      for (auto& [thread, executor] : ctx->thread_executors) executors.push_back(executor);
    }
    Status first;
    for (auto& e : executors) {
      Status s = e->Wait();
      if (first.ok()) first = std::move(s);
    }
    return first;
  });
}

void TFE_ContextAddFunctionDef(TFE_Context* ctx, const char* serialized_function_def, size_t size, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(ctx);
    TARE_CAPI_REQUIRE(serialized_function_def);
    return ctx->context.AddFunction({serialized_function_def, size});
  });
}

void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(ctx);
    TARE_CAPI_REQUIRE(function);
    return ctx->context.AddFunction(function->function_def);
  });
}

void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(ctx);
    TARE_CAPI_REQUIRE(name);
    return ctx->context.RemoveFunction(name);
  });
}

unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name) {
  bool has = false;
  if (ctx && name) TryQuietly([&] { has = ctx->context.HasFunction(name); });
  return has;
}
