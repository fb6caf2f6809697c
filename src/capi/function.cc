#include "capi/function.h"

#include "capi/buffer.h"
#include "capi/graph.h"

using namespace tare;
using namespace tare::capi;

const char* TF_FunctionName(TF_Function* func) { return func ? func->name.c_str() : ""; }

void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output_func_def, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(func);
    TARE_CAPI_REQUIRE(output_func_def);
    return Fill(output_func_def, func->function_def);
  });
}

void TF_DeleteFunction(TF_Function* func) { delete func; }

int TF_GraphNumFunctions(TF_Graph* g) {
  if (!g) return 0;
  std::lock_guard lock(g->mutex);
  return static_cast<int>(g->functions.size());
}

int TF_GraphGetFunctions(TF_Graph* g, TF_Function** funcs, int max_func, TF_Status* status) {
  return TryGet<int>(status, 0, [&]() -> Result<int> {
    TARE_CAPI_REQUIRE(g);
    if (max_func > 0) TARE_CAPI_REQUIRE(funcs);
    std::vector<std::unique_ptr<TF_Function>> made;
    {
      std::lock_guard lock(g->mutex);
      for (const auto& [name, def] : g->functions) {
        if (static_cast<int>(made.size()) >= max_func) break;
        made.push_back(std::make_unique<TF_Function>(std::string(name), std::string(def)));
      }
    }
    for (size_t i = 0; i < made.size(); ++i) funcs[i] = made[i].release();
    return static_cast<int>(made.size());
  });
}

void TF_GraphCopyFunction(TF_Graph* g, const TF_Function* func, const TF_Function* grad, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(g);
    TARE_CAPI_REQUIRE(func);
    for (const TF_Function* f : {func, grad}) {
      if (f) TARE_RETURN_IF_ERROR(g->AddFunction(f->function_def));
    }
    return OkStatus();
  });
}
