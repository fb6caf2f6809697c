// A loaded model: its signatures, ready to run, and everything it holds.
//
// A model owns its scope: mapped files, graphs, variables and tables, plans, its account. Unload waits for
// running calls (or cancels them), drops the scope and returns the receipt. Thread-safe: many threads may
// run one model, and one may unload it meanwhile; a run that comes later gets FailedPrecondition.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "context/eager_context.h"
#include "passes/passes.h"
#include "saved_model/functions.h"
#include "saved_model/meta_graph.h"
#include "saved_model/receipt.h"

namespace tare {

class ObjectLoader;
class Plan;

struct LoadOptions {
  // The tag set of the meta graph; empty: the only one there is, else {"serve"}, else the first with that tag.
  std::vector<std::string> tags;
  // kMap (the default) maps checkpoint and graph files; kRead reads them, for files that another program
  // might truncate while they are mapped, which would kill the process.
  MappedFile::Mode files = MappedFile::Mode::kMap;
  bool verify_checksums = true;
  // kObjects: the TF2 object graph, as tf.saved_model.load; kGraph: graph and signatures, as a session.
  // kAuto takes the object graph where there is one.
  enum class Loader { kAuto, kObjects, kGraph };
  Loader loader = Loader::kAuto;
  // For a frozen graph (a GraphDef in a .pb file): nodes or "node:port" that are fed and fetched. None given:
  // all placeholders, and every node that no other reads.
  std::vector<std::string> inputs, outputs;
  // Whether signatures are built. A session does without: it runs subgraphs.
  bool signatures = true;
  // What is done to graphs before they become plans.
  PassOptions passes;
};

// One input or output of a signature.
struct SignaturePort {
  std::string name;
  DType dtype = DType::kInvalid;
  bool unknown_rank = true;
  std::vector<int64_t> dims;  // -1: unknown
  Tensor default_value;       // valid where the input may be left out
  PartialShape shape() const { return {unknown_rank, dims}; }
};

struct Signature {
  std::string name;
  std::string method_name;
  std::vector<SignaturePort> inputs, outputs;
  const Plan* plan = nullptr;
  // Why the signature cannot run, where that is an op Tare lacks; other signatures may. Then plan is null.
  Status unavailable;
};

// A part of a model's graph between tensors that are fed and fetched. It goes before its model is unloaded.
struct Subgraph {
  explicit Subgraph(const Ref<Account>& account);
  ~Subgraph();
  Region region;
  std::unique_ptr<const Plan> plan;
  Signature signature;  // nameless; its ports are in the order given
};

// A variable of a loaded model: its name as saved, and the name its resource has.
struct VariableInfo {
  std::string name, resource;
  DType dtype = DType::kInvalid;
  Shape shape;
};

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

class Model {
 public:
  // `path` is the directory of a SavedModel or the .pb file of a frozen graph, which becomes a model with the
  // one signature serving_default. `context` must outlive the model. Errors name the file and, in it, the node, tensor or field; a failed
  // load leaves nothing behind.
  static Result<std::unique_ptr<Model>> Load(EagerContext& context, const std::string& path,
                                             const LoadOptions& options = {});
  // One meta graph of a file that was opened, as a session loads it: by graph and signatures.
  static Result<std::unique_ptr<Model>> LoadGraph(EagerContext& context, const std::string& path,
                                                  const SavedModelFile& file, const MetaGraph& meta,
                                                  const LoadOptions& options);
  // Without a file and without nodes: a graph is added to it, and its subgraphs are run.
  static std::unique_ptr<Model> MakeEmpty(EagerContext& context, const std::string& name);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const std::string& path() const { return path_; }
  EagerContext& context() const { return context_; }
  const std::vector<Signature>& signatures() const { return signatures_; }
  // Null when there is none of that name.
  const Signature* FindSignature(std::string_view name) const;

