#include "cli/npz.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "cli/npy.h"
#include "cli/zip.h"
#include "memory/mapped_file.h"

namespace tare {
namespace {

using Arrays = std::map<std::string, Tensor>;

// Removes and returns the array; an error when there is none or it is not of that dtype.
Result<Tensor> TakePart(Arrays* arrays, const std::string& key, DType dtype) {
  auto node = arrays->extract(key);
  if (node.empty()) return DataLoss("there is no {}", key);
  if (node.mapped().dtype() != dtype) {
    return DataLoss("{} is {}, not {}", key, DTypeName(node.mapped().dtype()), DTypeName(dtype));
  }
  return std::move(node.mapped());
}

Result<Tensor> JoinStrings(const Ref<Account>& account, Arrays* arrays, const std::string& key) {
  TARE_ASSIGN_OR_RETURN(Tensor bytes, TakePart(arrays, key + "#bytes", DType::kUint8));
  TARE_ASSIGN_OR_RETURN(Tensor offsets, TakePart(arrays, key + "#offsets", DType::kInt64));
  TARE_ASSIGN_OR_RETURN(Tensor dims, TakePart(arrays, key + "#shape", DType::kInt64));
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims.as<int64_t>()));
  if (offsets.num_elements() == 0 || shape.num_elements() != offsets.num_elements() - 1) {
    return DataLoss("{}#offsets has {} elements for shape {}", key, offsets.num_elements(),
                    shape.ToString());
  }
  std::span<const int64_t> at = offsets.as<int64_t>();
  if (at[0] < 0 || at.back() > bytes.num_elements() || !std::ranges::is_sorted(at)) {
    return DataLoss("{}#offsets point outside {}#bytes", key, key);
  }
  TARE_ASSIGN_OR_RETURN(Tensor strings,
                        Tensor::Make(account, DType::kString, shape, Kind::kCaller));
  const char* text = static_cast<const char*>(bytes.raw());
  std::span<StringCell> cells = strings.mut<StringCell>();
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i].Assign({text + at[i], static_cast<size_t>(at[i + 1] - at[i])});
  }
  return strings;
}

// Turns encoded parts into the tensors they stand for.
Result<NpzArrays> Decode(const Ref<Account>& account, Arrays arrays) {
  NpzArrays out;
  while (!arrays.empty()) {
    const std::string name = arrays.begin()->first;
    const size_t mark = name.rfind('#');
    const std::string key = name.substr(0, mark);
    if (mark == std::string::npos) {
      out.emplace_back(name, std::move(arrays.extract(name).mapped()));
    } else if (name.substr(mark) == "#bf16") {
      TARE_ASSIGN_OR_RETURN(Tensor bits, TakePart(&arrays, name, DType::kUint16));
      out.emplace_back(key, Tensor(DType::kBfloat16, bits.shape(), bits.buffer()));
    } else {
      TARE_ASSIGN_OR_RETURN(Tensor strings, JoinStrings(account, &arrays, key));
      out.emplace_back(key, std::move(strings));
    }
  }
  std::ranges::sort(out, {}, &NpzArrays::value_type::first);
  return out;
}

Result<NpzArrays> ReadArchive(const Ref<Account>& account, std::string_view archive) {
  TARE_ASSIGN_OR_RETURN(std::vector<ZipEntry> entries, ReadZip(archive));
  Arrays arrays;
  size_t room = kMaxNpzBytes;
  for (const ZipEntry& entry : entries) {
    TARE_ASSIGN_OR_RETURN(std::string bytes, Unpack(entry, room));
    room -= bytes.size();
    std::string key = entry.name;
    if (key.ends_with(".npy")) key.resize(key.size() - 4);
    auto tensor = DecodeNpy(account, bytes);
    if (!tensor.ok()) return std::move(tensor).status().At(entry.name);
    if (!arrays.emplace(key, *std::move(tensor)).second) return DataLoss("{} is there twice", key);
  }
  return Decode(account, std::move(arrays));
}

Status AddTensor(ZipWriter* zip, const std::string& key, const Tensor& tensor) {
  TARE_ASSIGN_OR_RETURN(std::string npy, EncodeNpy(tensor));
  return zip->Add(key + ".npy", npy);
}

Status AddStrings(const Ref<Account>& account, ZipWriter* zip, const std::string& key,
                  const Tensor& tensor) {
  std::string text;
  std::vector<int64_t> ends = {0};
  for (const StringCell& cell : tensor.as<StringCell>()) {
    text += cell.view();
    ends.push_back(static_cast<int64_t>(text.size()));
  }
  auto add = [&](std::string_view part, DType dtype, size_t n, const void* from) -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, dtype, Shape{static_cast<int64_t>(n)}));
    if (n) std::memcpy(t.mutable_raw(), from, t.bytes());
    return AddTensor(zip, key + std::string(part), t);
  };
  TARE_RETURN_IF_ERROR(add("#bytes", DType::kUint8, text.size(), text.data()));
  TARE_RETURN_IF_ERROR(add("#offsets", DType::kInt64, ends.size(), ends.data()));
  std::span<const int64_t> dims = tensor.shape().dims();
  return add("#shape", DType::kInt64, dims.size(), dims.data());
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return Status(Code::kUnknown, fmt::format("{}: {}", path, std::strerror(errno)));
  bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  whole = std::fclose(file) == 0 && whole;
  if (!whole) return Status(Code::kUnknown, fmt::format("{}: cannot be written whole", path));
  return OkStatus();
}

}  // namespace

Result<Tensor> ReadNpyFile(const Ref<Account>& account, const std::string& path) {
  TARE_ASSIGN_OR_RETURN(auto file, MappedFile::Open(path, MappedFile::Mode::kMap, account));
  auto tensor = DecodeNpy(account, file->view());
  if (!tensor.ok()) return std::move(tensor).status().At(path);
  return tensor;
}

Result<NpzArrays> ReadNpzFile(const Ref<Account>& account, const std::string& path) {
  TARE_ASSIGN_OR_RETURN(auto file, MappedFile::Open(path, MappedFile::Mode::kMap, account));
  auto tensors = ReadArchive(account, file->view());
  if (!tensors.ok()) return std::move(tensors).status().At(path);
  return tensors;
}

Status WriteNpyFile(const std::string& path, const Tensor& tensor) {
  auto npy = EncodeNpy(tensor);
  if (!npy.ok()) return std::move(npy).status().At(path);
  return WriteFile(path, *npy);
}

Status WriteNpzFile(const std::string& path, const NpzArrays& tensors) {
  const Ref<Account> scratch = MakeRef<Account>("npz");
  ZipWriter zip(/*deflate=*/true);
  for (const auto& [key, tensor] : tensors) {
    Status status;
    if (tensor.dtype() == DType::kString) {
      status = AddStrings(scratch, &zip, key, tensor);
    } else if (tensor.dtype() == DType::kBfloat16) {
      // The same bytes seen as their bits.
      Tensor bits(DType::kUint16, tensor.shape(), tensor.buffer(), const_cast<void*>(tensor.raw()));
      status = AddTensor(&zip, key + "#bf16", bits);
    } else {
      status = AddTensor(&zip, key, tensor);
    }
    if (!status.ok()) return std::move(status).At(fmt::format("{}: {}", path, key));
  }
  return WriteFile(path, zip.Finish());
}

}  // namespace tare
