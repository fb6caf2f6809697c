#include "context/eager_context.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "plan/flat_graph.h"

namespace tare {
namespace {

constexpr std::string_view kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

std::string HostName() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

Status TooManyInputs(const OpDef& op) {
  return InvalidArgument("{} takes {} inputs; one more was added", op.name, op.inputs.size());
}

bool TakesOne(const ArgDef& arg) { return arg.number_attr.empty() && arg.type_list_attr.empty(); }

// How many tensors the arguments take in all.
Result<int64_t> CountPorts(const OpDef& op, std::span<const ArgDef> args, Attrs attrs) {
  int64_t n = 0;
  for (const ArgDef& arg : args) {
    if (TakesOne(arg)) {
      ++n;
      continue;
    }
    TARE_ASSIGN_OR_RETURN(int64_t of_arg, ArgCount(op, arg, attrs));
    n += of_arg;
  }
  return n;
}

// The dtype of the `i`th tensor of an argument. REQUIRES: CountPorts found it good.
Result<DType> TypeOf(const OpDef& op, const ArgDef& arg, Attrs attrs, int64_t i) {
  if (!arg.type_list_attr.empty()) return AttrOrDefault(op, attrs, arg.type_list_attr)->list[i].type();
  if (arg.type_attr.empty()) return arg.type;
  const AttrValue* v = AttrOrDefault(op, attrs, arg.type_attr);
  if (!v) return InvalidArgument("{} is missing attr '{}'", op.name, arg.type_attr);
  if (v->kind != AttrKind::kType || v->is_list) {
    return InvalidArgument("attr '{}' of {} is not of type type", arg.type_attr, op.name);
  }
  return v->type();
}

// That the inputs are as many and of the dtypes that the definition asks for under these attributes.
Status CheckInputs(const OpDef& op, Attrs attrs, std::span<const Tensor> inputs) {
  TARE_ASSIGN_OR_RETURN(const int64_t expected, CountPorts(op, op.inputs, attrs));
  if (static_cast<size_t>(expected) != inputs.size()) {
    return InvalidArgument("expected {} inputs, got {}", expected, inputs.size());
  }
  size_t i = 0;
  for (const ArgDef& arg : op.inputs) {
    int64_t of_arg = 1;
    if (!TakesOne(arg)) {
      TARE_ASSIGN_OR_RETURN(of_arg, ArgCount(op, arg, attrs));
    }
    for (int64_t k = 0; k < of_arg; ++k, ++i) {
      TARE_ASSIGN_OR_RETURN(const DType type, TypeOf(op, arg, attrs, k));
      // A reference comes as a handle; see AddInput.
      if (type == inputs[i].dtype() || (arg.is_ref && inputs[i].dtype() == DType::kResource)) continue;
      return InvalidArgument(
          "cannot compute {} as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor", op.name, i,
          DTypeName(type), DTypeName(inputs[i].dtype()));
    }
  }
  return OkStatus();
}

// Whether the op calls functions that its attributes name.
bool CallsFunctions(std::string_view op) {
  return IsFunctionalOp(op) || op == "PartitionedCall" || op == "StatefulPartitionedCall";
}

// The inputs as a KernelCall takes them, all of them the kernel's to take over; few need no heap.
class InputPointers {
 public:
  explicit InputPointers(std::span<Tensor> inputs) : size_(inputs.size()) {
    if (size_ > kFew) {
      many_.resize(size_);
      many_last_use_ = std::make_unique<bool[]>(size_);
    }
    Tensor** to = size_ > kFew ? many_.data() : few_.data();
    for (size_t i = 0; i < size_; ++i) to[i] = &inputs[i];
    std::fill_n(many_last_use_.get(), size_ > kFew ? size_ : 0, true);
  }
  std::span<Tensor* const> tensors() const { return {size_ > kFew ? many_.data() : few_.data(), size_}; }
  std::span<const bool> last_use() const { return {size_ > kFew ? many_last_use_.get() : kTrue.data(), size_}; }

 private:
  static constexpr size_t kFew = 8;
  static constexpr std::array<bool, kFew> kTrue = {true, true, true, true, true, true, true, true};
  const size_t size_;
  std::array<Tensor*, kFew> few_;
  std::vector<Tensor*> many_;
  std::unique_ptr<bool[]> many_last_use_;
};

}  // namespace

struct EagerOp::State {
  static constexpr size_t kUsualInputs = 3;
  State() : memory(space, sizeof space), inputs(&memory) { inputs.reserve(kUsualInputs); }

