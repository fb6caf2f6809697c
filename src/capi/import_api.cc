#include <algorithm>

#include "capi/buffer.h"
#include "capi/import.h"

using namespace tare;
using namespace tare::capi;

TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions() { return TryNew<TF_ImportGraphDefOptions>(); }
void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts) { delete opts; }

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts, const char* prefix) {
  if (opts && prefix) TryQuietly([&] { opts->prefix = prefix; });
}
void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts, const char* device) {
  if (opts && device) TryQuietly([&] { opts->device = device; });
}
void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts, unsigned char uniquify_names) {
  if (opts) opts->uniquify_names = uniquify_names;
}
void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts, unsigned char uniquify_prefix) {
  if (opts) opts->uniquify_prefix = uniquify_prefix;
}
void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts, const char* src_name, int src_index,
                                             TF_Output dst) {
  if (opts && src_name) TryQuietly([&] { opts->input_map[{src_name, src_index}] = dst; });
}
void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts, const char* oper_name, int index) {
  if (opts && oper_name) TryQuietly([&] { opts->return_outputs.push_back({oper_name, index}); });
}
int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* opts) {
  return opts ? static_cast<int>(opts->return_outputs.size()) : 0;
}
void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* opts, const char* oper_name) {
  if (opts && oper_name) TryQuietly([&] { opts->return_operations.emplace_back(oper_name); });
}
int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions* opts) {
  return opts ? static_cast<int>(opts->return_operations.size()) : 0;
}

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results, int* num_outputs, TF_Output** outputs) {
  if (num_outputs) *num_outputs = results ? static_cast<int>(results->return_outputs.size()) : 0;
  if (outputs) *outputs = results ? results->return_outputs.data() : nullptr;
}
void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* results, int* num_opers,
                                              TF_Operation*** opers) {
  if (num_opers) *num_opers = results ? static_cast<int>(results->return_operations.size()) : 0;
  if (opers) *opers = results ? results->return_operations.data() : nullptr;
}
void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults* results,
                                                        int* num_missing_unused_input_mappings,
                                                        const char*** src_names, int** src_indexes) {
  if (num_missing_unused_input_mappings) {
    *num_missing_unused_input_mappings = results ? static_cast<int>(results->missing_names.size()) : 0;
  }
  if (src_names) *src_names = results ? results->missing_pointers.data() : nullptr;
  if (src_indexes) *src_indexes = results ? results->missing_indexes.data() : nullptr;
}
void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results) { delete results; }

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(TF_Graph* graph, const TF_Buffer* graph_def,
                                                            const TF_ImportGraphDefOptions* options,
                                                            TF_Status* status) {
  return TryGet<TF_ImportGraphDefResults*>(status, nullptr, [&]() -> Result<TF_ImportGraphDefResults*> {
    TARE_CAPI_REQUIRE(graph);
    TARE_CAPI_REQUIRE(graph_def);
    TARE_CAPI_REQUIRE(options);
    auto results = std::make_unique<TF_ImportGraphDefResults>();
    TARE_RETURN_IF_ERROR(ImportGraphDef(graph, View(graph_def), *options, results.get()));
    return results.release();
  });
}

void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
                            TF_Status* status) {
  TF_DeleteImportGraphDefResults(TF_GraphImportGraphDefWithResults(graph, graph_def, options, status));
}

void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph* graph, const TF_Buffer* graph_def,
                                             const TF_ImportGraphDefOptions* options, TF_Output* return_outputs,
                                             int num_return_outputs, TF_Status* status) {
  if (num_return_outputs != TF_ImportGraphDefOptionsNumReturnOutputs(options) ||
      (num_return_outputs > 0 && !return_outputs)) {
    Try(status, [&] {
      return InvalidArgument("Expected 'num_return_outputs' to be {}, got {}",
                             TF_ImportGraphDefOptionsNumReturnOutputs(options), num_return_outputs);
    });
    return;
  }
  TF_ImportGraphDefResults* results = TF_GraphImportGraphDefWithResults(graph, graph_def, options, status);
  if (results) std::ranges::copy(results->return_outputs, return_outputs);
  TF_DeleteImportGraphDefResults(results);
}
