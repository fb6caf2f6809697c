// TF_Graph and its nodes: GraphDefs as they came, indexed by name; a node is read when somebody asks it
// something. Sessions hold a reference, so that a graph deleted early lives as long as they.
#pragma once
#include <tsl/robin_map.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/common.h"
#include "memory/region.h"
#include "op/op_def.h"

namespace tare::capi {

// What a node says of itself, read once; all in the graph's region.
struct OperationDetails {
  const char* name;
  const char* type;
  const char* device;
  const OpDef* op = nullptr;  // null: a direct call of a function
  std::span<const DType> input_types, output_types;
  std::span<const int64_t> input_counts, output_counts;  // tensors of each argument of `op`
  std::span<const TF_Output> inputs;
  std::span<TF_Operation* const> controls;
};

}  // namespace tare::capi

struct TF_Operation {
  TF_Graph* graph;
  std::string_view node_def;
  std::string_view name;
  const tare::capi::OperationDetails* details = nullptr;  // guarded by the graph's mutex until it is set
};

struct TF_Graph final : tare::RefCounted {
  TF_Graph();

  bool empty() const { return nodes.empty(); }
  // Adds every node of a GraphDef whose bytes `keeper` holds. On an error the graph is as it was.
  tare::Status Add(std::string_view graph_def, std::shared_ptr<const void> keeper);
  // Adds a function. The same again is passed over; InvalidArgument for another of the same name.
  tare::Status AddFunction(std::string_view function_def);
  // Null when there is none. Takes the mutex.
  TF_Operation* Find(std::string_view name);
  // Reads the node, once.
  tare::Result<const tare::capi::OperationDetails*> Details(TF_Operation* node);
  // Calls f(TF_Input) for each reader of an output or, at index -1, each node that waits for the node.
  tare::Status ForEachConsumer(TF_Operation* node, int index, const std::function<void(TF_Input)>& f);

  // A GraphDef that was added, and who holds its bytes.
  struct Part {
    std::string_view graph_def;
    std::shared_ptr<const void> keeper;
  };
  const tare::Ref<tare::Account> account;
  const tare::OpRegistry ops;
  std::mutex mutex;  // guards all below
  tare::Region region;
  std::vector<Part> parts;
  std::vector<TF_Operation*> nodes;
  tsl::robin_map<std::string_view, TF_Operation*> by_name;
  tsl::robin_map<std::string_view, std::string_view> functions;  // FunctionDef by name

 private:
  ~TF_Graph() override = default;
  friend class tare::Ref<TF_Graph>;
  tare::Result<const tare::capi::OperationDetails*> Read(TF_Operation* node);
  tare::Status ReadEdges();
  // Forgets the nodes from that index on.
  void TakeOff(size_t from);
  // Who reads what, by producer and port, of as many nodes as `consumers_of` says. Guarded by mutex.
  struct Edge {
    TF_Output from;
    TF_Input to;
  };
  std::vector<Edge> edges;
  size_t edges_of = 0;
};

namespace tare::capi {

// "node", "node:2" or "^node" as a NodeDef writes its inputs. InvalidArgument for a malformed port.
struct InputName {
  std::string_view node;
  int port = 0;  // -1: a control input
};
Result<InputName> ParseInput(std::string_view input);
// The fields of a NodeDef that name others.
Status ReadNodeInputs(std::string_view node_def, std::vector<std::string_view>* inputs);

}  // namespace tare::capi
