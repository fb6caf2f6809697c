// The tf.functions of a model's object graph: found by walking its nodes from the root, called by flat
// tensors. Structures of arguments and results stay the file's bytes: who calls gives them a meaning.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tare {

struct ConcreteFunctionView {
  std::string name;
  std::string input_signature, output_signature;  // StructuredValue bytes
};

// A node of the object graph, copied out of it.
struct ObjectView {
  std::vector<std::pair<std::string, int32_t>> children;  // attribute name, node
  std::vector<ConcreteFunctionView> functions;             // of a tf.function, in the order they are tried
  std::string function_spec;                               // FunctionSpec bytes
};

}  // namespace tare
