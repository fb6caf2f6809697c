#include "op/op_def.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace tare {
namespace {

constexpr OpRow kOps[] = {
#include "op/op_table.inc"
};

// Reads the compact notation of op_def.h. The table is ours, so the parser trusts it; tests parse every row.
class RowParser {
 public:
  RowParser(std::string_view text, Region& region) : text_(text), region_(region) {}

  bool done() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }
  bool Accept(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  ArgDef Arg() {
    ArgDef a;
    a.name = Word();
    Accept(":");
    a.is_ref = Accept("&");
    if (Accept("[")) {
      a.type_list_attr = Word();
      Accept("]");
      return a;
    }
    std::string_view w = Word();
    if (Accept("*")) {
      a.number_attr = w;
      w = Word();
    }
    a.type = DTypeFromName(w);
    if (a.type == DType::kInvalid) a.type_attr = w;
    return a;
  }

  AttrDef OneAttr() {
    AttrDef a;
    a.name = Word();
    Accept(":");
    std::string_view w = Word();
    if (w == "list") {
      a.is_list = true;
      Accept("(");
      w = Word();
      Accept(")");
    }
    a.kind = KindFromName(w);
    if (Accept("{")) a.allowed = Values(a.kind, '}');
    if (Accept(">=")) {
      a.has_minimum = true;
      a.minimum = Value(AttrKind::kInt).i;
    }
    if (Accept("=")) {
      a.has_default = true;
      if (!a.is_list) {
        a.default_value = Value(a.kind);
      } else {
        Accept("[");
        a.default_value = AttrValue::List(a.kind, Values(a.kind, ']'));
      }
    }
    return a;
  }

 private:
  static AttrKind KindFromName(std::string_view w) {
    for (int k = 1; k <= static_cast<int>(AttrKind::kFunction); ++k) {
      if (AttrKindName(static_cast<AttrKind>(k)) == w) return static_cast<AttrKind>(k);
    }
    return AttrKind::kNone;
  }
  std::string_view Word() {
    size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" :&[]*(){}<>=,").find(text_[at_]) == text_.npos) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::span<const AttrValue> Values(AttrKind kind, char end) {
    std::vector<AttrValue> v;
    while (!Accept({&end, 1})) {
      v.push_back(Value(kind));
      Accept(",");
    }
    return region_.CopyArray(std::span<const AttrValue>(v));
  }
  AttrValue Value(AttrKind kind) {
    switch (kind) {
      case AttrKind::kString: {
        Accept("'");
        size_t begin = at_;
        while (text_[at_] != '\'') ++at_;
        return AttrValue::String(text_.substr(begin, at_++ - begin));
      }
      case AttrKind::kInt: {
        int64_t v = 0;
        at_ = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v).ptr - text_.data();
        return AttrValue::Int(v);
      }
      case AttrKind::kFloat: {
        float v = 0;
        at_ = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v).ptr - text_.data();
        return AttrValue::Float(v);
      }
      case AttrKind::kBool: return AttrValue::Bool(Word() == "true");
      case AttrKind::kType: return AttrValue::Type(DTypeFromName(Word()));
      case AttrKind::kShape: {
        if (Accept("<unknown>")) return AttrValue::OfShape({});
        Accept("[");
        std::vector<int64_t> dims;
        while (!Accept("]")) {
          dims.push_back(Accept("?") ? -1 : Value(AttrKind::kInt).i);
          Accept(",");
        }
        return AttrValue::OfShape({false, region_.CopyArray(std::span<const int64_t>(dims))});
      }
      default:
        Accept("<tensor>");
        return {};
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  Region& region_;
};

}  // namespace

std::span<const OpRow> OpTable() { return kOps; }

const AttrDef* OpDef::FindAttrDef(std::string_view attr) const {
  for (const AttrDef& a : attrs) {
    if (a.name == attr) return &a;
  }
  return nullptr;
}

const AttrValue* AttrOrDefault(const OpDef& op, Attrs attrs, std::string_view name) {
  if (const AttrValue* v = FindAttr(attrs, name)) return v;
  const AttrDef* def = op.FindAttrDef(name);
  return def && def->has_default ? &def->default_value : nullptr;
}

namespace {

Result<const AttrValue*> ArgAttr(const OpDef& op, Attrs attrs, std::string_view name, AttrKind kind,
                                 bool list) {
  const AttrValue* v = AttrOrDefault(op, attrs, name);
  if (!v) return InvalidArgument("{} is missing attr '{}'", op.name, name);
  if (v->is_list != list || (v->kind != kind && !(list && v->list.empty()))) {
    return InvalidArgument("attr '{}' of {} is not {}{}", name, op.name, list ? "a list of " : "of type ",
                           AttrKindName(kind));
  }
  return v;
}

}  // namespace

