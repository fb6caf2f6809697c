// Recorded answers: inputs and outputs of one signature call, as tools/record_golden.py writes them
// (SIGNATURE.I.npz with keys in/ARG and out/KEY), and how answers are compared with them.
#pragma once
#include <string>
#include <vector>

#include "saved_model/model.h"

namespace tare {

struct Golden {
  std::string file, signature;
  NamedTensors inputs, outputs;
};

// The .npz files among `paths`, or in the directories among them, in the order of their names.
Result<std::vector<std::string>> GoldenFiles(const std::vector<std::string>& paths);
Result<Golden> ReadGolden(const Ref<Account>& account, const std::string& file);

struct Tolerance {
  double relative = 1e-5, absolute = 1e-5;
};
// OK, or what differs first and by how much. Integers, strings and bools must be equal.
Status CompareTensors(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance);

// Runs the golden's signature on the model and compares every output.
Status ReplayGolden(Model& model, const Golden& golden, const Tolerance& tolerance);

// Inputs of the signature's dtypes and shapes (unknown dimensions are 1) that any model should take.
Result<NamedTensors> MakeInputs(const Ref<Account>& account, const Signature& signature);

}  // namespace tare
