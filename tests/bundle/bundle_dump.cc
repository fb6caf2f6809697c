// Writes every tensor of a checkpoint to stdout, for compare_with_tensorflow.py:
//   bundle_dump [--read] [--check] PREFIX
// A line "KEY DTYPE SHAPE BYTES" and that many bytes each; strings as u64 length and bytes. --check writes
// nothing but errors.
#include <cstdio>
#include <cstring>
#include <string>

#include "bundle/tensor_bundle.h"

namespace {

using tare::Tensor;

std::string BytesOf(const Tensor& t) {
  if (t.dtype() != tare::DType::kString) return {static_cast<const char*>(t.raw()), t.bytes()};
  std::string all;
  for (const tare::StringCell& c : t.as<tare::StringCell>()) {
    uint64_t n = c.view().size();
    all.append(reinterpret_cast<const char*>(&n), sizeof n).append(c.view());
  }
  return all;
}

int Report(const tare::Status& s) {
  std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  bool check = false;
  tare::TensorBundle::Options options;
  const char* prefix = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--read")) options.mode = tare::MappedFile::Mode::kRead;
    else if (!std::strcmp(argv[i], "--check")) check = true;
    else prefix = argv[i];
  }
  if (!prefix) return 2;
  auto account = tare::MakeRef<tare::Account>("bundle_dump");
  auto bundle = tare::TensorBundle::Open(prefix, options, account);
  if (!bundle.ok()) return Report(bundle.status());
  auto entries = (*bundle)->entries();
  if (!entries.ok()) return Report(entries.status());
  tare::ThreadPool threads(2);
  int errors = 0;
  for (const tare::BundleEntry& e : *entries) {
    auto verified = (*bundle)->VerifyAll(threads, {&e.name, 1});
    auto t = (*bundle)->Read(e.name, tare::Kind::kWeights);
    if (verified.ok() != t.ok()) std::fprintf(stderr, "VerifyAll differs: %s\n", verified.ToString().c_str());
    if (!t.ok()) {
      errors += Report(t.status());
      continue;
    }
    if (check) continue;
    std::string bytes = BytesOf(*t);
    std::printf("%s %s %s %zu\n", std::string(e.name).c_str(), std::string(DTypeName(e.dtype)).c_str(),
                e.shape.ToString().c_str(), bytes.size());
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  }
  return errors > 0;
}
