#include "graph/importer.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "wire/message.h"

namespace tare {
namespace {

using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

constexpr size_t kMaxNodes = 4 << 20;

// A NodeDef as it stands on the wire: views only, attributes unread.
struct NodeDef {
  std::string_view name, op;
  std::vector<std::string_view> inputs, attrs;
};

Status ReadNodeDef(std::string_view bytes, NodeDef* n) {
  n->inputs.clear();
  n->attrs.clear();
  n->name = n->op = {};
  return ForEachField(bytes, "node", [&](Reader& r) {
    switch (r.tag()) {
      case 1: n->name = Bytes(r); break;
      case 2: n->op = Bytes(r); break;
      case 3: n->inputs.push_back(Bytes(r)); break;
      case 5: n->attrs.push_back(Bytes(r)); break;
      default: break;
    }
    return OkStatus();
  });
}

bool IsUtf8(std::string_view s) {
  if (std::ranges::all_of(s, [](char c) { return static_cast<signed char>(c) >= 0; })) return true;
  for (size_t at = 0; at < s.size();) {
    utf8proc_int32_t c;
    auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data()) + at,
                              static_cast<utf8proc_ssize_t>(s.size() - at), &c);
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

// A flipped bit in a name would pass unseen where the node is not reached, or the attribute not read: names of
// every node must at least be text, as protobuf requires of a string.
Status CheckNames(std::string_view node_def) {
  return ForEachField(node_def, "node", [](Reader& r) -> Status {
    const auto tag = r.tag();  // reading the value forgets it
    if (tag > 5) return OkStatus();
    std::string_view text = Bytes(r);
    if (tag == 5) {
      TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(text, "attribute"));
      text = e.key;
    }
    return IsUtf8(text) ? OkStatus() : DataLoss("node: a name is not UTF-8");
  });
}

// Annotations begin with '_' and do not change what a node computes.
bool IsAnnotation(std::string_view attr_entry) {
  auto e = wire::ReadMapEntry(attr_entry, "attribute");
  return e.ok() && !e->key.empty() && e->key[0] == '_';
}

Result<Attrs> ReadAttrs(const NodeDef& n, const ImportContext& c) {
  std::vector<Attr> attrs;
  for (std::string_view entry : n.attrs) {
    if (IsAnnotation(entry)) continue;
    TARE_ASSIGN_OR_RETURN(Attr a, wire::ReadAttr(entry, *c.region, *c.tensors));
    attrs.push_back(a);
  }
  return c.region->CopyArray(std::span<const Attr>(attrs));
}

// The arguments and attributes of a FunctionDef's signature (an OpDef on the wire).
struct SignatureDef {
  std::string_view name;
  std::vector<ArgDef> inputs, outputs;
};

Status ReadSignatureArg(std::string_view bytes, std::vector<ArgDef>* args) {
  TARE_ASSIGN_OR_RETURN(ArgDef a, ReadArgDef(bytes));
  if (!a.number_attr.empty() || !a.type_list_attr.empty()) {
    return Unimplemented("argument '{}' is a list", a.name);
  }
  args->push_back(a);
  return OkStatus();
}

Status ReadSignature(std::string_view bytes, SignatureDef* s) {
  return ForEachField(bytes, "signature", [&](Reader& r) -> Status {
    if (r.tag() == 1) s->name = Bytes(r);
    if (r.tag() == 2) return ReadSignatureArg(Bytes(r), &s->inputs);
    if (r.tag() == 3) return ReadSignatureArg(Bytes(r), &s->outputs);
    return OkStatus();
  });
}

// A FunctionDef, shallowly.
struct FunctionDef {
  SignatureDef signature;
  std::vector<std::string_view> nodes;
  std::vector<wire::MapEntry> returns, control_returns;
};

Status ReadFunctionDef(std::string_view bytes, FunctionDef* f) {
  return ForEachField(bytes, "function", [&](Reader& r) -> Status {
    switch (r.tag()) {
      case 1: return ReadSignature(Bytes(r), &f->signature);
      case 3: f->nodes.push_back(Bytes(r)); break;
      case 4:
      case 6: {
        const bool is_return = r.tag() == 4;  // reading the value forgets the tag
        TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(Bytes(r), "return"));
        (is_return ? f->returns : f->control_returns).push_back(e);
        break;
      }
      default: break;
    }
    return OkStatus();
  });
}

