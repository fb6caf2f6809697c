// Every model of the corpus through TF_LoadSessionFromSavedModel and TF_SessionRun, against what TensorFlow
// answered: feeds and fetches by the names its signatures give.
#include <filesystem>
#include <set>

#include "capi_test.h"
#include "cli/golden.h"

namespace capi_test {
namespace {

namespace fs = std::filesystem;

// Tensors of a signature as the goldens name them; a sparse one is three.
std::map<std::string, std::string> Names(const std::map<std::string, tare::TensorInfo, std::less<>>& infos) {
  std::map<std::string, std::string> names;
  for (const auto& [key, info] : infos) {
    if (!info.sparse()) {
      names[key] = info.name;
      continue;
    }
    names[key + "/indices"] = info.indices_name;
    names[key + "/values"] = info.name;
    names[key + "/shape"] = info.shape_name;
  }
  return names;
}

TF_Output Find(TF_Graph* graph, const std::string& name) {
  const size_t colon = name.rfind(':');
  return {TF_GraphOperationByName(graph, name.substr(0, colon).c_str()), std::atoi(name.c_str() + colon + 1)};
}

Tensor ToC(const tare::Tensor& t) {
  const auto type = static_cast<TF_DataType>(t.dtype());
  Tensor c(TF_AllocateTensor(type, t.shape().dims().data(), t.rank(), t.bytes()));
  if (t.dtype() == tare::DType::kString) {
    auto* to = static_cast<TF_TString*>(TF_TensorData(c.get()));
    for (const tare::StringCell& s : t.as<tare::StringCell>()) TF_StringCopy(to++, s.view().data(), s.size());
  } else if (t.bytes() > 0) {
    memcpy(TF_TensorData(c.get()), t.raw(), t.bytes());
  }
  return c;
}

template <class To, class From>
Tensor Narrow(TF_DataType type, const tare::Tensor& t) {
  std::vector<To> narrow(t.as<From>().begin(), t.as<From>().end());
  return NewTensor<To>(type, {t.shape().dims().begin(), t.shape().dims().end()}, narrow);
}

// The goldens' numbers are as Python had them: the placeholder's type may be narrower.
Tensor ToInput(const tare::Tensor& t, TF_DataType type) {
  if (t.dtype() == tare::DType::kInt64 && type == TF_INT32) return Narrow<int32_t, int64_t>(type, t);
  if (t.dtype() == tare::DType::kDouble && type == TF_FLOAT) return Narrow<float, double>(type, t);
  return ToC(t);
}

// Bytes and strings are read through the C functions; the view lives as long as the TF_Tensor.
tare::Tensor FromC(const tare::Ref<tare::Account>& account, const TF_Tensor* t) {
  std::vector<int64_t> dims;
  for (int i = 0; i < TF_NumDims(t); ++i) dims.push_back(TF_Dim(t, i));
  tare::Tensor out = *tare::Tensor::Make(account, static_cast<tare::DType>(TF_TensorType(t)), tare::Shape(dims));
  if (TF_TensorType(t) == TF_STRING) {
    const auto* from = static_cast<const TF_TString*>(TF_TensorData(t));
    for (tare::StringCell& s : out.mut<tare::StringCell>()) {
      s.Assign({TF_StringGetDataPointer(from), TF_StringGetSize(from)});
      ++from;
    }
  } else if (out.bytes() > 0) {
    memcpy(out.mutable_raw(), TF_TensorData(t), out.bytes());
  }
  return out;
}

std::string Replay(TF_Session* session, TF_Graph* graph, const tare::MetaGraph& meta, const tare::Golden& golden,
                   const tare::Tolerance& tolerance) {
  auto account = tare::MakeRef<tare::Account>("outputs");
  auto signature = meta.signatures.find(golden.signature);
  if (signature == meta.signatures.end()) return "no signature " + golden.signature;
  std::vector<TF_Output> inputs, outputs;
  std::vector<Tensor> values;
  std::vector<TF_Tensor*> pointers;
  const auto input_names = Names(signature->second.inputs), output_names = Names(signature->second.outputs);
  for (const auto& [key, tensor] : golden.inputs) {
    if (!input_names.contains(key)) return "no input " + key;
    inputs.push_back(Find(graph, input_names.at(key)));
    pointers.push_back(values.emplace_back(ToInput(tensor, TF_OperationOutputType(inputs.back()))).get());
  }
  for (const auto& [key, tensor] : golden.outputs) {
    if (!output_names.contains(key)) return "no output " + key;
    outputs.push_back(Find(graph, output_names.at(key)));
  }
  std::vector<TF_Tensor*> results(outputs.size());
  Status s;
  TF_SessionRun(session, nullptr, inputs.data(), pointers.data(), static_cast<int>(inputs.size()), outputs.data(),
                results.data(), static_cast<int>(outputs.size()), nullptr, 0, nullptr, s);
  if (s.code() != TF_OK) return s.message();
  std::string wrong;
  size_t i = 0;
  for (const auto& [key, expected] : golden.outputs) {
    Tensor owned(results[i++]);
    const tare::Status same = tare::CompareTensors(expected, FromC(account, owned.get()), tolerance);
    if (!same.ok() && wrong.empty()) wrong = key + ": " + std::string(same.message());
  }
  return wrong;
}

std::string ReplayModel(const std::string& dir, const std::string& goldens) {
  auto account = tare::MakeRef<tare::Account>("goldens");
  auto file = tare::SavedModelFile::Open(dir, tare::MappedFile::Mode::kMap, account);
  if (!file.ok()) return "";  // a frozen graph
  const auto& sets = file->tag_sets();
  std::vector<const char*> tags;
  for (const std::string& t : sets[0]) tags.push_back(t.c_str());
  auto meta = file->Select(sets[0]);
  Status s;
  Owned<TF_SessionOptions, TF_DeleteSessionOptions> options(TF_NewSessionOptions());
  Graph graph(TF_NewGraph());
  TF_Session* session = TF_LoadSessionFromSavedModel(options.get(), nullptr, dir.c_str(), tags.data(),
                                                     static_cast<int>(tags.size()), graph.get(), nullptr, s);
  if (!session) return s.message();
  // What was computed in bfloat16 has its three digits.
  const double t = dir.ends_with("bf16") ? 8e-3 : 1e-4;
  const tare::Tolerance tolerance{t, t};
  std::string wrong;
  auto files = tare::GoldenFiles({goldens});
  for (const std::string& f : *files) {
    auto golden = tare::ReadGolden(account, f);
    if (golden.ok() && wrong.empty()) wrong = Replay(session, graph.get(), *meta, *golden, tolerance);
  }
  TF_CloseSession(session, s);
  TF_DeleteSession(session, s);
  return wrong;
}

TEST(Session, AnswersAsTensorFlowOnEveryModel) {
  std::vector<std::string> wrong;
  int models = 0, lacking = 0;
  for (const auto& entry : fs::directory_iterator(TestData("golden"))) {
    const std::string name = entry.path().filename();
    const std::string dir = TestData("corpus/" + name);
    if (!fs::exists(dir + "/saved_model.pb")) continue;
    ++models;
    std::string why = ReplayModel(dir, entry.path());
    const bool lacks = why.find("Tare has no kernel for") != why.npos || why.find("is not supported") != why.npos ||
                       why.find("a model may not write files") != why.npos;
    lacking += lacks;
    if (!why.empty() && !lacks) wrong.push_back(name + ": " + why.substr(0, 300));
  }
  EXPECT_GE(models, 100);
  EXPECT_LT(lacking, models / 5) << "models that need an op Tare lacks";
  for (const std::string& w : wrong) ADD_FAILURE() << w;
}

}  // namespace
}  // namespace capi_test
