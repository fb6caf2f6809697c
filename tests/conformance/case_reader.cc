#include "case_reader.h"

#include <zlib.h>

#include "cli/base64.h"

namespace tare {
namespace {

Result<std::string> StringOrBase64(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return DecodeBase64(value.at("base64").get<std::string>());
}

// A copy of the tensor one element off a 64-byte boundary.
Result<Tensor> AsMapped(const Ref<Account>& account, const Tensor& t) {
  const size_t size = DTypeSize(t.dtype());
  TARE_ASSIGN_OR_RETURN(
      Ref<Buffer> file,
      Buffer::Allocate(account, DType::kUint8, t.bytes() + 2 * size, Kind::kActivations));
  char* at = static_cast<char*>(file->data()) + size;
  std::memcpy(at, t.raw(), t.bytes());
  return Tensor(t.dtype(), t.shape(), Buffer::Within(file, at, t.bytes()), at);
}

}  // namespace

Result<std::vector<std::string>> ReadGzipLines(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return NotFound("{}: cannot be opened", path);
  std::string text;
  char block[1 << 16];
  int n;
  while ((n = gzread(file, block, sizeof block)) > 0) text.append(block, static_cast<size_t>(n));
  const bool whole = gzclose(file) == Z_OK && n == 0;
  if (!whole) return DataLoss("{}: damaged", path);
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

Result<Tensor> ReadTensor(const Ref<Account>& account, const json& recorded, Placement placement) {
  const DType dtype = DTypeFromName(recorded.at("dtype").get<std::string>());
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(recorded.at("shape").get<std::vector<int64_t>>()));
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, dtype, shape));
  const json& data = recorded.at("data");
  if (dtype == DType::kString) {
    for (size_t i = 0; i < data.size(); ++i) {
      TARE_ASSIGN_OR_RETURN(std::string bytes, DecodeBase64(data[i].get<std::string>()));
      t.mut<StringCell>()[i].Assign(bytes);
    }
    return t;
  }
  TARE_ASSIGN_OR_RETURN(std::string bytes, DecodeBase64(data.get<std::string>()));
  if (bytes.size() != t.bytes())
    return DataLoss("a tensor of {} bytes has {}", t.bytes(), bytes.size());
  if (!bytes.empty()) std::memcpy(t.mutable_raw(), bytes.data(), bytes.size());
  if (placement == Placement::kMapped) return AsMapped(account, t);
  return t;
}

Result<AttrValue> AttrReading::Read(const std::string& kind, const json& value) {
  if (kind.starts_with("list(")) {
    const std::string element = kind.substr(5, kind.size() - 6);
    std::vector<AttrValue> list;
    for (const json& v : value) {
      TARE_ASSIGN_OR_RETURN(AttrValue read, Read(element, v));
      list.push_back(read);
    }
    constexpr std::pair<std::string_view, AttrKind> kKinds[] = {
        {"string", AttrKind::kString}, {"int", AttrKind::kInt},   {"float", AttrKind::kFloat},
        {"bool", AttrKind::kBool},     {"type", AttrKind::kType}, {"shape", AttrKind::kShape},
        {"tensor", AttrKind::kTensor}};
    for (auto [name, k] : kKinds) {
      if (name == element) return AttrValue::List(k, lists_.emplace_back(std::move(list)));
    }
  } else if (kind == "string") {
    TARE_ASSIGN_OR_RETURN(std::string text, StringOrBase64(value));
    return AttrValue::String(strings_.emplace_back(std::move(text)));
  } else if (kind == "int") {
    return AttrValue::Int(value.get<int64_t>());
  } else if (kind == "float") {
    return AttrValue::Float(value.is_string() ? std::stof(value.get<std::string>())
                                              : value.get<float>());
  } else if (kind == "bool") {
    return AttrValue::Bool(value.get<bool>());
  } else if (kind == "type") {
    return AttrValue::Type(DTypeFromName(value.get<std::string>()));
  } else if (kind == "shape") {
    if (value.is_null()) return AttrValue::OfShape({});
    return AttrValue::OfShape({false, shapes_.emplace_back(value.get<std::vector<int64_t>>())});
  } else if (kind == "tensor") {
    TARE_ASSIGN_OR_RETURN(Tensor t, ReadTensor(account_, value));
    return AttrValue::OfTensor(&tensors_.emplace_back(std::move(t)));
  }
  return InvalidArgument("unknown attribute kind {}", kind);
}

}  // namespace tare