Result<int32_t> ParsePort(std::string_view text, std::string_view input) {
  int32_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 0) {
    return InvalidArgument("input '{}' has a malformed port", input);
  }
  return port;
}

struct NameParts {
  std::string_view node, output, port;  // "node", "node:port" or "node:output:port"
};
NameParts Split(std::string_view name) {
  NameParts p;
  size_t first = name.find(':'), second = first == name.npos ? first : name.find(':', first + 1);
  p.node = name.substr(0, first);
  if (second != name.npos) {
    p.output = name.substr(first + 1, second - first - 1);
    p.port = name.substr(second + 1);
  } else if (first != name.npos) {
    p.port = name.substr(first + 1);
  }
  return p;
}

// A node while its graph is being read.
struct PendingNode {
  NodeDef def;
  Node node;
  bool is_arg = false;
};

// Resolves "node:output:port" of a function body to a flat port by the producer's definition.
Result<int32_t> FlatPort(const PendingNode& producer, const NameParts& parts, std::string_view input,
                         const FunctionLibrary* functions) {
  if (parts.port.empty()) return 0;
  TARE_ASSIGN_OR_RETURN(int32_t port, ParsePort(parts.port, input));
  if (parts.output.empty()) return port;
  const OpDef* op = producer.node.op;
  if (!op) {
    // A direct call: outputs are the callee's, one port each.
    TARE_ASSIGN_OR_RETURN(std::vector<std::string_view> names, functions->OutputNames(producer.node.op_name));
    auto it = std::ranges::find(names, parts.output);
    if (it != names.end()) return static_cast<int32_t>(it - names.begin()) + port;
    return InvalidArgument("input '{}': function '{}' has no output '{}'", input, producer.node.op_name, parts.output);
  }
  int64_t flat = 0;
  for (const ArgDef& a : op->outputs) {
    TARE_ASSIGN_OR_RETURN(int64_t count, ArgCount(*op, a, producer.node.attrs));
    if (a.name == parts.output) {
      if (port >= count) return InvalidArgument("input '{}': output '{}' has {} tensors", input, parts.output, count);
      return static_cast<int32_t>(flat + port);
    }
    flat += count;
  }
  return InvalidArgument("input '{}': op {} has no output '{}'", input, op->name, parts.output);
}

// Flat output count of a node; -1 where a caller's attribute decides.
Result<int64_t> PortCount(const Node& n, const FunctionLibrary* functions) {
  if (n.op_name == kArgOp) return 1;
  if (!n.op) {
    TARE_ASSIGN_OR_RETURN(std::vector<std::string_view> names, functions->OutputNames(n.op_name));
    return static_cast<int64_t>(names.size());
  }
  int64_t total = 0;
  for (const ArgDef& a : n.op->outputs) {
    std::string_view attr = a.number_attr.empty() ? a.type_list_attr : a.number_attr;
    if (!attr.empty()) {
      const AttrValue* v = AttrOrDefault(*n.op, n.attrs, attr);
      if (v && v->kind == AttrKind::kPlaceholder) return -1;
    }
    TARE_ASSIGN_OR_RETURN(int64_t count, ArgCount(*n.op, a, n.attrs));
    total += count;
  }
  return total;
}

// Builds one graph by walking from its returns to what they need. The two kinds of source differ only in how a
// name becomes a node.
class Builder {
 public:
  Builder(const ImportContext& c, const FunctionLibrary* functions) : c_(c), functions_(functions) {}
  virtual ~Builder() = default;

