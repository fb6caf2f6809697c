#include "capi/session.h"

#include <algorithm>

#include "capi/tensor.h"

using namespace tare;
using namespace tare::capi;

namespace {

// Identifies a request: the addresses of its nodes with ports and types.
std::string KeyOf(const RunRequest& r) {
  std::string key;
  key.reserve((r.inputs.size() + r.outputs.size() + r.targets.size() + 2) * 16);
  auto add = [&](const void* oper, int64_t n) {
    key.append(reinterpret_cast<const char*>(&oper), sizeof oper);
    key.append(reinterpret_cast<const char*>(&n), sizeof n);
  };
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    add(r.inputs[i].oper, r.inputs[i].index * int64_t{256} + static_cast<int>(r.input_types[i]));
  }
  add(nullptr, 0);
  for (const TF_Output& o : r.outputs) add(o.oper, o.index);
  add(nullptr, 1);
  for (const TF_Operation* t : r.targets) add(t, 0);
  return key;
}

// "node:port" of an output of this graph.
Result<std::string> NameOf(TF_Graph* graph, const TF_Output& o) {
  if (!o.oper) return InvalidArgument("an operation is NULL");
  if (o.oper->graph != graph) return InvalidArgument("an operation is of another graph");
  TARE_ASSIGN_OR_RETURN(const OperationDetails* d, graph->Details(o.oper));
  if (o.index < 0 || (d->op && static_cast<size_t>(o.index) >= d->output_types.size())) {
    return OutOfRange("Node '{}' (type: '{}', num of outputs: {}) does not have output {}", o.oper->name, d->type,
                      d->output_types.size(), o.index);
  }
  return fmt::format("{}:{}", o.oper->name, o.index);
}

}  // namespace

Status TF_Session::FollowGraph() {
  std::lock_guard lock(parts_mutex_);
  for (;; ++known_parts_) {
    std::string_view part;
    {
      std::lock_guard graph_lock(graph_->mutex);
      if (known_parts_ == graph_->parts.size()) return OkStatus();
      part = graph_->parts[known_parts_].graph_def;
    }
    TARE_RETURN_IF_ERROR(model_->AddGraph(part));
  }
}

Result<std::shared_ptr<const Subgraph>> TF_Session::Make(const RunRequest& request) {
  TARE_RETURN_IF_ERROR(FollowGraph());
  std::vector<std::string> feeds, fetches, targets;
  for (const TF_Output& o : request.inputs) {
    TARE_ASSIGN_OR_RETURN(feeds.emplace_back(), NameOf(graph_.get(), o));
  }
  for (const TF_Output& o : request.outputs) {
    TARE_ASSIGN_OR_RETURN(fetches.emplace_back(), NameOf(graph_.get(), o));
  }
  for (const TF_Operation* t : request.targets) {
    if (!t || t->graph != graph_.get()) return InvalidArgument("a target is NULL or of another graph");
    targets.emplace_back(t->name);
  }
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<Subgraph> part,
                        model_->MakeSubgraph(feeds, request.input_types, fetches, targets));
  return std::shared_ptr<const Subgraph>(std::move(part));
}

Result<std::shared_ptr<const Subgraph>> TF_Session::Prepare(const RunRequest& request) {
  std::string key = KeyOf(request);
  {
    std::lock_guard lock(mutex_);
    for (size_t i = plans_.size(); i-- > 0;) {
      if (plans_[i].key != key) continue;
      std::rotate(plans_.begin() + static_cast<ptrdiff_t>(i), plans_.begin() + static_cast<ptrdiff_t>(i) + 1,
                  plans_.end());
      return plans_.back().part;
    }
  }
  TARE_ASSIGN_OR_RETURN(std::shared_ptr<const Subgraph> part, Make(request));
  std::shared_ptr<const Subgraph> evicted;  // goes after the lock
  std::lock_guard lock(mutex_);
  if (plans_.size() >= kMaxPlans) {
    evicted = std::move(plans_.front().part);
    plans_.erase(plans_.begin());
  }
  plans_.push_back({std::move(key), part});
  return part;
}

Result<std::vector<Tensor>> TF_Session::Run(const RunRequest& request, std::vector<Tensor> values) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Cancelled("Session has been closed.");
    ++running_;
  }
  struct Leave {
    TF_Session* session;
    ~Leave() {
      std::lock_guard lock(session->mutex_);
      if (--session->running_ == 0) session->idle_.notify_all();
    }
  } leave{this};
  // The plan goes before the call is left.
  TARE_ASSIGN_OR_RETURN(std::shared_ptr<const Subgraph> part, Prepare(request));
  return model_->Run(part->signature, std::move(values));
}

void TF_Session::Close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  model_->Cancel();
  idle_.wait(lock, [&] { return running_ == 0; });
  std::vector<Plan> plans = std::move(plans_);
  plans_.clear();
  lock.unlock();
  plans.clear();
  model_->Close(Model::Running::kCancel);
}
