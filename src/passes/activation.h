// Finds activations that a graph spells out in elementary operations, by what they give and not by how they are
// written: Swish, HardSwish and Gelu come in a dozen forms.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "math/gemm.h"
#include "passes/passes.h"

namespace tare {

class ActivationFinder {
 public:
  explicit ActivationFinder(const PassGraph& graph, const Readers& readers) : g_(graph), readers_(readers) {}

  struct Found {
    math::Activation activation;
    int32_t node;                // which gives it
    std::vector<int32_t> parts;  // all nodes it is made of
  };
  // The activation of x that everybody who reads x contributes to. REQUIRES: settings.run; x is float.
  std::optional<Found> Find(Endpoint x);

 private:
  bool Elementary(const FlatNode& n, const std::vector<int32_t>& parts, Endpoint x) const;
  bool Closed(const std::vector<int32_t>& parts, Endpoint x) const;
  std::optional<math::Activation> Recognise(const std::vector<int32_t>& parts, Endpoint x);
  // What the last part gives for the samples; invalid when a kernel fails.
  Tensor Evaluate(const std::vector<int32_t>& parts, Endpoint x) const;

  const PassGraph& g_;
  const Readers& readers_;
  std::map<std::string, std::optional<math::Activation>> known_;  // by spelling
};

}  // namespace tare