  // The index among the new graph's nodes; adds the node when it is met first.
  Result<int32_t> Reach(std::string_view name) {
    auto it = ids_.find(name);
    if (it != ids_.end()) return it->second;
    auto id = static_cast<int32_t>(nodes_.size());
    if (nodes_.size() >= kMaxNodes) return ResourceExhausted("the graph has more than {} nodes", kMaxNodes);
    nodes_.emplace_back();
    ids_.emplace(name, id);
    TARE_RETURN_IF_ERROR(Load(name, &nodes_.back()));
    todo_.push_back(id);
    return id;
  }

  int32_t AddArg(std::string_view name) {
    auto id = static_cast<int32_t>(nodes_.size());
    PendingNode& n = nodes_.emplace_back();
    n.is_arg = true;
    n.node.name = name;
    n.node.op_name = kArgOp;
    return id;
  }
  void Alias(std::string_view name, int32_t id) { ids_[name] = id; }

  virtual Result<Endpoint> Resolve(std::string_view input) {
    NameParts parts = Split(input);
    TARE_ASSIGN_OR_RETURN(int32_t id, Reach(parts.node));
    const PendingNode& producer = nodes_[id];
    auto port = FlatPort(producer, parts, input, functions_);
    if (!port.ok()) return std::move(port).status();
    auto ports = PortCount(producer.node, functions_);
    if (!ports.ok()) return std::move(ports).status().At(fmt::format("node '{}'", producer.node.name));
    if (*ports >= 0 && *port >= *ports) {
      return InvalidArgument("'{}': node '{}' has {} outputs", input, producer.node.name, *ports);
    }
    return Endpoint{id, *port};
  }

  Status Drain() {
    while (!todo_.empty()) {
      int32_t id = todo_.back();
      todo_.pop_back();
      Status s = Connect(id);
      if (!s.ok()) return std::move(s).At(fmt::format("node '{}'", nodes_[id].def.name));
    }
    return OkStatus();
  }

  Graph* Finish(std::string_view name, std::span<const int32_t> args, std::span<const Endpoint> returns,
                std::span<const int32_t> control_returns) {
    auto nodes = static_cast<Node*>(c_.region->Allocate(nodes_.size() * sizeof(Node), alignof(Node)));
    for (size_t i = 0; i < nodes_.size(); ++i) new (nodes + i) Node(nodes_[i].node);
    auto* g = c_.region->New<Graph>();
    g->name = name;
    g->nodes = {nodes, nodes_.size()};
    g->args = c_.region->CopyArray(args);
    g->returns = c_.region->CopyArray(returns);
    g->control_returns = c_.region->CopyArray(control_returns);
    return g;
  }

 protected:
  // Fills in def and attrs of the node called `name`.
  virtual Status Load(std::string_view name, PendingNode* n) = 0;

  Status SetOp(PendingNode* n) {
    n->node.name = n->def.name;
    n->node.op_name = n->def.op;
    n->node.op = c_.ops->Find(n->def.op);
    if (n->node.op || functions_->Contains(n->def.op)) return OkStatus();
    return NotFound(
        "node '{}': Op type not registered '{}': neither an op of TensorFlow's nor a function of this file",
        n->def.name, n->def.op);
  }

  const ImportContext& c_;
  const FunctionLibrary* functions_;
  std::deque<PendingNode> nodes_;  // addresses are stable

 private:
  Status Connect(int32_t id) {
    PendingNode& n = nodes_[id];
    if (n.is_arg) return OkStatus();
    std::vector<Endpoint> inputs;
    std::vector<int32_t> controls;
    for (std::string_view input : n.def.inputs) {
      if (!input.empty() && input[0] == '^') {
        TARE_ASSIGN_OR_RETURN(int32_t from, Reach(input.substr(1)));
        controls.push_back(from);
      } else {
        if (!controls.empty()) return InvalidArgument("a data input follows a control input");
        TARE_ASSIGN_OR_RETURN(Endpoint from, Resolve(input));
        inputs.push_back(from);
      }
    }
    n.node.inputs = c_.region->CopyArray(std::span<const Endpoint>(inputs));
    n.node.controls = c_.region->CopyArray(std::span<const int32_t>(controls));
    return OkStatus();
  }