  // Outputs belong to the caller and outlive the model. InvalidArgument names an input that is missing,
  // unknown, or of the wrong dtype or shape.
  Result<NamedTensors> Run(const Signature& signature, const NamedTensors& inputs);
  // The same with inputs in the signature's order. `observer`, where given, is told of every step.
  Result<std::vector<Tensor>> Run(const Signature& signature, std::vector<Tensor> inputs,
                                  StepObserver* observer = nullptr);

  // What `fetches` ("node:port") and `targets` ("node") need, `feeds` of these dtypes given; to be run by its
  // signature. InvalidArgument for a placeholder that is not fed, or fed another dtype.
  Result<std::unique_ptr<Subgraph>> MakeSubgraph(std::span<const std::string> feeds, std::span<const DType> feed_types,
                                                 std::span<const std::string> fetches,
                                                 std::span<const std::string> targets);
  // Adds a GraphDef's nodes and functions; its bytes outlive the model. Functions known already are passed over.
  Status AddGraph(std::string_view graph_def);
  // Ends running calls with Cancelled, and later ones at once.
  void Cancel() { cancelled_ = true; }

  // A node of the object graph; 0 is the root. NotFound when the model was loaded without one or has no such node.
  Result<ObjectView> Object(int32_t node);
  // A concrete function, to be run like a signature: its plan is made on first use, and what it captures that
  // signatures do not is restored then. Lives as long as the model.
  Result<const Signature*> Function(const std::string& name);

  // Waits for running calls, or cancels them, then gives everything back. A second call returns the same.
  enum class Running { kWait, kCancel };
  Receipt Unload(Running running = Running::kWait);
  // The same without a receipt: it takes no memory.
  void Close(Running running);

  // Bytes by kind, now.
  const Account& account() const { return *account_; }
  // Gives back what is kept for the next runs. On any thread, beside runs.
  void Trim() { account_->Trim(false); }
  // Variables restored, tables and other resources.
  struct Resources {
    size_t variables = 0, others = 0;
  };
  Resources resources() const;
  // All of the object graph, restored or not, and those a graph made, by name. FailedPrecondition once unloaded.
  Result<std::vector<VariableInfo>> Variables();
  // A copy, the caller's; restores the variable if nothing needed it before. NotFound when there is none of
  // that name.
  Result<Tensor> ReadVariable(std::string_view resource);

 private:
  struct Scope;
  Model(EagerContext& context, std::string path);
  // What Load does once file and meta graph are read.
  Status LoadFrom(const Ref<MappedFile>& file, const MetaGraph& meta, bool objects, const LoadOptions& options);
  Status CheckInput(const Signature& s, const SignaturePort& port, const Tensor& t) const;
  // Between Enter and Leave the model is not unloaded.
  struct CallGuard;
  Status Enter();
  void Leave();
  Result<ObjectLoader*> Objects();
  Result<const Signature*> BuildFunction(const std::string& name);
  Result<std::vector<Tensor>> RunPlan(const Signature& s, std::vector<Tensor> inputs, StepObserver* observer = nullptr);
  // Variables of the object graph that nothing made so far, by node. REQUIRES: functions_mutex_ is held.
  Result<std::vector<int32_t>> UnmadeVariables();
  Result<std::vector<VariableInfo>> ListVariables();
  Result<Tensor> CopyVariable(std::string_view resource);
  // Makes an output the caller's own.
  Status HandOver(Tensor* t);

  EagerContext& context_;
  const std::string path_;
  Ref<Account> account_;
  std::unique_ptr<Scope> scope_;
  std::vector<Signature> signatures_;
  std::mutex functions_mutex_;
  std::map<std::string, Signature> functions_;  // guarded by functions_mutex_; addresses stay
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> outputs_alias_weights_{false};
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  int running_ = 0;         // guarded by mutex_
  bool unloading_ = false;  // guarded by mutex_
  Receipt receipt_;         // guarded by mutex_; set once unloaded
};

}  // namespace tare
