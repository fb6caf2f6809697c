// A frozen graph: a GraphDef alone in a .pb file, its variables made constants. It becomes a meta graph with one
// signature, serving_default, whose inputs and outputs are named as the nodes are.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "saved_model/meta_graph.h"

namespace tare {

// `inputs` and `outputs` are "node" or "node:port"; with none given, all placeholders, and every node that no
// other reads. The result's views point into `graph_def`. DataLoss for what is no GraphDef; NotFound for an
// input or output that is no node.
Result<MetaGraph> ReadFrozenGraph(std::string_view graph_def, const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs);

}  // namespace tare
