#include "bundle/tensor_slice.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "bundle/byte_reader.h"
#include "tensor/tensor.h"

namespace tare {
namespace {

Result<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return InvalidArgument("'{}' is not a non-negative number", text);
  }
  return value;
}

// Takes the text up to `separator`, or all of it, and steps over the separator.
std::string_view NextPart(std::string_view& text, char separator) {
  size_t end = std::min(text.find(separator), text.size());
  std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// The three encodings of an ordered key: their bytes sort as the values do.
void AppendNumber(std::string& key, uint64_t v) {
  int bytes = v ? 8 - std::countl_zero(v) / 8 : 0;
  key += static_cast<char>(bytes);
  for (int i = bytes - 1; i >= 0; --i) key += static_cast<char>(v >> 8 * i);
}

void AppendText(std::string& key, std::string_view text) {
  for (char c : text) {
    key += c;
    if (c == '\0') key += '\xff';
    if (c == '\xff') key += '\0';
  }
  key += '\0';
  key += '\1';
}

void AppendSigned(std::string& key, int64_t v) {
  const uint64_t magnitude = static_cast<uint64_t>(v < 0 ? ~v : v);
  const int bits = 64 - std::countl_zero(magnitude);
  const int bytes = std::max(1, bits / 7 + 1);  // the smallest with magnitude < 2^(7 * bytes - 1)
  std::array<uint8_t, 10> code;
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (bytes - 1 - i);
    code[i] = static_cast<uint8_t>(shift >= 64 ? v >> 63 : v >> shift);
  }
  // The first `bytes` bits of the code tell its length, inverted for negative values.
  for (int i = 0; i < bytes; ++i) code[i / 8] ^= 0x80 >> i % 8;
  key.append(reinterpret_cast<const char*>(code.data()), bytes);
}

}  // namespace

Result<TensorSlice> TensorSlice::FromMessage(std::string_view message) {
  TensorSlice slice;
  MessageReader m(message);
  while (m.Next()) {
    if (m.field() != 1) continue;
    if (slice.rank == kMaxRank) return DataLoss("a slice of more than {} dimensions", kMaxRank);
    Extent& extent = slice.extents[slice.rank++];
    MessageReader e(m.Message());
    while (e.Next()) {
      if (e.field() == 1) extent.start = e.Int();
      if (e.field() == 2) extent.length = e.Int();
    }
    if (!e.ok()) return DataLoss("slice not parseable");
  }
  if (!m.ok()) return DataLoss("slice not parseable");
  return slice;
}

Result<TensorSlice> TensorSlice::FromText(std::string_view text) {
  TensorSlice slice;
  const std::string_view all = text;
  while (!text.empty()) {
    if (slice.rank == kMaxRank) return InvalidArgument("a slice of more than {} dimensions", kMaxRank);
    Extent& extent = slice.extents[slice.rank++];
    std::string_view part = NextPart(text, ':');
    if (part == "-") continue;
    std::string_view start_text = NextPart(part, ',');
    auto start = ParseNumber(start_text), length = ParseNumber(part);
    if (!start.ok() || !length.ok() || *length == 0) {
      return InvalidArgument("Expected a pair of numbers or '-' but got '{}': string = {}", start_text, all);
    }
    extent = {*start, *length};
  }
  return slice;
}

std::string TensorSlice::ToString() const {
  std::string s;
  for (int i = 0; i < rank; ++i) {
    if (i) s += ':';
    s += extents[i].length == kWhole ? "-" : fmt::format("{},{}", extents[i].start, extents[i].length);
  }
  return s;
}

std::string SliceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  AppendNumber(key, 0);
  AppendText(key, name);
  AppendNumber(key, static_cast<uint64_t>(slice.rank));
  for (int i = 0; i < slice.rank; ++i) {
    AppendSigned(key, slice.extents[i].start);
    AppendSigned(key, slice.extents[i].length);
  }
  return key;
}

Result<Box> Box::Make(const TensorSlice& slice, const Shape& whole) {
  if (slice.rank != whole.rank()) {
    return Internal("Mismatching ranks: shape = {}, slice = {}", whole.ToString(), slice.ToString());
  }
  Box box;
  box.shape = whole;
  for (int i = 0; i < slice.rank; ++i) {
    auto [start, length] = slice.extents[i];
    if (length == TensorSlice::kWhole) start = 0, length = whole[i];
    if (start < 0 || length < 0 || start > whole[i] || length > whole[i] - start) {
      return Internal("Extent in dimension {} out of bounds: shape = {}, slice = {}", i, whole.ToString(),
                      slice.ToString());
    }
    box.start[i] = start;
    box.shape.set_dim(i, length);
  }
  return box;
}

bool Box::Intersect(const Box& a, const Box& b, Box* both) {
  both->shape = a.shape;
  for (int i = 0; i < a.shape.rank(); ++i) {
    both->start[i] = std::max(a.start[i], b.start[i]);
    int64_t end = std::min(a.start[i] + a.shape[i], b.start[i] + b.shape[i]);
    if (end <= both->start[i]) return false;
    both->shape.set_dim(i, end - both->start[i]);
  }
  return true;
}

bool Box::operator==(const Box& o) const {
  return shape == o.shape && std::equal(start.begin(), start.begin() + shape.rank(), o.start.begin());
}

Result<ShapeAndSlice> ShapeAndSlice::Parse(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = text; !rest.empty();) parts.push_back(NextPart(rest, ' '));
  if (parts.empty()) return InvalidArgument("Need at least one dimension and a slice: '{}'", text);
  std::vector<int64_t> dims;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    auto dim = ParseNumber(parts[i]);
    if (!dim.ok()) return InvalidArgument("Non numerical dimension in shape_and_slice: '{}'", text);
    dims.push_back(*dim);
  }
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  TARE_ASSIGN_OR_RETURN(TensorSlice slice, TensorSlice::FromText(parts.back()));
  if (slice.rank != shape.rank()) {
    return InvalidArgument("Expected {} extents in the slice of shape_and_slice '{}'", shape.rank(), text);
  }
  return ShapeAndSlice{shape, slice};
}

void CopyBox(DType dtype, const Box& part, const void* from, const Box& from_box, void* to, const Box& to_box) {
  const int rank = part.shape.rank();
  // Inner dimensions that all three have whole are copied as one run.
  int outer = rank;
  while (outer > 0 && (outer == rank || (part.shape[outer] == from_box.shape[outer] &&
                                         part.shape[outer] == to_box.shape[outer]))) {
    --outer;
  }
  const size_t element = DTypeSize(dtype);
  const auto run = static_cast<size_t>(part.shape.product(outer, rank));
  std::array<int64_t, kMaxRank> index{};
  auto address = [&](const Box& box) {
    int64_t at = 0;
    for (int i = 0; i < rank; ++i) {
      at = at * box.shape[i] + part.start[i] - box.start[i] + (i < outer ? index[i] : 0);
    }
    return static_cast<size_t>(at) * element;
  };
  for (;;) {
    CopyElements(dtype, static_cast<const std::byte*>(from) + address(from_box),
                 static_cast<std::byte*>(to) + address(to_box), run);
    int i = outer - 1;
    while (i >= 0 && ++index[i] == part.shape[i]) index[i--] = 0;
    if (i < 0) return;
  }
}

}  // namespace tare
