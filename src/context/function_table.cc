#include "context/function_table.h"

#include "context/attr_builder.h"
#include "graph/importer.h"
#include "plan/plan_builder.h"
#include "wire/message.h"

namespace tare {
namespace {

using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

// Everything a call's plan was built from; the plan goes first.
class CallKernel final : public Kernel {
 public:
  CallKernel(const Ref<Account>& account, const OpRegistry& ops, const KernelRegistry& kernels)
      : region_(account, Kind::kGraphs),
        tensors_(account, nullptr),
        library_({&ops, &region_, &tensors_, &mutex_}),
        builder_(library_, kernels, account) {}

  Status Keep(Ref<EagerFunction> f) {
    functions_.push_back(std::move(f));
    return library_.Index(functions_.back()->library());
  }

  Status Build(const IndexedOp& op, Attrs attrs, std::span<const DType> inputs, std::span<const DType> outputs) {
    for (const Attr& a : attrs) attrs_.Set(a.name, a.value);
    std::vector<Node> nodes(inputs.size() + 1);
    std::vector<int32_t> args;
    std::vector<Endpoint> from, returns;
    std::vector<std::string_view> names(inputs.size(), "input");
    for (size_t i = 0; i < inputs.size(); ++i) {
      nodes[i].name = names[i];
      nodes[i].op_name = kArgOp;
      args.push_back(static_cast<int32_t>(i));
      from.push_back({static_cast<int32_t>(i), 0});
    }
    Node& call = nodes.back();
    call.name = call.op_name = region_.CopyString(op.def->name);
    call.op = op.function ? nullptr : op.def;
    call.attrs = attrs_.attrs();
    call.inputs = from;
    const auto call_index = static_cast<int32_t>(inputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) returns.push_back({call_index, static_cast<int32_t>(i)});
    const Graph graph{.name = call.name, .nodes = nodes, .args = args, .arg_types = inputs, .arg_names = names,
                      .returns = returns, .return_names = {}, .control_returns = {&call_index, 1}};
    TARE_ASSIGN_OR_RETURN(plan_, builder_.Build(graph, {}, inputs));
    return OkStatus();
  }

  Status Run(KernelCall& c) const override {
    std::vector<Tensor> inputs, outputs(static_cast<size_t>(c.num_outputs()));
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.TakeInput(i));
    TARE_RETURN_IF_ERROR(plan_->Run(c.run(), inputs, outputs));
    for (size_t i = 0; i < outputs.size(); ++i) c.SetOutput(static_cast<int>(i), std::move(outputs[i]));
    return OkStatus();
  }
  size_t bytes() const override { return sizeof *this; }

 private:
  std::vector<Ref<EagerFunction>> functions_;
  std::mutex mutex_;
  Region region_;
  wire::TensorStore tensors_;
  AttrBuilder attrs_;
  FunctionLibrary library_;
  PlanBuilder builder_;
  std::unique_ptr<const Plan> plan_;
};

}  // namespace

Result<Ref<EagerFunction>> EagerFunction::Make(std::string_view function_def, const Ref<Account>& account) {
  auto f = Ref<EagerFunction>::Adopt(new EagerFunction(account));
  TARE_RETURN_IF_ERROR(f->Read(function_def));
  return f;
}

Status EagerFunction::Read(std::string_view bytes) {
  // A library is its functions, each with tag 1 and a length in front.
  std::string header = "\x0a";
  for (size_t n = bytes.size();; n >>= 7) {
    header += static_cast<char>(n >= 0x80 ? (n & 0x7f) | 0x80 : n);
    if (n < 0x80) break;
  }
  library_ = region_.CopyString(header + std::string(bytes));
  function_def_ = library_.substr(header.size());
  std::vector<ArgDef> inputs, outputs;
  TARE_RETURN_IF_ERROR(ForEachField(function_def_, "FunctionDef", [&](Reader& f) -> Status {
    if (f.tag() != 1) return OkStatus();
    return ForEachField(Bytes(f), "signature", [&](Reader& r) -> Status {
      const uint32_t tag = r.tag();
      if (tag == 1) def_.name = Bytes(r);
      if (tag == 17) def_.stateful = r.get_bool();
      if (tag != 2 && tag != 3) return OkStatus();
      TARE_ASSIGN_OR_RETURN(ArgDef a, ReadArgDef(Bytes(r)));
      (tag == 2 ? inputs : outputs).push_back(a);
      return OkStatus();
    });
  }));
  if (def_.name.empty()) return InvalidArgument("a function without a name");
  def_.name = std::string_view(region_.CopyString(std::string(def_.name) + '\0').data(), def_.name.size());
  def_.inputs = region_.CopyArray(std::span<const ArgDef>(inputs));
  def_.outputs = region_.CopyArray(std::span<const ArgDef>(outputs));
  op_ = {&def_, nullptr, FingerprintOf(function_def_), true};
  return OkStatus();
}

Status FunctionTable::Add(std::string_view function_def) {
  TARE_ASSIGN_OR_RETURN(Ref<EagerFunction> f, EagerFunction::Make(function_def, account_));
  if (ops_.Find(f->name())) return InvalidArgument("Cannot add function '{}': there is an op of that name", f->name());
  std::lock_guard lock(mutex_);
  auto it = functions_.find(f->name());
  if (it == functions_.end()) {
    functions_.emplace(std::string(f->name()), Counted{f});
    return OkStatus();
  }
  if (it->second.function->function_def() != function_def) {
    return InvalidArgument(
        "Attempting to add a duplicate function with name: {} where the previous and current definitions differ.",
        f->name());
  }
  ++it->second.count;
  return OkStatus();
}

Result<bool> FunctionTable::Remove(std::string_view name) {
  std::lock_guard lock(mutex_);
  auto it = functions_.find(name);
  if (it == functions_.end()) return InvalidArgument("Tried to remove non-existent function '{}'.", name);
  if (--it->second.count > 0) return false;
  functions_.erase(it);
  return true;
}

Ref<EagerFunction> FunctionTable::Find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second.function;
}

Result<KernelPtr> FunctionTable::MakeCallKernel(const IndexedOp& op, Attrs attrs, std::span<const DType> inputs,
                                                std::span<const DType> outputs) const {
  auto kernel = std::make_unique<CallKernel>(account_, ops_, kernels_);
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, counted] : functions_) TARE_RETURN_IF_ERROR(kernel->Keep(counted.function));
  }
  TARE_RETURN_IF_ERROR(kernel->Build(op, attrs, inputs, outputs));
  return KernelPtr(kernel.release(), KernelDeleter{false});
}

}  // namespace tare
