// Replays recorded conformance cases on Tare's kernels:
//
//   op_conformance [--filter OP] [--strict] [--verbose] FILE.jsonl.gz ...
//
// Each case runs twice in one context a file: with inputs a kernel may write over, and with inputs
// as they lie in a mapped file, which must stay as they were. Afterwards no byte may stay with the
// context. Exit code 1 on a failure; an op without a kernel fails only with --strict.
#include <cstdio>
#include <map>
#include <set>

#include "case_reader.h"
#include "compare.h"
#include "resource/variable.h"

namespace tare {
namespace {

struct Options {
  std::string filter;
  bool strict = false;
  bool verbose = false;
  std::vector<std::string> files;
};

struct Count {
  int passed = 0, failed = 0;
};

// One case in one placement: its tensors, and what its steps gave.
class Replay {
 public:
  Replay(EagerContext& context, const json& recorded, Placement placement)
      : context_(context), recorded_(recorded), placement_(placement) {}

  // Ok, or an error that says what is wrong.
  Status Run() {
    const json& steps = recorded_.at("steps");
    for (size_t i = 0; i < steps.size(); ++i) {
      TARE_RETURN_IF_ERROR(
          RunStep(steps[i]).At(steps.size() > 1 ? fmt::format("step {}", i) : "case"));
    }
    for (const auto& [tensor, bytes] : originals_) {
      if (!bytes.empty() && std::memcmp(tensor.raw(), bytes.data(), bytes.size()) != 0) {
        return Internal("an input was written over");
      }
    }
    return OkStatus();
  }

 private:
  Status RunStep(const json& step) {
    Result<std::vector<Tensor>> got = Execute(step);
    const json* expect = step.contains("expect") ? &step["expect"] : nullptr;
    const int want_code = expect && expect->is_object() ? expect->at("error").get<int>() : 0;
    const int code = static_cast<int>(got.status().code());
    if (code != want_code) {
      return Internal("want code {}, got {} {}", want_code, code, got.status().ToString());
    }
    if (!got.ok()) {
      outputs_.emplace_back();
      return OkStatus();
    }
    outputs_.push_back(*std::move(got));
    return expect ? Compare(*expect, outputs_.back()) : OkStatus();
  }

  Result<std::vector<Tensor>> Execute(const json& step) {
    TARE_ASSIGN_OR_RETURN(EagerOp op, EagerOp::Make(context_, step.at("op").get<std::string>()));
    AttrReading reading(context_.account());
    const json none;
    for (const auto& [name, attr] : (step.contains("attrs") ? step["attrs"] : none).items()) {
      TARE_ASSIGN_OR_RETURN(AttrValue value,
                            reading.Read(attr.at("kind").get<std::string>(), attr.at("value")));
      op.SetAttr(name, value);
    }
    for (const json& arg : step.contains("inputs") ? step["inputs"] : none) {
      if (arg.contains("list")) {
        std::vector<Tensor> list;
        for (const json& element : arg["list"]) {
          TARE_ASSIGN_OR_RETURN(Tensor t, Input(element));
          list.push_back(std::move(t));
        }
        TARE_RETURN_IF_ERROR(op.AddInputList(list));
      } else {
        TARE_ASSIGN_OR_RETURN(Tensor t, Input(arg));
        TARE_RETURN_IF_ERROR(op.AddInput(std::move(t)));
      }
    }
    return op.Execute();
  }

  Result<Tensor> Input(const json& arg) {
    if (arg.contains("ref")) {
      const size_t step = arg["ref"].get<size_t>();
      if (step >= outputs_.size()) return Internal("step {} is yet to come", step);
      const std::vector<Tensor>& from = outputs_[step];
      const size_t output = arg["output"].get<size_t>();
      if (output >= from.size()) return Internal("step {} gave no output {}", step, output);
      return from[output];
    }
    TARE_ASSIGN_OR_RETURN(Tensor t, ReadTensor(context_.account(), arg, placement_));
    if (placement_ == Placement::kMapped && IsPlain(t.dtype())) {
      originals_.emplace_back(t, std::string(static_cast<const char*>(t.raw()), t.bytes()));
    }
    return t;
  }

  Status Compare(const json& expect, const std::vector<Tensor>& got) {
    if (expect.size() != got.size())
      return Internal("want {} outputs, got {}", expect.size(), got.size());
    for (size_t i = 0; i < got.size(); ++i) {
      TARE_RETURN_IF_ERROR(CompareOutput(expect[i], got[i]).At(fmt::format("output {}", i)));
    }
    return OkStatus();
  }

  Status CompareOutput(const json& expect, Tensor got) {
    const std::string dtype = expect.at("dtype").get<std::string>();
    if (got.dtype() == DType::kResource && dtype != "resource") {
      // A reference, of which TensorFlow recorded the value.
      TARE_ASSIGN_OR_RETURN(Ref<Variable> variable, GetResource<Variable>(got));
      TARE_ASSIGN_OR_RETURN(got, variable->Read());
    }
    if (DTypeName(got.dtype()) != dtype)
      return Internal("want {}, got {}", dtype, DTypeName(got.dtype()));
    const auto dims = expect.at("shape").get<std::vector<int64_t>>();
    if (!std::ranges::equal(dims, got.shape().dims())) {
      return Internal("want shape {}, got {}", Shape(dims).ToString(), got.shape().ToString());
    }
    if (recorded_.value("nondeterministic", false) || !expect.contains("data")) return OkStatus();
    TARE_ASSIGN_OR_RETURN(Tensor want, ReadTensor(context_.account(), expect));
    Tolerance tolerance = DefaultTolerance(got.dtype());
    tolerance.rtol = recorded_.value("rtol", tolerance.rtol);
    tolerance.atol = recorded_.value("atol", tolerance.atol);
    if (auto difference = FirstDifference(want, got, tolerance)) return Internal("{}", *difference);
    return OkStatus();
  }

