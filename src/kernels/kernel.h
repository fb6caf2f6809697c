// The contract between an op's kernel and everything that runs it.
//
// A kernel is made once from a node's attributes and holds nothing else; it runs many times, from many
// threads at once, and reaches resources, threads and memory through the call. A family is one file with
// one constexpr table of rows (see registry.h); a row is one of
//
//   Op<ShapeOf>("Shape")            ShapeOf: Status(KernelCall&), an op whose attributes need no reading, or
//   Op<Concat>("ConcatV2")          struct Concat { explicit Concat(AttrReader&); Status Run(KernelCall&) const; };
//
// What the caller promises: the number and dtypes of inputs are those of the op's definition under the
// node's attributes, and every input holds a value. Shapes and values are the kernel's to check, with
// TensorFlow's codes and, where clients match text, its words.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "op/op_def.h"
#include "resource/resource_scope.h"
#include "tensor/tensor.h"
#include "tensor/workspace.h"
#include "threads/thread_pool.h"

namespace tare {

class RandomStates;
class FileCache;
class KernelCall;

// Told of every step of a run and of the plans nested in it, on the thread that runs them.
class StepObserver {
 public:
  virtual void Before(std::string_view op, const KernelCall& call) = 0;
  // Inputs that were taken over are empty by then.
  virtual void After(std::string_view op, const KernelCall& call) = 0;

 protected:
  ~StepObserver() = default;
};

// What one run of a plan, or one eager op, works in. Everything outlives the run.
struct RunContext {
  Ref<Account> account;        // who is charged for outputs and temporaries
  ThreadPool* threads;
  ResourceScope* resources;    // where handle makers look names up
  RandomStates* randoms;       // generators of stateful random ops
  FileCache* files = nullptr;  // checkpoints open for restoring; null outside a load
  const std::atomic<bool>* cancelled = nullptr;
  Workspace* workspace = nullptr;    // where plain outputs and temporaries come from; null: fresh memory
  StepObserver* observer = nullptr;
};

// One execution: inputs to read, outputs to set. Lives on the runner's stack.
class KernelCall {
 public:
  // `inputs[i]` may be taken over (moved from or written in place) where `last_use[i]` is set.
  KernelCall(const RunContext& run, std::span<Tensor* const> inputs, std::span<const bool> last_use,
             std::span<Tensor> outputs, std::string_view node)
      : run_(run), inputs_(inputs), last_use_(last_use), outputs_(outputs), node_(node) {}

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Tensor& input(int i) const { return *inputs_[i]; }
  const Tensor& output(int i) const { return outputs_[i]; }
  // The node's name, or the op's in an eager call: for messages and resource names.
  std::string_view node() const { return node_; }
  const RunContext& run() const { return run_; }
  ThreadPool& threads() const { return *run_.threads; }
  bool cancelled() const { return run_.cancelled && run_.cancelled->load(std::memory_order_relaxed); }

  // A fresh output, uninitialised where plain. The pointer is valid until the output is set again.
  Result<Tensor*> Output(int i, DType dtype, const Shape& shape);
  // The same, but in the memory of the first of `candidates` that nobody needs any more and that has the
  // dtype and element count. For element-wise kernels: element j is written after element j was read.
  Result<Tensor*> OutputOver(int i, std::initializer_list<int> candidates, DType dtype, const Shape& shape);
  // An output that exists: an input passed on, a view of one, a handle.
  void SetOutput(int i, Tensor t) { outputs_[i] = std::move(t); }
  // Input i itself, for in-place change of list and variant values: moved out when this is its last use,
  // else a copy that shares.
  Tensor TakeInput(int i);
  // Memory for the call's own use. On the thread that runs the call.
  Result<Tensor> Temp(DType dtype, const Shape& shape) const {
    return run_.workspace ? run_.workspace->Make(run_.account, dtype, shape) : Tensor::Make(run_.account, dtype, shape);
  }

