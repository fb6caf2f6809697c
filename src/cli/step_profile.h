// Time by node and by op of observed runs. Plans nested in a step (a loop's body) are rows of their own, and
// their time is taken off the step's.
#pragma once
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace tare {

class StepProfile final : public StepObserver {
 public:
  void Before(std::string_view op, const KernelCall& call) override;
  void After(std::string_view op, const KernelCall& call) override;
  // {"ops": [{op, us, percent, count}], "nodes": [{node, op, us, count, shapes, gflops?}]}, the slowest first;
  // times and counts are of one of `runs` runs.
  nlohmann::ordered_json ToJson(int runs) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Row {
    std::string op, shapes;
    double nanos = 0, flops = 0;
    int64_t count = 0;
  };
  struct Open {
    Row* row;
    Clock::time_point start;
    double nested = 0;
  };
  std::map<std::string, Row> rows_;  // by node
  std::vector<Open> open_;
};

}  // namespace tare
