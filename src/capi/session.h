// A session: a model loaded by graph and signatures, and plans for the sets of tensors it was asked for.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/graph.h"
#include "saved_model/model.h"

struct TF_SessionOptions {
  int threads = 0;
  std::string target;
};

namespace tare::capi {

// What one call of TF_SessionRun names, without values.
struct RunRequest {
  std::span<const TF_Output> inputs;
  std::span<const DType> input_types;
  std::span<const TF_Output> outputs;
  std::span<const TF_Operation* const> targets;
};

}  // namespace tare::capi

// Thread-safe. Closing cancels what runs and waits for it.
struct TF_Session {
  // `known_parts` of the graph's are in the model already; the others follow when a plan needs them. Plans beyond
  // `kMaxPlans` push out those used longest ago. REQUIRES: the model has no signatures.
  TF_Session(tare::Ref<TF_Graph> graph, std::unique_ptr<tare::EagerContext> context,
             std::unique_ptr<tare::Model> model, size_t known_parts)
      : graph_(std::move(graph)), context_(std::move(context)), model_(std::move(model)), known_parts_(known_parts) {}
  ~TF_Session() { Close(); }

  tare::Result<std::vector<tare::Tensor>> Run(const tare::capi::RunRequest& request,
                                              std::vector<tare::Tensor> values);
  void Close();
  const tare::EagerContext& context() const { return *context_; }
  size_t num_plans() const { return plans_.size(); }

  static constexpr size_t kMaxPlans = 64;

 private:
  struct Plan {
    std::string key;
    std::shared_ptr<const tare::Subgraph> part;
  };
  tare::Result<std::shared_ptr<const tare::Subgraph>> Prepare(const tare::capi::RunRequest& request);
  tare::Result<std::shared_ptr<const tare::Subgraph>> Make(const tare::capi::RunRequest& request);
  // Gives the model what was added to the graph since the last plan.
  tare::Status FollowGraph();

  tare::Ref<TF_Graph> graph_;
  std::unique_ptr<tare::EagerContext> context_;
  std::unique_ptr<tare::Model> model_;
  std::mutex parts_mutex_;
  size_t known_parts_;  // guarded by parts_mutex_
  std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Plan> plans_;  // guarded by mutex_; most recently used last
  int running_ = 0;          // guarded by mutex_
  bool closed_ = false;      // guarded by mutex_
};
