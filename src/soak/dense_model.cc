#include "soak/dense_model.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <protozero/pbf_writer.hpp>
#include <vector>

#include "tensor/dtype.h"

namespace tare {
namespace {

using protozero::pbf_writer;

constexpr int kFloat = static_cast<int>(DType::kFloat);

// AttrValue fields: type = 6, shape = 7, tensor = 8. Map entries: key = 1, value = 2.
template <class F>
void AddAttr(pbf_writer& node, const char* name, F&& write_value) {
  pbf_writer entry(node, 5);
  entry.add_string(1, name);
  pbf_writer value(entry, 2);
  write_value(value);
}

void AddType(pbf_writer& node, const char* name) {
  AddAttr(node, name, [](pbf_writer& v) { v.add_enum(6, kFloat); });
}

void AddShape(pbf_writer& message, uint32_t tag, std::initializer_list<int64_t> dims) {
  pbf_writer shape(message, tag);
  for (int64_t d : dims) {
    pbf_writer dim(shape, 2);
    dim.add_int64(1, d);
  }
}

void AddNode(pbf_writer& graph, const std::string& name, const char* op, std::initializer_list<std::string> inputs,
             const std::function<void(pbf_writer&)>& attrs) {
  pbf_writer node(graph, 1);
  node.add_string(1, name);
  node.add_string(2, op);
  for (const std::string& i : inputs) node.add_string(3, i);
  attrs(node);
}

void AddSignaturePort(pbf_writer& signature, uint32_t tag, const char* key, const std::string& tensor, int width) {
  pbf_writer entry(signature, tag);
  entry.add_string(1, key);
  pbf_writer info(entry, 2);
  info.add_string(1, tensor);
  info.add_enum(2, kFloat);
  AddShape(info, 3, {-1, width});
}

}  // namespace

Status WriteDenseModel(const std::string& dir, const DenseModelSize& size) {
  const int64_t width = size.width;
  std::string bytes, weights(static_cast<size_t>(width * width) * 4, '\0');
  // Small values that differ: pages of zeros could be shared by the OS.
  auto* w = reinterpret_cast<float*>(weights.data());
  for (int64_t i = 0; i < width * width; ++i) w[i] = static_cast<float>(i % 97) * 1e-4f;
  std::string last = "x";
  {
    pbf_writer model(bytes);
    model.add_int64(1, 1);
    pbf_writer meta(model, 2);
    {
      pbf_writer info(meta, 1);
      info.add_string(4, "serve");
    }
    {
      pbf_writer graph(meta, 2);
      AddNode(graph, "x", "Placeholder", {}, [&](pbf_writer& n) {
        AddType(n, "dtype");
        AddAttr(n, "shape", [&](pbf_writer& v) { AddShape(v, 7, {-1, width}); });
      });
      for (int i = 0; i < size.layers; ++i) {
        const std::string weight = fmt::format("w{}", i), product = fmt::format("y{}", i);
        AddNode(graph, weight, "Const", {}, [&](pbf_writer& n) {
          AddType(n, "dtype");
          AddAttr(n, "value", [&](pbf_writer& v) {
            pbf_writer tensor(v, 8);
            tensor.add_enum(1, kFloat);
            AddShape(tensor, 2, {width, width});
            tensor.add_bytes(4, weights);
          });
        });
        AddNode(graph, product, "MatMul", {last, weight}, [&](pbf_writer& n) { AddType(n, "T"); });
        last = product;
      }
    }
    pbf_writer entry(meta, 5);
    entry.add_string(1, "serving_default");
    pbf_writer signature(entry, 2);
    AddSignaturePort(signature, 1, "x", "x:0", size.width);
    AddSignaturePort(signature, 2, "y", last + ":0", size.width);
  }
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  std::ofstream out(dir + "/saved_model.pb", std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return out ? OkStatus() : FailedPrecondition("{}/saved_model.pb: cannot be written", dir);
}

}  // namespace tare
