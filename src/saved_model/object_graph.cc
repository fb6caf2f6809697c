#include "saved_model/object_graph.h"

#include <tsl/robin_map.h>

#include <algorithm>

#include "wire/message.h"

namespace tare {
namespace {

using wire::Bytes;
using wire::ForEachField;
using wire::Reader;

constexpr size_t kMaxObjects = 1 << 22;

Status ReadChild(std::string_view bytes, std::vector<ObjectChild>* children) {
  ObjectChild c{0, {}};
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "child", [&](Reader& r) {
    if (r.tag() == 1) c.node = r.get_int32();
    if (r.tag() == 2) c.name = Bytes(r);
    return OkStatus();
  }));
  children->push_back(c);
  return OkStatus();
}

Status ReadVariable(std::string_view bytes, SavedObject* o) {
  o->what = SavedObject::What::kVariable;
  o->unknown_rank = false;  // an absent shape is a scalar's
  return ForEachField(bytes, "variable", [&](Reader& r) -> Status {
    if (r.tag() == 1) o->dtype = DTypeFromWire(r.get_int64());
    if (r.tag() == 6) o->variable_name = Bytes(r);
    if (r.tag() != 2) return OkStatus();
    return ForEachField(Bytes(r), "shape", [&](Reader& s) -> Status {
      if (s.tag() == 3) o->unknown_rank = s.get_bool();
      if (s.tag() != 2) return OkStatus();
      o->dims.push_back(0);
      return ForEachField(Bytes(s), "dimension", [&](Reader& d) {
        if (d.tag() == 1) o->dims.back() = d.get_int64();
        return OkStatus();
      });
    });
  });
}

Status ReadSaveable(std::string_view entry, SavedObject* o) {
  TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(entry, "saveable"));
  SavedObject::Saveable s{e.key, 0, 0};
  TARE_RETURN_IF_ERROR(ForEachField(e.value, "saveable", [&](Reader& r) {
    if (r.tag() == 2) s.save_function = r.get_int32();
    if (r.tag() == 3) s.restore_function = r.get_int32();
    return OkStatus();
  }));
  o->saveables.push_back(s);
  return OkStatus();
}

// One string field of a small message.
Status ReadText(std::string_view bytes, uint32_t tag, std::string_view* text) {
  return ForEachField(bytes, "object", [&](Reader& r) {
    if (r.tag() == tag) *text = Bytes(r);
    return OkStatus();
  });
}

Status ReadObject(std::string_view bytes, SavedObject* o, std::vector<ObjectChild>* dependencies) {
  using What = SavedObject::What;
  return ForEachField(bytes, "object", [&](Reader& r) -> Status {
    switch (r.tag()) {
      case 1: return ReadChild(Bytes(r), &o->children);
      case 4: o->what = What::kUser; return ReadText(Bytes(r), 1, &o->text);
      case 5:
        o->what = What::kAsset;
        return ForEachField(Bytes(r), "asset", [&](Reader& a) {
          if (a.tag() == 1) o->asset_index = a.get_int32();
          return OkStatus();
        });
      case 6:
        o->what = What::kFunction;
        return ForEachField(Bytes(r), "function", [&](Reader& f) {
          if (f.tag() == 1) o->concrete_functions.push_back(Bytes(f));
          if (f.tag() == 2) o->text = Bytes(f);
          return OkStatus();
        });
      case 7: return ReadVariable(Bytes(r), o);
      case 8:
        o->what = What::kBareFunction;
        return ForEachField(Bytes(r), "function", [&](Reader& f) {
          if (f.tag() == 1) o->text = Bytes(f);
          if (f.tag() == 2) o->argument_keywords.push_back(Bytes(f));
          return OkStatus();
        });
      case 9: o->what = What::kConstant; return ReadText(Bytes(r), 1, &o->text);
      case 10: o->what = What::kResource; Bytes(r); break;
      case 11: return ReadSaveable(Bytes(r), o);
      case 15: return ReadChild(Bytes(r), dependencies);
      default: break;
    }
    return OkStatus();
  });
}

Status ReadConcreteFunction(std::string_view entry, ObjectGraph* g) {
  TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(entry, "concrete function"));
  ConcreteFunctionInfo info;
  TARE_RETURN_IF_ERROR(ForEachField(e.value, "concrete function", [&](Reader& r) {
    if (r.tag() == 2) wire::ForEachVarint(r, [&](int64_t v) { info.bound_inputs.push_back(static_cast<int32_t>(v)); });
    else if (r.tag() == 3) info.input_signature = Bytes(r);
    else if (r.tag() == 4) info.output_signature = Bytes(r);
    return OkStatus();
  }));
  g->concrete_functions[e.key] = std::move(info);
  return OkStatus();
}

Status CheckIds(const ObjectGraph& g, const std::vector<std::vector<ObjectChild>>& dependencies) {
  auto bad = [&](int32_t id) { return id < 0 || static_cast<size_t>(id) >= g.nodes.size(); };
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    for (const ObjectChild& c : g.nodes[i].children) {
      if (bad(c.node)) return InvalidArgument("object graph: node {}: child '{}' is node {} of {}", i, c.name, c.node, g.nodes.size());
    }
    for (const ObjectChild& c : dependencies[i]) {
      if (bad(c.node)) return InvalidArgument("object graph: node {}: dependency '{}' is node {} of {}", i, c.name, c.node, g.nodes.size());
    }
    for (const auto& s : g.nodes[i].saveables) {
      if (bad(s.save_function) || bad(s.restore_function)) {
        return InvalidArgument("object graph: node {}: saveable '{}' names a function out of range", i, s.name);
      }
    }
  }
  for (const auto& [name, f] : g.concrete_functions) {
    for (int32_t id : f.bound_inputs) {
      if (bad(id)) return InvalidArgument("object graph: function '{}' captures node {} of {}", name, id, g.nodes.size());
    }
  }
  return OkStatus();
}