  tsl::robin_map<std::string_view, int32_t> ids_;
  std::vector<int32_t> todo_;
};

class FunctionBuilder final : public Builder {
 public:
  using Builder::Builder;

  Result<const Graph*> Build(const FunctionDef& f) {
    for (std::string_view bytes : f.nodes) {
      NodeDef n;
      TARE_RETURN_IF_ERROR(ReadNodeDef(bytes, &n));
      if (!index_.emplace(n.name, bytes).second) return InvalidArgument("two nodes are called '{}'", n.name);
    }
    std::vector<int32_t> args;
    std::vector<DType> arg_types;
    std::vector<std::string_view> arg_names, return_names;
    for (const auto& a : f.signature.inputs) {
      args.push_back(AddArg(a.name));
      Alias(a.name, args.back());
      arg_types.push_back(a.type);
      arg_names.push_back(a.name);
    }
    std::vector<Endpoint> returns;
    for (const auto& a : f.signature.outputs) {
      auto it = std::ranges::find(f.returns, a.name, &wire::MapEntry::key);
      if (it == f.returns.end()) return InvalidArgument("return '{}' is not among its ret entries", a.name);
      auto e = Resolve(it->value);
      if (!e.ok()) return std::move(e).status().At(fmt::format("return '{}'", a.name));
      returns.push_back(*e);
      return_names.push_back(a.name);
    }
    std::vector<int32_t> control_returns;
    for (const auto& e : f.control_returns) {
      TARE_ASSIGN_OR_RETURN(int32_t id, Reach(e.value));
      control_returns.push_back(id);
    }
    TARE_RETURN_IF_ERROR(Drain());
    Graph* g = Finish(f.signature.name, args, returns, control_returns);
    g->arg_types = c_.region->CopyArray(std::span<const DType>(arg_types));
    g->arg_names = c_.region->CopyArray(std::span<const std::string_view>(arg_names));
    g->return_names = c_.region->CopyArray(std::span<const std::string_view>(return_names));
    return g;
  }

 private:
  Status Load(std::string_view name, PendingNode* n) override {
    auto it = index_.find(name);
    if (it == index_.end()) return NotFound("there is no node '{}'", name);
    TARE_RETURN_IF_ERROR(ReadNodeDef(it->second, &n->def));
    TARE_RETURN_IF_ERROR(SetOp(n));
    auto attrs = ReadAttrs(n->def, c_);
    if (!attrs.ok()) return std::move(attrs).status().At(fmt::format("node '{}'", name));
    n->node.attrs = *attrs;
    return OkStatus();
  }
  tsl::robin_map<std::string_view, std::string_view> index_;
};

}  // namespace

Result<ArgDef> ReadArgDef(std::string_view bytes) {
  ArgDef a;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "argument", [&](Reader& r) {
    switch (r.tag()) {
      case 1: a.name = Bytes(r); break;
      case 3: a.type = DTypeFromWire(r.get_int64()); break;
      case 4: a.type_attr = Bytes(r); break;
      case 5: a.number_attr = Bytes(r); break;
      case 6: a.type_list_attr = Bytes(r); break;
      default: break;
    }
    return OkStatus();
  }));
  return a;
}