 private:
  const RunContext& run_;
  std::span<Tensor* const> inputs_;
  std::span<const bool> last_use_;
  std::span<Tensor> outputs_;
  std::string_view node_;
};

// Reads a node's attributes (else the definition's defaults). The first problem sticks; the row that makes
// the kernel returns it, so a kernel's constructor just reads.
class AttrReader {
 public:
  AttrReader(const OpDef& op, Attrs attrs) : op_(op), attrs_(attrs) {}

  const OpDef& op() const { return op_; }
  bool Bool(std::string_view name);
  int64_t Int(std::string_view name);
  float Float(std::string_view name);
  DType Type(std::string_view name);
  std::string String(std::string_view name);
  std::vector<int64_t> Ints(std::string_view name);
  std::vector<float> Floats(std::string_view name);
  std::vector<DType> TypeList(std::string_view name);
  std::vector<std::string> Strings(std::string_view name);
  // Unknown rank where absent. The view lives as long as the node.
  PartialShape ShapeAttr(std::string_view name);
  std::vector<PartialShape> Shapes(std::string_view name);
  // Null after an error.
  const Tensor* TensorAttr(std::string_view name);
  bool Has(std::string_view name) const { return AttrOrDefault(op_, attrs_, name) != nullptr; }
  // For what a kernel itself finds wrong with its attributes.
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  const Status& status() const { return status_; }

 private:
  const AttrValue* Find(std::string_view name, AttrKind kind, bool list);
  const OpDef& op_;
  Attrs attrs_;
  Status status_;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Thread-safe. On an error, outputs may be set or not; the runner drops them.
  virtual Status Run(KernelCall& call) const = 0;
  // Bytes of the object itself, beside what it holds on the heap.
  virtual size_t bytes() const = 0;
};

// Kernels are made in a plan's region or on the heap; either way the deleter runs the destructor.
struct KernelDeleter {
  bool in_region = false;
  void operator()(const Kernel* k) const {
    if (in_region) k->~Kernel();
    else delete k;
  }
};
using KernelPtr = std::unique_ptr<const Kernel, KernelDeleter>;

// What a row's maker gets.
struct KernelInit {
  const OpDef& op;
  Attrs attrs;
  Region* region = nullptr;  // null: on the heap

  template <class K, class... A>
  KernelPtr New(A&&... args) const {
    if (region) return KernelPtr(region->New<K>(std::forward<A>(args)...), KernelDeleter{true});
    return KernelPtr(new K(std::forward<A>(args)...), KernelDeleter{false});
  }
};

// Properties of an op that its row states.
enum OpFlags : unsigned {
  kPure = 0,
  // Makes or names a handle, or is a tf.data op: never in the kernel cache.
  kNeverCached = 1,
  // Must not be folded away at load: reads or changes state, or draws random numbers.
  kStateful = 2,
};

struct KernelRow {
  std::string_view op;
  Result<KernelPtr> (*make)(const KernelInit&);
  unsigned flags = kPure;
};

namespace internal {

template <Status (*F)(KernelCall&)>
class FunctionKernel final : public Kernel {
 public:
  Status Run(KernelCall& call) const override { return F(call); }
  size_t bytes() const override { return sizeof(*this); }
};

template <class K>
class StructKernel final : public Kernel {
 public:
  explicit StructKernel(K k) : k_(std::move(k)) {}
  Status Run(KernelCall& call) const override { return k_.Run(call); }
  size_t bytes() const override { return sizeof(*this); }

 private:
  const K k_;
};

}  // namespace internal

// A row for an op whose kernel reads no attributes.
template <Status (*F)(KernelCall&)>
constexpr KernelRow Op(std::string_view op, unsigned flags = kPure) {
  return {op, [](const KernelInit& init) -> Result<KernelPtr> { return init.New<internal::FunctionKernel<F>>(); },
          flags};
}

// A row for an op whose kernel is the struct K.
template <class K>
constexpr KernelRow Op(std::string_view op, unsigned flags = kPure) {
  return {op,
          [](const KernelInit& init) -> Result<KernelPtr> {
            AttrReader attrs(init.op, init.attrs);
            K k(attrs);
            TARE_RETURN_IF_ERROR(attrs.status());
            return init.New<internal::StructKernel<K>>(std::move(k));
          },
          flags};
}

}  // namespace tare
