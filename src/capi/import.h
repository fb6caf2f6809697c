// Importing a GraphDef into a graph: names are changed as the options say, then the nodes are added.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "capi/graph.h"

struct TF_ImportGraphDefOptions {
  struct Tensor {
    std::string node;
    int index;
  };
  std::string prefix;
  std::string device;
  bool uniquify_names = false;
  bool uniquify_prefix = false;
  std::map<std::pair<std::string, int>, TF_Output> input_map;
  std::vector<Tensor> return_outputs;
  std::vector<std::string> return_operations;
};

struct TF_ImportGraphDefResults {
  std::vector<TF_Output> return_outputs;
  std::vector<TF_Operation*> return_operations;
  std::vector<std::string> missing_names;  // of input mappings that no node used
  std::vector<const char*> missing_pointers;
  std::vector<int> missing_indexes;
};

namespace tare::capi {

// On an error the graph is as it was.
Status ImportGraphDef(TF_Graph* graph, std::string_view graph_def, const TF_ImportGraphDefOptions& options,
                      TF_ImportGraphDefResults* results);

}  // namespace tare::capi
