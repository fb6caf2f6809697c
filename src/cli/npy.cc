#include "cli/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace tare {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 64 << 10;

// What a NumPy type string such as "<f4" says.
struct NpyType {
  char kind = 0;         // b i u f c, or S U
  size_t size = 0;       // of an element in the file, in bytes
  bool swapped = false;  // big endian
  DType dtype = DType::kInvalid;
};

struct Header {
  NpyType type;
  bool fortran_order = false;
  Shape shape;
};

struct TypeRow {
  char kind;
  size_t size;
  DType dtype;
};
constexpr TypeRow kTypes[] = {
    {'b', 1, DType::kBool},      {'i', 1, DType::kInt8},        {'i', 2, DType::kInt16},
    {'i', 4, DType::kInt32},     {'i', 8, DType::kInt64},       {'u', 1, DType::kUint8},
    {'u', 2, DType::kUint16},    {'u', 4, DType::kUint32},      {'u', 8, DType::kUint64},
    {'f', 2, DType::kHalf},      {'f', 4, DType::kFloat},       {'f', 8, DType::kDouble},
    {'c', 8, DType::kComplex64}, {'c', 16, DType::kComplex128},
};

Result<NpyType> ParseType(std::string_view descr) {
  const Status unknown =
      InvalidArgument("NumPy type '{}' is not one of numbers, bools or strings", descr);
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return unknown;
  NpyType type;
  type.kind = descr[1];
  const char* end = descr.data() + descr.size();
  auto [stop, error] = std::from_chars(descr.data() + 2, end, type.size);
  if (error != std::errc() || stop != end || type.size == 0 || type.size > (1u << 30))
    return unknown;
  if (type.kind == 'S' || type.kind == 'U') {
    if (type.kind == 'U') type.size *= 4;
    type.dtype = DType::kString;
  }
  for (const TypeRow& row : kTypes) {
    if (row.kind == type.kind && row.size == type.size) type.dtype = row.dtype;
  }
  if (type.dtype == DType::kInvalid) return unknown;
  type.swapped = descr[0] == '>' && type.kind != 'S' && type.size > 1;
  return type;
}

// Reads the header's text, a Python dictionary literal of three known keys.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Result<Header> Parse() {
    Header header;
    bool seen[3] = {};
    TARE_RETURN_IF_ERROR(Expect('{'));
    while (!Take('}')) {
      TARE_ASSIGN_OR_RETURN(std::string_view key, Quoted());
      TARE_RETURN_IF_ERROR(Expect(':'));
      if (key == "descr") {
        seen[0] = true;
        TARE_ASSIGN_OR_RETURN(std::string_view descr, Quoted());
        TARE_ASSIGN_OR_RETURN(header.type, ParseType(descr));
      } else if (key == "fortran_order") {
        seen[1] = true;
        header.fortran_order = TakeWord("True");
        if (!header.fortran_order && !TakeWord("False")) return Bad();
      } else if (key == "shape") {
        seen[2] = true;
        TARE_ASSIGN_OR_RETURN(header.shape, Dims());
      } else {
        return Bad();
      }
      if (!Take(',') && !Next('}')) return Bad();
    }
    Skip();
    if (!rest_.empty() || !seen[0] || !seen[1] || !seen[2]) return Bad();
    return header;
  }

 private:
  Result<Shape> Dims() {
    std::vector<int64_t> dims;
    TARE_RETURN_IF_ERROR(Expect('('));
    while (!Take(')')) {
      Skip();
      int64_t dim;
      auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (error != std::errc()) return Bad();
      rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
      dims.push_back(dim);
      if (!Take(',') && !Next(')')) return Bad();
    }
    return Shape::Make(dims);
  }

  Result<std::string_view> Quoted() {
    if (Next('[')) return InvalidArgument("structured NumPy types are not supported");
    if (!Next('\'') && !Next('"')) return Bad();
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return Bad();
    std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void Skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size())); }
  bool Next(char c) {
    Skip();
    return !rest_.empty() && rest_[0] == c;
  }
  bool Take(char c) {
    if (!Next(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    Skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  Status Expect(char c) { return Take(c) ? OkStatus() : Bad(); }
  Status Bad() const { return DataLoss("the .npy header is malformed"); }

  std::string_view rest_;
};

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t v = 0;
  for (size_t i = bytes.size(); i-- > 0;) v = v << 8 | static_cast<uint8_t>(bytes[i]);
  return v;
}

// Splits a file into its header, parsed, and its data.
Result<Header> ReadHeader(std::string_view* bytes) {
  if (!bytes->starts_with(kMagic) || bytes->size() < 10) return DataLoss("not a .npy file");
  const int major = static_cast<uint8_t>((*bytes)[6]);
  if (major < 1 || major > 3) return Unimplemented(".npy format version {} is not known", major);
  const size_t length_size = major == 1 ? 2 : 4;
  if (bytes->size() < 8 + length_size) return DataLoss("the .npy header is cut off");
  const size_t length = LittleEndian(bytes->substr(8, length_size));
  bytes->remove_prefix(8 + length_size);
  if (length > kMaxHeader || length > bytes->size()) return DataLoss("the .npy header is cut off");
  std::string_view text = bytes->substr(0, length);
  bytes->remove_prefix(length);
  return HeaderParser(text).Parse();
}

void AppendUtf8(char32_t c, std::string* out) {
  auto put = [&](char32_t v) { *out += static_cast<char>(v); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xe0 | c >> 12);
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 63));
    }
    put(0x80 | (c >> 6 & 63));
  }
  put(0x80 | (c & 63));
}