  AttrBuilder attrs;
  alignas(16) std::byte space[kUsualInputs * sizeof(Tensor)];
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<Tensor> inputs;
  size_t next_arg = 0;
};

EagerOp::EagerOp(EagerContext& context) : context_(&context) {}
EagerOp::EagerOp(EagerOp&&) noexcept = default;
EagerOp& EagerOp::operator=(EagerOp&&) noexcept = default;
EagerOp::~EagerOp() = default;

Status EagerOp::Find(std::string_view name) {
  const IndexedOp* op = context_->index_.Find(name);
  Ref<EagerFunction> function;
  if (!op) {
    function = context_->functions_.Find(name);
    if (!function) {
      return NotFound(
          "'{}' is neither a type of a primitive operation nor a name of a function registered in binary running "
          "on {}. Make sure the operation or function is registered in the binary running in this process.",
          name, HostName());
    }
    op = &function->op();
  } else if (!op->row && !CallsFunctions(name)) {
    return Unimplemented("Tare has no kernel for the op '{}'", name);
  }
  op_ = op;
  function_ = std::move(function);
  return OkStatus();
}

Result<EagerOp> EagerOp::Make(EagerContext& context, std::string_view name) {
  EagerOp op(context);
  TARE_RETURN_IF_ERROR(op.Find(name));
  op.state_ = std::make_unique<State>();
  return op;
}

Status EagerOp::Become(std::string_view name) {
  if (op_->function || op_->def->name != name) TARE_RETURN_IF_ERROR(Find(name));
  Reset();
  return OkStatus();
}

void EagerOp::Reset() {
  state_->~State();
  new (state_.get()) State();
}

std::span<Tensor> EagerOp::inputs() { return state_->inputs; }
Attrs EagerOp::attrs() const { return state_->attrs.attrs(); }

Result<size_t> EagerOp::CountOutputs() const {
  TARE_ASSIGN_OR_RETURN(const int64_t n, CountPorts(def(), def().outputs, attrs()));
  return static_cast<size_t>(n);
}

Result<std::vector<DType>> EagerOp::OutputTypes() const { return FlatTypes(def(), def().outputs, attrs()); }

void EagerOp::SetAttr(std::string_view name, const AttrValue& value) { state_->attrs.Set(name, value); }

Status EagerOp::AddInput(Tensor t) {
  State& s = *state_;
  if (s.next_arg >= def().inputs.size()) return TooManyInputs(def());
  const ArgDef& arg = def().inputs[s.next_arg];
  // Tensors of a list added one by one: the caller sets the count or the types.
  if (TakesOne(arg)) ++s.next_arg;
  // A reference travels as a resource handle, which says nothing of its type.
  const bool handle = arg.is_ref && t.dtype() == DType::kResource;
  if (!arg.type_attr.empty() && !handle) s.attrs.SetKept(arg.type_attr, AttrValue::Type(t.dtype()));
  s.inputs.push_back(std::move(t));
  return OkStatus();
}

Status EagerOp::AddInputList(std::span<const Tensor> tensors) {
  State& s = *state_;
  if (s.next_arg >= def().inputs.size()) return TooManyInputs(def());
  const ArgDef& arg = def().inputs[s.next_arg++];
  if (!arg.type_list_attr.empty()) {
    std::vector<AttrValue> types;
    for (const Tensor& t : tensors) types.push_back(AttrValue::Type(t.dtype()));
    s.attrs.Set(arg.type_list_attr, AttrValue::List(AttrKind::kType, types));
  } else if (!arg.number_attr.empty()) {
    s.attrs.SetKept(arg.number_attr, AttrValue::Int(static_cast<int64_t>(tensors.size())));
    if (!arg.type_attr.empty() && !tensors.empty()) {
      s.attrs.SetKept(arg.type_attr, AttrValue::Type(tensors[0].dtype()));
    }
  } else {
    return InvalidArgument("input '{}' of {} takes one tensor, not a list", arg.name, def().name);
  }
  s.inputs.insert(s.inputs.end(), tensors.begin(), tensors.end());
  return OkStatus();
}

Result<std::vector<Tensor>> EagerOp::Execute() { return context_->Execute(*this, context_->run_context()); }

EagerContext::EagerContext(const Options& options)
    : account_(MakeRef<Account>("eager context", Account::kPoolLimit, options.memory_gate)),
      memory_gate_(options.memory_gate),
      ops_(account_),
      index_(ops_, kernels_, kDevice),
      functions_(account_, ops_, kernels_),
      threads_(options.threads),
      cache_(account_, options.kernel_cache),
      resources_(account_),
      run_context_{account_, &threads_, &resources_, &randoms_} {}

EagerContext::~EagerContext() {
  resources_.Clear();
  account_->Trim(true);
}

Result<KernelCache::Pin> EagerContext::GetOrCreateKernel(const IndexedOp& op, Attrs attrs) {
  const std::string_view name = op.def->name;
  const bool keep = !(op.row->flags & kNeverCached) || cache_.policy().cache_handle_makers;
  Fingerprint key;
  if (keep) {
    key = WithAttrs(op.identity, attrs);
    if (KernelCache::Pin pin = cache_.Get(key, name)) return pin;
  }
  TARE_RETURN_IF_ERROR(CheckAttrs(*op.def, attrs));
  TARE_ASSIGN_OR_RETURN(KernelPtr kernel, op.row->make(KernelInit{*op.def, attrs}));
  if (!keep) return cache_.Uncached(std::move(kernel), {.op = name, .attrs = attrs});
  return cache_.AddKernelToCache(key, std::move(kernel), {.op = name, .attrs = attrs});
}

Result<KernelCache::Pin> EagerContext::GetOrCreateCall(const EagerOp& op) {
  const IndexedOp& called = *op.op_;
  const Attrs attrs = op.attrs();
  std::vector<DType> inputs;
  for (const Tensor& t : op.state_->inputs) inputs.push_back(t.dtype());
  const std::string_view bytes(reinterpret_cast<const char*>(inputs.data()), inputs.size());
  const Fingerprint types = FingerprintOf(bytes);
  const Fingerprint key = WithAttrs(Combine(called.identity, types), attrs);
  const std::string_view name = called.def->name;
  if (KernelCache::Pin pin = cache_.Get(key, name)) return pin;
  TARE_RETURN_IF_ERROR(CheckAttrs(*called.def, attrs));
  TARE_ASSIGN_OR_RETURN(std::vector<DType> outputs, op.OutputTypes());
  TARE_ASSIGN_OR_RETURN(KernelPtr kernel, functions_.MakeCallKernel(called, attrs, inputs, outputs));
  // What an op calls by name may be removed, and another added under that name: RemoveFunction drops them all.
  const void* owner = called.function ? nullptr : &functions_;
  return cache_.AddKernelToCache(key, std::move(kernel),
                                 {.op = name, .attrs = attrs, .is_function = called.function, .owner = owner});
}

Status EagerContext::RemoveFunction(std::string_view name) {
  TARE_ASSIGN_OR_RETURN(bool last, functions_.Remove(name));
  if (!last) return OkStatus();
  cache_.RemoveFunction(name);
  cache_.RemoveOwner(&functions_);
  return OkStatus();
}

void EagerContext::ClearCaches() {
  cleared_.fetch_add(1, std::memory_order_acq_rel);
  for (Lane& lane : lanes_) lane.Clear();
  cache_.Clear();
}

void EagerContext::SetSeed(int64_t seed) {
  randoms_.SetSeed(seed);
  ClearCaches();
}

size_t EagerContext::ThisThreadsLane() {
  // A thread's identity is an address; its upper bits tell neighbours apart once they are spread.
  const auto self = static_cast<uint64_t>(pthread_self());
  static_assert(kLanes == 16);
  return (self >> 8) * 0x9e3779b97f4a7c15u >> 60;
}

Result<size_t> EagerContext::ExecuteInLane(EagerOp& op, std::span<Tensor> outputs) {
  Lane& lane = lanes_[ThisThreadsLane()];
  return Execute(op, lane.run(run_context_, memory_gate_), outputs, &lane);
}

Result<std::vector<Tensor>> EagerContext::Execute(EagerOp& op, const RunContext& run) {
  TARE_ASSIGN_OR_RETURN(size_t n, op.CountOutputs());
  std::vector<Tensor> outputs(n);
  TARE_RETURN_IF_ERROR(Execute(op, run, outputs).status());
  return outputs;
}

Result<size_t> EagerContext::Execute(EagerOp& op, const RunContext& run, std::span<Tensor> outputs) {
  return Execute(op, run, outputs, nullptr);
}

Result<size_t> EagerContext::Execute(EagerOp& op, const RunContext& run, std::span<Tensor> outputs, Lane* lane) {
  EagerOp::State& state = *op.state_;
  const OpDef& def = op.def();
  const Attrs attrs = state.attrs.attrs();
  TARE_RETURN_IF_ERROR(CheckInputs(def, attrs, state.inputs));
  TARE_ASSIGN_OR_RETURN(const int64_t num_outputs, CountPorts(def, def.outputs, attrs));
  const auto n = static_cast<size_t>(num_outputs);
  if (n > outputs.size()) return InvalidArgument("Expecting {} outputs, but *num_retvals is {}", n, outputs.size());
  const bool in_lane = lane && op.op_->row && !(op.op_->row->flags & kNeverCached);
  const Fingerprint key = in_lane ? WithAttrs(op.op_->identity, attrs) : Fingerprint();
  const uint64_t cleared = cleared_.load(std::memory_order_acquire);
  KernelCache::Pin kernel;
  if (in_lane) kernel = lane->Take(key);
  if (!kernel) {
    TARE_ASSIGN_OR_RETURN(kernel, op.op_->row ? GetOrCreateKernel(*op.op_, attrs) : GetOrCreateCall(op));
  }
  const InputPointers inputs(state.inputs);
  KernelCall call(run, inputs.tensors(), inputs.last_use(), outputs.first(n), def.name);
  Status status;
  {
    FlushDenormals flush;
    status = kernel->Run(call);
  }
  if (in_lane && cleared == cleared_.load(std::memory_order_acquire)) lane->GiveBack(key, std::move(kernel));
  state.inputs.clear();
  state.next_arg = 0;
  if (status.ok()) return n;
  std::ranges::fill(outputs.first(n), Tensor());
  return std::move(status).AtNode(def.name);
}

}  // namespace tare
