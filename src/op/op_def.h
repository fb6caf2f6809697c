// What an op is called, what it takes and gives, and the attributes it has.
//
// Definitions are one line each of a constexpr table (op_table.inc, made by tools/gen_op_table.py):
//   {"Conv2D", "input:T filter:T -> output:T", "T:type{half,float} strides:list(int) padding:string ..."}
// Arguments are name:TYPE with TYPE a dtype, a type attribute, N*TYPE (N tensors) or [ATTR] (a list of
// types); & before TYPE marks a reference. Attributes are name:TYPE, {allowed values}, >=minimum, =default.
#pragma once
#include <span>
#include <string_view>
#include <mutex>
#include <vector>

#include "memory/region.h"
#include "op/attr.h"

namespace tare {

struct OpRow {
  std::string_view name;
  std::string_view args;
  std::string_view attrs;
  bool stateful = false;
};
// All public ops of TensorFlow 2.21, sorted by name.
std::span<const OpRow> OpTable();

struct ArgDef {
  std::string_view name;
  DType type = DType::kInvalid;     // fixed type, or
  std::string_view type_attr;       // the attribute that gives it, or
  std::string_view type_list_attr;  // the attribute that gives a list of them
  std::string_view number_attr;     // how many tensors of that type
  bool is_ref = false;
};

struct AttrDef {
  std::string_view name;
  AttrKind kind = AttrKind::kNone;
  bool is_list = false;
  bool has_default = false;
  bool has_minimum = false;
  int64_t minimum = 0;
  AttrValue default_value;
  std::span<const AttrValue> allowed;
};

struct OpDef {
  std::string_view name;
  std::span<const ArgDef> inputs;
  std::span<const ArgDef> outputs;
  std::span<const AttrDef> attrs;
  bool stateful = false;
  const AttrDef* FindAttrDef(std::string_view attr) const;
};

// The attribute's value on the node, else the definition's default; null when it has neither.
const AttrValue* AttrOrDefault(const OpDef& op, Attrs attrs, std::string_view name);

// Whether every attribute has the kind, allowed values and minimum its definition states. InvalidArgument, in
// TensorFlow's words. Unknown attributes are passed over, as TensorFlow does.
Status CheckAttrs(const OpDef& op, Attrs attrs);

// The flat dtypes of `args` under a node's attributes. InvalidArgument when an attribute is missing, has the
// wrong kind, or a count is negative or beyond `kMaxPorts`.
constexpr int64_t kMaxPorts = 1 << 20;
Result<std::vector<DType>> FlatTypes(const OpDef& op, std::span<const ArgDef> args, Attrs attrs);
// How many flat ports argument `arg` takes.
Result<int64_t> ArgCount(const OpDef& op, const ArgDef& arg, Attrs attrs);

// Parses table rows on demand and keeps what it parsed. Made by the context; thread-safe.
class OpRegistry {
 public:
  explicit OpRegistry(Ref<Account> account);
  // Null for a name TensorFlow does not have. The definition lives as long as the registry.
  const OpDef* Find(std::string_view name) const;

 private:
  const OpDef* Parse(const OpRow& row) const;
  mutable std::mutex mutex_;
  mutable Region region_;
  mutable std::vector<const OpDef*> parsed_;  // by table row
};

}  // namespace tare