  EagerContext& context_;
  const json& recorded_;
  const Placement placement_;
  std::vector<std::vector<Tensor>> outputs_;
  std::vector<std::pair<Tensor, std::string>> originals_;
};

// The case's bytes all come back: what the context holds beside its parsed op definitions.
int64_t HeldBytes(EagerContext& context) {
  context.resources().Clear();
  context.ClearCaches();
  context.account()->Trim(false);
  return context.account()->total() - context.account()->bytes(Kind::kGraphs);
}

Status RunCase(EagerContext& context, const json& recorded) {
  for (Placement placement : {Placement::kOwned, Placement::kMapped}) {
    context.SetSeed(0);
    const int64_t before = HeldBytes(context);
    Status status = Replay(context, recorded, placement).Run();
    if (!status.ok())
      return std::move(status).At(placement == Placement::kOwned ? "owned" : "mapped");
    const int64_t after = HeldBytes(context);
    if (after != before) return Internal("{} bytes stayed", after - before);
  }
  return OkStatus();
}

// Attributes and inputs of the last step, shortened.
std::string Describe(const json& recorded) {
  std::string out;
  const json& step = recorded.at("steps").back();
  if (step.contains("attrs")) {
    for (const auto& [name, attr] : step["attrs"].items()) {
      out += fmt::format(" {}={}", name, attr.at("value").dump(-1, ' ', true).substr(0, 60));
    }
  }
  if (step.contains("inputs")) {
    out += " inputs";
    auto describe = [&](const json& arg) {
      out += arg.contains("ref")
                 ? fmt::format(" step {}", arg["ref"].get<int>())
                 : fmt::format(" {}{}", arg["dtype"].get<std::string>(), arg["shape"].dump());
    };
    for (const json& arg : step["inputs"]) {
      if (!arg.contains("list")) {
        describe(arg);
        continue;
      }
      for (const json& element : arg["list"]) describe(element);
    }
  }
  return out;
}

class Conformance {
 public:
  explicit Conformance(Options options) : options_(std::move(options)) {}

  bool Run() {
    for (const std::string& file : options_.files) RunFile(file);
    Summarise();
    return failed_ == 0 && !(options_.strict && !unsupported_.empty());
  }

 private:
  void RunFile(const std::string& file) {
    auto lines = ReadGzipLines(file);
    if (!lines.ok()) {
      Fail(file, lines.status().ToString());
      return;
    }
    EagerContext context({.threads = 2});
    for (size_t i = 0; i < lines->size(); ++i) {
      const json recorded = json::parse((*lines)[i]);
      const std::string op = recorded.at("steps").back().at("op").get<std::string>();
      if (!Wanted(recorded) || !Supported(context, recorded)) continue;
      if (options_.verbose) fmt::print("{}:{} {}{}\n", file, i + 1, op, Describe(recorded));
      Status status = RunCase(context, recorded);
      Count& count = ops_[op];
      ++(status.ok() ? count.passed : count.failed);
      if (!status.ok()) {
        Fail(fmt::format("{}:{}", file, i + 1),
             fmt::format("{}{}\n    {}", op, Describe(recorded), status.message()));
      }
    }
  }

  bool Wanted(const json& recorded) const {
    if (options_.filter.empty()) return true;
    return std::ranges::any_of(recorded.at("steps"),
                               [&](const json& step) { return step.at("op") == options_.filter; });
  }

  bool Supported(const EagerContext& context, const json& recorded) {
    bool all = true;
    for (const json& step : recorded.at("steps")) {
      const auto op = step.at("op").get<std::string>();
      if (!context.kernels().Find(op)) {
        unsupported_.insert(op);
        all = false;
      }
    }
    skipped_ += !all;
    return all;
  }

  void Fail(const std::string& where, const std::string& what) {
    ++failed_;
    fmt::print("FAIL {} {}\n", where, what);
    std::fflush(stdout);
  }

  void Summarise() const {
    int passed = 0;
    std::string line;
    for (const auto& [op, count] : ops_) {
      passed += count.passed;
      line += fmt::format("{} {}/{}  ", op, count.passed, count.passed + count.failed);
      if (line.size() > 80) fmt::print("{}\n", std::exchange(line, ""));
    }
    if (!line.empty()) fmt::print("{}\n", line);
    for (const std::string& op : unsupported_) fmt::print("unsupported: {}\n", op);
    fmt::print("{} cases passed, {} failed, {} unsupported; {} ops\n", passed, failed_, skipped_,
               ops_.size());
  }

  const Options options_;
  std::map<std::string, Count> ops_;
  std::set<std::string> unsupported_;
  int failed_ = 0;
  int skipped_ = 0;
};

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--strict")
      options.strict = true;
    else if (arg == "--verbose")
      options.verbose = true;
    else if (arg == "--filter" && i + 1 < argc)
      options.filter = argv[++i];
    else
      options.files.push_back(arg);
  }
  if (options.files.empty()) {
    fmt::print(stderr,
               "usage: op_conformance [--filter OP] [--strict] [--verbose] FILE.jsonl.gz ...\n");
    return 2;
  }
  try {
    return Conformance(options).Run() ? 0 : 1;
  } catch (const json::exception& e) {
    fmt::print(stderr, "op_conformance: a case is damaged: {}\n", e.what());
    return 1;
  }
}

}  // namespace
}  // namespace tare

int main(int argc, char** argv) { return tare::Main(argc, argv); }
