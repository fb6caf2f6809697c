#include "context/eager_context.h"

#include <unistd.h>

namespace tare {
namespace {

constexpr std::string_view kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

std::string HostName() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

void AttrBuilder::Set(std::string_view name, const AttrValue& value) {
  if (!Has(name)) attrs_.push_back({Copy(name), Copy(value)});
}

void AttrBuilder::Clear() {
  attrs_.clear();
  tensors_.clear();
  memory_.release();
}

std::string_view AttrBuilder::Copy(std::string_view s) {
  if (s.empty()) return {};
  char* p = static_cast<char*>(memory_.allocate(s.size(), 1));
  std::memcpy(p, s.data(), s.size());
  return {p, s.size()};
}

AttrValue AttrBuilder::Copy(const AttrValue& v) {
  AttrValue c = v;
  if (v.is_list) {
    auto* p = static_cast<AttrValue*>(memory_.allocate(v.list.size() * sizeof(AttrValue), alignof(AttrValue)));
    for (size_t i = 0; i < v.list.size(); ++i) new (p + i) AttrValue(Copy(v.list[i]));
    c.list = {p, v.list.size()};
    return c;
  }
  switch (v.kind) {
    case AttrKind::kString:
    case AttrKind::kPlaceholder: c.s = Copy(v.s); break;
    case AttrKind::kShape: {
      auto* p = static_cast<int64_t*>(memory_.allocate(v.shape.dims.size_bytes(), alignof(int64_t)));
      std::copy(v.shape.dims.begin(), v.shape.dims.end(), p);
      c.shape.dims = {p, v.shape.dims.size()};
      break;
    }
    case AttrKind::kTensor:
      tensors_.push_back(std::make_unique<Tensor>(*v.tensor));
      c.tensor = tensors_.back().get();
      break;
    case AttrKind::kFunction: {
      auto* attrs = static_cast<Attr*>(memory_.allocate(v.function->attrs.size() * sizeof(Attr), alignof(Attr)));
      for (size_t i = 0; i < v.function->attrs.size(); ++i) {
        new (attrs + i) Attr{Copy(v.function->attrs[i].name), Copy(v.function->attrs[i].value)};
      }
      c.function = new (memory_.allocate(sizeof(FunctionRef), alignof(FunctionRef)))
          FunctionRef{Copy(v.function->name), {attrs, v.function->attrs.size()}};
      break;
    }
    default: break;
  }
  return c;
}

Result<EagerOp> EagerOp::Make(EagerContext& context, std::string_view name) {
  const OpDef* def = context.ops().Find(name);
  if (!def) {
    return NotFound(
        "'{}' is neither a type of a primitive operation nor a name of a function registered in binary running "
        "on {}. Make sure the operation or function is registered in the binary running in this process.",
        name, HostName());
  }
  const KernelRow* row = context.kernels().Find(name);
  if (!row) return Unimplemented("Tare has no kernel for the op '{}'", name);
  return EagerOp(context, def, row);
}

Status EagerOp::AddInput(Tensor t) {
  if (next_arg_ >= def_->inputs.size()) {
    return InvalidArgument("{} takes {} inputs; one more was added", def_->name, def_->inputs.size());
  }
  const ArgDef& arg = def_->inputs[next_arg_];
  // Tensors of a list added one by one: the caller sets the count or the types.
  bool list = !arg.number_attr.empty() || !arg.type_list_attr.empty();
  if (!list) ++next_arg_;
  // A reference travels as a resource handle, which says nothing of its type.
  const bool handle = arg.is_ref && t.dtype() == DType::kResource;
  if (!arg.type_attr.empty() && !handle) attrs_->Set(arg.type_attr, AttrValue::Type(t.dtype()));
  inputs_.push_back(std::move(t));
  return OkStatus();
}

Status EagerOp::AddInputList(std::span<const Tensor> tensors) {
  if (next_arg_ >= def_->inputs.size()) {
    return InvalidArgument("{} takes {} inputs; one more was added", def_->name, def_->inputs.size());
  }
  const ArgDef& arg = def_->inputs[next_arg_++];
  if (!arg.type_list_attr.empty()) {
    std::vector<AttrValue> types;
    for (const Tensor& t : tensors) types.push_back(AttrValue::Type(t.dtype()));
    attrs_->Set(arg.type_list_attr, AttrValue::List(AttrKind::kType, types));
  } else if (!arg.number_attr.empty()) {
    attrs_->Set(arg.number_attr, AttrValue::Int(static_cast<int64_t>(tensors.size())));
    if (!arg.type_attr.empty() && !tensors.empty()) {
      attrs_->Set(arg.type_attr, AttrValue::Type(tensors[0].dtype()));
    }
  } else {
    return InvalidArgument("input '{}' of {} takes one tensor, not a list", arg.name, def_->name);
  }
  inputs_.insert(inputs_.end(), tensors.begin(), tensors.end());
  return OkStatus();
}

Result<std::vector<Tensor>> EagerOp::Execute() { return context_->Execute(*this, context_->run_context()); }

EagerContext::EagerContext(const Options& options)
    : account_(MakeRef<Account>("eager context")),
      ops_(account_),
      threads_(options.threads),
      cache_(account_, options.kernel_cache),
      resources_(account_) {}

EagerContext::~EagerContext() {
  resources_.Clear();
  account_->Trim(true);
}

RunContext EagerContext::run_context() { return {account_, &threads_, &resources_, &randoms_}; }

Result<KernelCache::Pin> EagerContext::GetOrCreateKernel(const OpDef& op, const KernelRow& row, Attrs attrs) {
  const bool keep = !(row.flags & kNeverCached) || cache_.policy().cache_handle_makers;
  Fingerprint key;
  if (keep) {
    key = FingerprintOf(op.name, kDevice, attrs);
    if (KernelCache::Pin pin = cache_.Get(key, op.name)) return pin;
  }
  TARE_RETURN_IF_ERROR(CheckAttrs(op, attrs));
  TARE_ASSIGN_OR_RETURN(KernelPtr kernel, row.make(KernelInit{op, attrs}));
  if (!keep) return cache_.Uncached(std::move(kernel), {.op = op.name, .attrs = attrs});
  return cache_.AddKernelToCache(key, std::move(kernel), {.op = op.name, .attrs = attrs});
}

void EagerContext::SetSeed(int64_t seed) {
  randoms_.SetSeed(seed);
  cache_.Clear();
}

Result<std::vector<Tensor>> EagerContext::Execute(EagerOp& op, const RunContext& run) {
  const OpDef& def = *op.def_;
  Attrs attrs = op.attrs_->attrs();
  TARE_ASSIGN_OR_RETURN(std::vector<DType> in, FlatTypes(def, def.inputs, attrs));
  if (in.size() != op.inputs_.size()) {
    return InvalidArgument("expected {} inputs, got {}", in.size(), op.inputs_.size());
  }
  for (size_t i = 0; i < in.size(); ++i) {
    // See AddInput.
    if (i == 0 && def.inputs[0].is_ref && op.inputs_[0].dtype() == DType::kResource) continue;
    if (in[i] != op.inputs_[i].dtype()) {
      return InvalidArgument("cannot compute {} as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor",
                             def.name, i, DTypeName(in[i]), DTypeName(op.inputs_[i].dtype()));
    }
  }
  TARE_ASSIGN_OR_RETURN(std::vector<DType> out, FlatTypes(def, def.outputs, attrs));
  TARE_ASSIGN_OR_RETURN(KernelCache::Pin kernel, GetOrCreateKernel(def, *op.row_, attrs));
  std::vector<Tensor*> inputs;
  std::vector<char> last_use(in.size(), 1);
  for (Tensor& t : op.inputs_) inputs.push_back(&t);
  std::vector<Tensor> outputs(out.size());
  KernelCall call(run, inputs, {reinterpret_cast<const bool*>(last_use.data()), last_use.size()}, outputs, def.name);
  FlushDenormals flush;
  Status status = kernel->Run(call);
  op.inputs_.clear();
  op.next_arg_ = 0;
  if (!status.ok()) return std::move(status).AtNode(def.name);
  return outputs;
}

}  // namespace tare