// One element of an 'S' or 'U' array.
Result<std::string> DecodeString(const NpyType& type, const char* at) {
  std::string out;
  if (type.kind == 'S') {
    out.assign(at, type.size);
  } else {
    for (size_t i = 0; i < type.size; i += 4) {
      char unit[4];
      std::memcpy(unit, at + i, 4);
      if (type.swapped) std::reverse(unit, unit + 4);
      const char32_t c = LittleEndian({unit, 4});
      if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return DataLoss("U+{:X} is no character", uint32_t{c});
      AppendUtf8(c, &out);
    }
  }
  out.resize(out.find_last_not_of('\0') + 1);
  return out;
}

// Where element `i` of the tensor, in C order, lies in a file in Fortran order.
class FortranIndex {
 public:
  explicit FortranIndex(const Shape& shape)
      : shape_(shape), position_(shape.rank()), strides_(shape.rank()) {
    int64_t stride = 1;
    for (int d = 0; d < shape.rank(); ++d) {
      strides_[d] = stride;
      stride *= shape[d];
    }
  }
  int64_t at() const { return at_; }
  void Advance() {
    for (int d = shape_.rank(); d-- > 0;) {
      at_ += strides_[d];
      if (++position_[d] < shape_[d]) return;
      at_ -= strides_[d] * shape_[d];
      position_[d] = 0;
    }
  }

 private:
  const Shape shape_;
  std::vector<int64_t> position_;
  std::vector<int64_t> strides_;
  int64_t at_ = 0;
};

Status CopyElement(const NpyType& type, const char* from, Tensor* to, int64_t i) {
  if (type.dtype == DType::kString) {
    TARE_ASSIGN_OR_RETURN(std::string s, DecodeString(type, from));
    to->mut<StringCell>()[i].Assign(s);
    return OkStatus();
  }
  char* at = static_cast<char*>(to->mutable_raw()) + i * static_cast<int64_t>(type.size);
  std::memcpy(at, from, type.size);
  if (type.swapped) {
    const size_t part = type.kind == 'c' ? type.size / 2 : type.size;
    for (size_t p = 0; p < type.size; p += part) std::reverse(at + p, at + p + part);
  }
  // Any other byte in a bool would be undefined to read.
  if (type.dtype == DType::kBool) *at = *at != 0;
  return OkStatus();
}

// "<f4" and kin; empty when the dtype has none.
std::string TypeText(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype)
      return fmt::format("{}{}{}", row.size == 1 ? '|' : '<', row.kind, row.size);
  }
  return "";
}

std::string FileOf(std::string_view descr, const Shape& shape, std::string_view data) {
  std::string dims;
  for (int64_t d : shape.dims()) dims += fmt::format("{},", d);
  if (shape.rank() > 1) dims.pop_back();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  // The data begins at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 255),
          static_cast<char>(header.size() >> 8)};
  return out.append(header).append(data);
}

Result<std::string> EncodeStrings(const Tensor& tensor) {
  size_t width = 1;
  for (const StringCell& cell : tensor.as<StringCell>()) {
    if (cell.view().ends_with('\0'))
      return InvalidArgument("NumPy strings cannot end in NUL bytes");
    width = std::max(width, cell.size());
  }
  std::string data(width * static_cast<size_t>(tensor.num_elements()), '\0');
  char* at = data.data();
  for (const StringCell& cell : tensor.as<StringCell>()) {
    std::ranges::copy(cell.view(), at);
    at += width;
  }
  return FileOf(fmt::format("|S{}", width), tensor.shape(), data);
}

}  // namespace

Result<Tensor> DecodeNpy(const Ref<Account>& account, std::string_view bytes) {
  TARE_ASSIGN_OR_RETURN(Header header, ReadHeader(&bytes));
  const NpyType& type = header.type;
  const auto count = static_cast<size_t>(header.shape.num_elements());
  if (bytes.size() / type.size != count || bytes.size() % type.size != 0) {
    return DataLoss("the .npy data has {} bytes; shape {} of {} bytes each does not fit",
                    bytes.size(), header.shape.ToString(), type.size);
  }
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, type.dtype, header.shape, Kind::kCaller));
  const bool in_order = !header.fortran_order || header.shape.rank() < 2;
  if (in_order && !type.swapped && type.dtype != DType::kString && type.dtype != DType::kBool) {
    if (!bytes.empty()) std::memcpy(t.mutable_raw(), bytes.data(), bytes.size());
    return t;
  }
  FortranIndex fortran(header.shape);
  for (size_t i = 0; i < count; ++i, fortran.Advance()) {
    const size_t from = in_order ? i : static_cast<size_t>(fortran.at());
    TARE_RETURN_IF_ERROR(
        CopyElement(type, bytes.data() + from * type.size, &t, static_cast<int64_t>(i)));
  }
  return t;
}

Result<std::string> EncodeNpy(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) return EncodeStrings(tensor);
  if (tensor.dtype() == DType::kBfloat16) {
    std::string data;
    for (float f : tensor.as<BFloat16>()) data.append(reinterpret_cast<const char*>(&f), sizeof f);
    return FileOf("<f4", tensor.shape(), data);
  }
  const std::string descr = TypeText(tensor.dtype());
  if (descr.empty())
    return InvalidArgument("NumPy files cannot hold {}", DTypeName(tensor.dtype()));
  return FileOf(descr, tensor.shape(), {static_cast<const char*>(tensor.raw()), tensor.bytes()});
}

}  // namespace tare