// Objects must be made in some order: a circle of dependencies has none.
Status CheckAcyclic(const std::vector<std::vector<ObjectChild>>& dependencies) {
  std::vector<size_t> pending(dependencies.size());
  std::vector<std::vector<int32_t>> dependents(dependencies.size());
  std::vector<int32_t> ready;
  for (size_t i = 0; i < dependencies.size(); ++i) {
    pending[i] = dependencies[i].size();
    if (pending[i] == 0) ready.push_back(static_cast<int32_t>(i));
    for (const ObjectChild& d : dependencies[i]) dependents[d.node].push_back(static_cast<int32_t>(i));
  }
  size_t done = 0;
  while (!ready.empty()) {
    int32_t id = ready.back();
    ready.pop_back();
    ++done;
    for (int32_t d : dependents[id]) {
      if (--pending[d] == 0) ready.push_back(d);
    }
  }
  if (done == dependencies.size()) return OkStatus();
  size_t at = static_cast<size_t>(std::ranges::find_if(pending, [](size_t p) { return p > 0; }) - pending.begin());
  return InvalidArgument("object graph: the dependencies of node {} form a cycle", at);
}

}  // namespace

int32_t SavedObject::Child(std::string_view name) const {
  auto it = std::ranges::find(children, name, &ObjectChild::name);
  return it == children.end() ? -1 : it->node;
}

Result<ObjectGraph> ReadObjectGraph(std::string_view bytes) {
  ObjectGraph g;
  std::vector<std::vector<ObjectChild>> dependencies;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "object graph", [&](Reader& r) -> Status {
    if (r.tag() == 2) return ReadConcreteFunction(Bytes(r), &g);
    if (r.tag() != 1) return OkStatus();
    if (g.nodes.size() >= kMaxObjects) return ResourceExhausted("object graph: more than {} nodes", kMaxObjects);
    g.nodes.emplace_back();
    dependencies.emplace_back();
    Status s = ReadObject(Bytes(r), &g.nodes.back(), &dependencies.back());
    return s.ok() ? s : std::move(s).At(fmt::format("object graph: node {}", g.nodes.size() - 1));
  }));
  TARE_RETURN_IF_ERROR(CheckIds(g, dependencies));
  TARE_RETURN_IF_ERROR(CheckAcyclic(dependencies));
  return g;
}

Result<std::vector<CheckpointObject>> ReadCheckpointGraph(std::string_view bytes) {
  std::vector<CheckpointObject> objects;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "checkpoint object graph", [&](Reader& r) -> Status {
    if (r.tag() != 1) return OkStatus();
    CheckpointObject& o = objects.emplace_back();
    return ForEachField(Bytes(r), "checkpoint object", [&](Reader& n) -> Status {
      if (n.tag() == 1) return ReadChild(Bytes(n), &o.children);
      if (n.tag() != 2) return OkStatus();
      std::string_view name, key;
      TARE_RETURN_IF_ERROR(ForEachField(Bytes(n), "checkpoint attribute", [&](Reader& a) {
        if (a.tag() == 1) name = Bytes(a);
        if (a.tag() == 3) key = Bytes(a);
        return OkStatus();
      }));
      o.keys[name] = key;
      return OkStatus();
    });
  }));
  for (size_t i = 0; i < objects.size(); ++i) {
    for (const ObjectChild& c : objects[i].children) {
      if (c.node < 0 || static_cast<size_t>(c.node) >= objects.size()) {
        return InvalidArgument("checkpoint object graph: node {}: child '{}' is node {} of {}", i, c.name, c.node, objects.size());
      }
    }
  }
  return objects;
}

std::vector<int32_t> MatchObjects(const ObjectGraph& saved, const std::vector<CheckpointObject>& checkpoint) {
  std::vector<int32_t> match(saved.nodes.size(), -1);
  if (saved.nodes.empty() || checkpoint.empty()) return match;
  std::vector<int32_t> todo{0};
  match[0] = 0;
  while (!todo.empty()) {
    int32_t id = todo.back();
    todo.pop_back();
    tsl::robin_map<std::string_view, int32_t> children;
    for (const ObjectChild& c : checkpoint[match[id]].children) children.emplace(c.name, c.node);
    for (const ObjectChild& c : saved.nodes[id].children) {
      if (match[c.node] >= 0) continue;
      auto it = children.find(c.name);
      if (it == children.end()) continue;
      match[c.node] = it->second;
      todo.push_back(c.node);
    }
  }
  return match;
}

std::vector<std::string> DictKeys(std::string_view structured_value) {
  std::vector<std::string> keys;
  Status s = ForEachField(structured_value, "structured value", [&](Reader& r) -> Status {
    if (r.tag() != 53) return OkStatus();
    return ForEachField(Bytes(r), "dict", [&](Reader& d) -> Status {
      if (d.tag() != 1) return OkStatus();
      TARE_ASSIGN_OR_RETURN(wire::MapEntry e, wire::ReadMapEntry(Bytes(d), "dict"));
      keys.emplace_back(e.key);
      return OkStatus();
    });
  });
  if (!s.ok()) keys.clear();  // it only names outputs, which have names of their own
  std::ranges::sort(keys);
  return keys;
}

}  // namespace tare
