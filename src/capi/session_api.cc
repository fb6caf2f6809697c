#include "capi/buffer.h"
#include "capi/config.h"
#include "capi/device.h"
#include "capi/session.h"
#include "capi/tensor.h"
#include "wire/message.h"

using namespace tare;
using namespace tare::capi;

TF_SessionOptions* TF_NewSessionOptions() { return TryNew<TF_SessionOptions>(); }
void TF_DeleteSessionOptions(TF_SessionOptions* options) { delete options; }

void TF_SetTarget(TF_SessionOptions* options, const char* target) {
  if (options && target) TryQuietly([&] { options->target = target; });
}

void TF_SetConfig(TF_SessionOptions* options, const void* proto, size_t proto_len, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(options);
    TARE_ASSIGN_OR_RETURN(options->threads, ThreadsOfConfig({static_cast<const char*>(proto), proto_len}));
    return OkStatus();
  });
}

namespace {

Status CheckRunOptions(const TF_Buffer* run_options) {
  Status s = wire::ForEachField(View(run_options), "RunOptions", [](wire::Reader&) { return OkStatus(); });
  return s.ok() ? s : InvalidArgument("Unparseable RunOptions proto");
}

Status CheckTarget(const TF_SessionOptions& options) {
  if (options.target.empty() || options.target == "local") return OkStatus();
  return NotFound(
      "No session factory registered for the given session options: {{target: \"{}\"}} Registered factories are "
      "{{DIRECT_SESSION}}.",
      options.target);
}

Result<TF_Session*> LoadSession(const TF_SessionOptions& options, const std::string& dir,
                                std::vector<std::string> tags, TF_Graph* graph, TF_Buffer* meta_graph_def) {
  TARE_RETURN_IF_ERROR(CheckTarget(options));
  LoadOptions load;
  load.tags = std::move(tags);
  load.signatures = false;
  TARE_ASSIGN_OR_RETURN(SavedModelFile file, SavedModelFile::Open(dir, load.files, graph->account));
  TARE_ASSIGN_OR_RETURN(MetaGraph meta, file.Select(load.tags));
  auto context = std::make_unique<EagerContext>(EagerContext::Options{.threads = options.threads});
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::LoadGraph(*context, dir, file, meta, load));
  auto session = std::make_unique<TF_Session>(Ref<TF_Graph>::Share(graph), std::move(context), std::move(model), 1);
  TARE_RETURN_IF_ERROR(graph->Add(meta.graph_def, std::make_shared<Ref<MappedFile>>(file.file())));
  if (meta_graph_def) TARE_RETURN_IF_ERROR(Fill(meta_graph_def, meta.bytes));
  return session.release();
}

}  // namespace

TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions* session_options, const TF_Buffer* run_options,
                                         const char* export_dir, const char* const* tags, int tags_len,
                                         TF_Graph* graph, TF_Buffer* meta_graph_def, TF_Status* status) {
  return TryGet<TF_Session*>(status, nullptr, [&]() -> Result<TF_Session*> {
    TARE_CAPI_REQUIRE(session_options);
    TARE_CAPI_REQUIRE(export_dir);
    TARE_CAPI_REQUIRE(graph);
    std::vector<std::string> tag_list;
    for (int i = 0; i < tags_len; ++i) {
      TARE_CAPI_REQUIRE(tags && tags[i]);
      tag_list.emplace_back(tags[i]);
    }
    TARE_RETURN_IF_ERROR(CheckRunOptions(run_options));
    {
      std::lock_guard lock(graph->mutex);
      if (!graph->empty()) return InvalidArgument("Graph is non-empty.");
    }
    if (meta_graph_def && meta_graph_def->data) return InvalidArgument("Passing non-empty TF_Buffer is invalid.");
    return LoadSession(*session_options, export_dir, std::move(tag_list), graph, meta_graph_def);
  });
}

TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts, TF_Status* status) {
  return TryGet<TF_Session*>(status, nullptr, [&]() -> Result<TF_Session*> {
    TARE_CAPI_REQUIRE(graph);
    TARE_CAPI_REQUIRE(opts);
    TARE_RETURN_IF_ERROR(CheckTarget(*opts));
    auto context = std::make_unique<EagerContext>(EagerContext::Options{.threads = opts->threads});
    auto model = Model::MakeEmpty(*context, "session");
    return new TF_Session(Ref<TF_Graph>::Share(graph), std::move(context), std::move(model), 0);
  });
}

void TF_CloseSession(TF_Session* session, TF_Status* status) {
  Try(status, [&]() -> Status {
    TARE_CAPI_REQUIRE(session);
    session->Close();
    return OkStatus();
  });
}

void TF_DeleteSession(TF_Session* session, TF_Status* status) {
  SetOk(status);
  delete session;
}

TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) {
  return TryGet<TF_DeviceList*>(status, nullptr, [&]() -> Result<TF_DeviceList*> {
    TARE_CAPI_REQUIRE(session);
    return MakeDeviceList();
  });
}

void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
                   TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs, TF_Tensor** output_values,
                   int noutputs, const TF_Operation* const* target_opers, int ntargets, TF_Buffer* run_metadata,
                   TF_Status* status) {
  Try(status, [&]() -> Status {
    if (ninputs < 0 || noutputs < 0 || ntargets < 0) return InvalidArgument("a count is negative");
    if (noutputs > 0) {
      TARE_CAPI_REQUIRE(outputs && output_values);
      std::fill_n(output_values, noutputs, nullptr);
    }
    TARE_CAPI_REQUIRE(session);
    if (ninputs > 0) TARE_CAPI_REQUIRE(inputs && input_values);
    if (ntargets > 0) TARE_CAPI_REQUIRE(target_opers);
    if (run_metadata && run_metadata->data) return InvalidArgument("Passing non-empty run_metadata is invalid.");
    TARE_RETURN_IF_ERROR(CheckRunOptions(run_options));
    if (noutputs == 0 && ntargets == 0) {
      return InvalidArgument("Must specify at least one target to fetch or execute.");
    }
    std::vector<Tensor> values;
    std::vector<DType> types;
    for (int i = 0; i < ninputs; ++i) {
      TARE_CAPI_REQUIRE(input_values[i]);
      values.push_back(input_values[i]->tensor);
      types.push_back(values.back().dtype());
    }
    const RunRequest request{{inputs, static_cast<size_t>(ninputs)},
                             types,
                             {outputs, static_cast<size_t>(noutputs)},
                             {target_opers, static_cast<size_t>(ntargets)}};
    TARE_ASSIGN_OR_RETURN(std::vector<Tensor> results, session->Run(request, std::move(values)));
    std::vector<std::unique_ptr<TF_Tensor>> made;
    made.reserve(results.size());
    for (const Tensor& t : results) {
      TARE_ASSIGN_OR_RETURN(TF_Tensor* tensor, MakeTensor(t));
      made.emplace_back(tensor);
    }
    for (int i = 0; i < noutputs; ++i) output_values[i] = made[i].release();
    return OkStatus();
  });
}