Status FunctionLibrary::Index(std::string_view library, bool again) {
  return ForEachField(library, "function library", [&](Reader& r) -> Status {
    if (r.tag() != 1) return OkStatus();
    std::string_view function = Bytes(r), name;
    TARE_RETURN_IF_ERROR(ForEachField(function, "function", [&](Reader& f) -> Status {
      if (f.tag() == 3) return CheckNames(Bytes(f));
      if (f.tag() != 1) return OkStatus();
      return ForEachField(Bytes(f), "signature", [&](Reader& s) {
        if (s.tag() == 1) name = Bytes(s);
        return OkStatus();
      });
    }));
    if (name.empty()) return InvalidArgument("function library: a function without a name");
    if (!functions_.emplace(name, Entry{function}).second && !again) {
      return InvalidArgument("function library: two functions are called '{}'", name);
    }
    return OkStatus();
  });
}

Result<std::vector<std::string_view>> FunctionLibrary::OutputNames(std::string_view name) const {
  auto it = functions_.find(name);
  if (it == functions_.end()) return NotFound("there is no function '{}'", name);
  SignatureDef signature;
  TARE_RETURN_IF_ERROR(ForEachField(it->second.bytes, "function", [&](Reader& r) -> Status {
    return r.tag() == 1 ? ReadSignature(Bytes(r), &signature) : OkStatus();
  }));
  std::vector<std::string_view> names;
  for (const auto& a : signature.outputs) names.push_back(a.name);
  return names;
}

Result<const Graph*> FunctionLibrary::Get(std::string_view name) const {
  auto it = functions_.find(name);
  if (it == functions_.end()) return NotFound("there is no function '{}'", name);
  {
    std::lock_guard lock(mutex_);
    if (it->second.graph) return it->second.graph;
  }
  FunctionDef f;
  Status s = ReadFunctionDef(it->second.bytes, &f);
  if (!s.ok()) return std::move(s).At(fmt::format("function '{}'", name));
  std::lock_guard lock(*context_.mutex);
  auto graph = FunctionBuilder(context_, this).Build(f);
  if (!graph.ok()) return std::move(graph).status().At(fmt::format("function '{}'", name));
  std::lock_guard entry_lock(mutex_);
  if (!it->second.graph) it.value().graph = *graph;
  return it->second.graph;
}

Status GraphSource::Index(std::string_view graph_def) {
  return ForEachField(graph_def, "graph", [&](Reader& r) -> Status {
    if (r.tag() != 1) return OkStatus();
    std::string_view node = Bytes(r), name;
    TARE_RETURN_IF_ERROR(CheckNames(node));
    TARE_RETURN_IF_ERROR(ForEachField(node, "node", [&](Reader& n) {
      if (n.tag() == 1) name = Bytes(n);
      return OkStatus();
    }));
    if (name.empty()) return InvalidArgument("graph: a node without a name");
    if (bytes_.size() >= kMaxNodes) return ResourceExhausted("the graph has more than {} nodes", kMaxNodes);
    if (!index_.emplace(name, static_cast<int32_t>(bytes_.size())).second) {
      return InvalidArgument("graph: two nodes are called '{}'", name);
    }
    bytes_.push_back(node);
    names_.push_back(name);
    return OkStatus();
  });
}

namespace {

// Builds from a GraphDef: names are "node" or "node:port", and fed endpoints are cut off.
class GraphBuilder final : public Builder {
 public:
  using LoadFn = std::function<Status(std::string_view, NodeDef*, Attrs*)>;
  GraphBuilder(const ImportContext& c, const FunctionLibrary* functions, LoadFn load)
      : Builder(c, functions), load_(std::move(load)) {}

  void Feed(std::string_view name, int32_t arg) { fed_[Canonical(name)] = arg; }
  Result<Endpoint> Resolve(std::string_view input) override {
    if (!fed_.empty()) {
      auto it = fed_.find(Canonical(input));
      if (it != fed_.end()) return Endpoint{it->second, 0};
    }
    return Builder::Resolve(input);
  }

 private:
  static std::string_view Canonical(std::string_view name) {
    return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
  }
  Status Load(std::string_view name, PendingNode* n) override {
    TARE_RETURN_IF_ERROR(load_(name, &n->def, &n->node.attrs));
    return SetOp(n);
  }
  LoadFn load_;
  tsl::robin_map<std::string_view, int32_t> fed_;
};

}  // namespace