namespace {

bool Equal(const AttrValue& a, const AttrValue& b) { return a.kind == AttrKind::kString ? a.s == b.s : a.i == b.i; }

Status CheckAllowed(const OpDef& op, const AttrDef& def, const AttrValue& v) {
  if (def.allowed.empty() || v.kind != def.kind) return OkStatus();
  if (std::ranges::any_of(def.allowed, [&](const AttrValue& a) { return Equal(a, v); })) return OkStatus();
  std::string list;
  for (const AttrValue& a : def.allowed) list += (list.empty() ? "" : ", ") + ToString(a);
  return InvalidArgument("Value for attr '{}' of {} is not in the list of allowed values: {}; op {}", def.name,
                         ToString(v), list, op.name);
}

}  // namespace

Status CheckAttrs(const OpDef& op, Attrs attrs) {
  for (const Attr& a : attrs) {
    const AttrDef* def = op.FindAttrDef(a.name);
    if (!def) continue;
    const AttrValue& v = a.value;
    const bool empty_list = v.is_list && v.list.empty();
    if (v.is_list != def->is_list || (v.kind != def->kind && !empty_list)) {
      return InvalidArgument("attr '{}' of {} is not {}{}", a.name, op.name, def->is_list ? "a list of " : "of type ",
                             AttrKindName(def->kind));
    }
    if (def->has_minimum) {
      const auto have = v.is_list ? static_cast<int64_t>(v.list.size()) : v.i;
      if (have < def->minimum) {
        return InvalidArgument("Value for attr '{}' of {} must be at least minimum {}; op {}", a.name, have,
                               def->minimum, op.name);
      }
    }
    if (!v.is_list) TARE_RETURN_IF_ERROR(CheckAllowed(op, *def, v));
    else for (const AttrValue& e : v.list) TARE_RETURN_IF_ERROR(CheckAllowed(op, *def, e));
  }
  return OkStatus();
}

Result<int64_t> ArgCount(const OpDef& op, const ArgDef& arg, Attrs attrs) {
  if (!arg.type_list_attr.empty()) {
    TARE_ASSIGN_OR_RETURN(const AttrValue* v, ArgAttr(op, attrs, arg.type_list_attr, AttrKind::kType, true));
    return static_cast<int64_t>(v->list.size());
  }
  if (arg.number_attr.empty()) return 1;
  TARE_ASSIGN_OR_RETURN(const AttrValue* v, ArgAttr(op, attrs, arg.number_attr, AttrKind::kInt, false));
  if (v->i < 0 || v->i > kMaxPorts) {
    return InvalidArgument("attr '{}' of {} is {}, out of range", arg.number_attr, op.name, v->i);
  }
  return v->i;
}

Result<std::vector<DType>> FlatTypes(const OpDef& op, std::span<const ArgDef> args, Attrs attrs) {
  std::vector<DType> types;
  for (const ArgDef& a : args) {
    if (!a.type_list_attr.empty()) {
      TARE_ASSIGN_OR_RETURN(const AttrValue* v, ArgAttr(op, attrs, a.type_list_attr, AttrKind::kType, true));
      for (const AttrValue& t : v->list) types.push_back(t.type());
      continue;
    }
    DType t = a.type;
    if (!a.type_attr.empty()) {
      TARE_ASSIGN_OR_RETURN(const AttrValue* v, ArgAttr(op, attrs, a.type_attr, AttrKind::kType, false));
      t = v->type();
    }
    TARE_ASSIGN_OR_RETURN(int64_t n, ArgCount(op, a, attrs));
    types.insert(types.end(), static_cast<size_t>(n), t);
  }
  return types;
}

OpRegistry::OpRegistry(Ref<Account> account)
    : region_(std::move(account), Kind::kGraphs), parsed_(std::size(kOps)) {}

const OpDef* OpRegistry::Find(std::string_view name) const {
  const OpRow* row = std::ranges::lower_bound(kOps, name, {}, &OpRow::name);
  if (row == std::end(kOps) || row->name != name) return nullptr;
  std::lock_guard lock(mutex_);
  const OpDef*& def = parsed_[static_cast<size_t>(row - kOps)];
  if (!def) def = Parse(*row);
  return def;
}

const OpDef* OpRegistry::Parse(const OpRow& row) const {
  std::vector<ArgDef> args[2];
  std::vector<AttrDef> attrs;
  int side = 0;
  for (RowParser p(row.args, region_); !p.done();) {
    if (p.Accept("->")) side = 1;
    else args[side].push_back(p.Arg());
  }
  for (RowParser p(row.attrs, region_); !p.done();) attrs.push_back(p.OneAttr());
  return region_.New<OpDef>(OpDef{row.name, region_.CopyArray(std::span<const ArgDef>(args[0])),
                                  region_.CopyArray(std::span<const ArgDef>(args[1])),
                                  region_.CopyArray(std::span<const AttrDef>(attrs)), row.stateful});
}

}  // namespace tare
