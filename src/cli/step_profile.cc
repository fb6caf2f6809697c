#include "cli/step_profile.h"

#include <algorithm>

namespace tare {
namespace {

// Multiply-adds count two. Of the products whose shapes tell; 0 for the rest.
double Flops(std::string_view op, const Tensor& x, const Tensor& w, const Tensor& out) {
  if (!x.valid() || !w.valid() || !out.valid() || out.num_elements() == 0) return 0;
  const auto elements = [](const Tensor& t) { return static_cast<double>(t.num_elements()); };
  if (op == "MatMul" && x.rank() == 2 && out.rank() == 2) return 2 * elements(x) / static_cast<double>(out.dim(0)) * elements(out);
  if (op == "BatchMatMulV2" && x.rank() >= 2 && x.rank() == out.rank()) {
    return 2 * elements(x) / static_cast<double>(out.shape().product(0, out.rank() - 1)) * elements(out);
  }
  if (w.rank() != 4 || out.rank() != 4) return 0;
  if (op == "Conv2D") return 2 * static_cast<double>(w.shape().product(0, 3)) * elements(out);
  if (op == "DepthwiseConv2dNative") return 2 * static_cast<double>(w.shape().product(0, 2)) * elements(out);
  return 0;
}

}  // namespace

void StepProfile::Before(std::string_view op, const KernelCall& call) {
  Row& row = rows_[std::string(call.node())];
  if (row.count == 0) {
    row.op = op;
    for (int i = 0; i < std::min(call.num_inputs(), 4); ++i) row.shapes += call.input(i).shape().ToString();
  }
  open_.push_back({&row, Clock::now()});
}

void StepProfile::After(std::string_view op, const KernelCall& call) {
  const Open step = open_.back();
  open_.pop_back();
  const double nanos = std::chrono::duration<double, std::nano>(Clock::now() - step.start).count();
  step.row->nanos += nanos - step.nested;
  ++step.row->count;
  if (call.num_inputs() >= 2 && call.num_outputs() >= 1) {
    step.row->flops += Flops(op, call.input(0), call.input(1), call.output(0));
  }
  if (!open_.empty()) open_.back().nested += nanos;
}

nlohmann::ordered_json StepProfile::ToJson(int runs) const {
  struct Sum {
    double nanos = 0;
    int64_t count = 0;
  };
  std::map<std::string, Sum> ops;
  std::vector<const std::pair<const std::string, Row>*> nodes;
  double all = 0;
  for (const auto& entry : rows_) {
    Sum& sum = ops[entry.second.op];
    sum.nanos += entry.second.nanos;
    sum.count += entry.second.count;
    all += entry.second.nanos;
    nodes.push_back(&entry);
  }
  std::ranges::sort(nodes, std::greater(), [](auto* n) { return n->second.nanos; });
  std::vector<std::pair<std::string, Sum>> sorted(ops.begin(), ops.end());
  std::ranges::sort(sorted, std::greater(), [](auto& x) { return x.second.nanos; });
  const double each = 1e3 * runs;
  nlohmann::ordered_json json = {{"ops", nlohmann::json::array()}, {"nodes", nlohmann::json::array()}};
  for (const auto& [op, sum] : sorted) {
    json["ops"].push_back({{"op", op}, {"us", sum.nanos / each}, {"percent", 100 * sum.nanos / all}, {"count", sum.count / runs}});
  }
  for (auto* n : nodes) {
    const Row& r = n->second;
    json["nodes"].push_back({{"node", n->first}, {"op", r.op}, {"us", r.nanos / each}, {"count", r.count / runs}, {"shapes", r.shapes}});
    if (r.flops > 0) json["nodes"].back()["gflops"] = r.flops / r.nanos;
  }
  return json;
}

}  // namespace tare