Result<const Graph*> GraphSource::Import(std::span<const std::string> feeds, std::span<const std::string> fetches,
                                         std::span<const std::string> targets, Region* region) const {
  std::lock_guard lock(*context_.mutex);
  ImportContext c = context_;
  if (region) c.region = region;
  auto load = [this](std::string_view name, NodeDef* def, Attrs* attrs) -> Status {
    auto it = index_.find(name);
    if (it == index_.end()) return NotFound("there is no node '{}'", name);
    TARE_RETURN_IF_ERROR(ReadNodeDef(bytes_[it->second], def));
    std::lock_guard attrs_lock(mutex_);
    auto known = attrs_.find(it->second);
    if (known != attrs_.end()) {
      *attrs = known->second;
      return OkStatus();
    }
    auto read = ReadAttrs(*def, context_);
    if (!read.ok()) return std::move(read).status().At(fmt::format("node '{}'", name));
    *attrs = *read;
    attrs_.emplace(it->second, *read);
    return OkStatus();
  };
  GraphBuilder b(c, functions_, load);
  std::vector<DType> arg_types;
  std::vector<int32_t> args, control_returns;
  std::vector<std::string_view> arg_names, return_names;
  for (const std::string& feed : feeds) {
    std::string_view name = c.region->CopyString(feed);
    args.push_back(b.AddArg(name));
    arg_names.push_back(name);
    b.Feed(name, args.back());
    // The placeholder knows its type; what a signature says of it may be wrong.
    NodeDef def;
    Attrs attrs;
    if (index_.contains(Split(name).node)) TARE_RETURN_IF_ERROR(load(Split(name).node, &def, &attrs));
    const AttrValue* dtype = def.op.starts_with("Placeholder") ? FindAttr(attrs, "dtype") : nullptr;
    arg_types.push_back(dtype && dtype->kind == AttrKind::kType ? dtype->type() : DType::kInvalid);
  }
  std::vector<Endpoint> returns;
  for (const std::string& fetch : fetches) {
    std::string_view name = c.region->CopyString(fetch);
    auto e = b.Resolve(name);
    if (!e.ok()) return std::move(e).status().At(fmt::format("fetch '{}'", fetch));
    returns.push_back(*e);
    return_names.push_back(name);
  }
  for (const std::string& target : targets) {
    auto id = b.Reach(c.region->CopyString(Split(target).node));
    if (!id.ok()) return std::move(id).status().At(fmt::format("target '{}'", target));
    control_returns.push_back(*id);
  }
  TARE_RETURN_IF_ERROR(b.Drain());
  Graph* g = b.Finish("graph", args, returns, control_returns);
  g->arg_types = c.region->CopyArray(std::span<const DType>(arg_types));
  g->arg_names = c.region->CopyArray(std::span<const std::string_view>(arg_names));
  g->return_names = c.region->CopyArray(std::span<const std::string_view>(return_names));
  return g;
}

Result<Tensor> GraphSource::ConstantValue(std::string_view node) const {
  auto it = index_.find(node);
  if (it == index_.end()) return NotFound("there is no node '{}'", node);
  NodeDef def;
  TARE_RETURN_IF_ERROR(ReadNodeDef(bytes_[it->second], &def));
  std::lock_guard lock(*context_.mutex);
  auto attrs = ReadAttrs(def, context_);
  if (!attrs.ok()) return std::move(attrs).status().At(fmt::format("node '{}'", node));
  const AttrValue* v = FindAttr(*attrs, "value");
  if (def.op != "Const" || !v || v->kind != AttrKind::kTensor || v->is_list) {
    return InvalidArgument("node '{}' is no constant with a value", node);
  }
  return *v->tensor;
}

}  // namespace tare
