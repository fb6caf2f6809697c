#include "tensor/dtype.h"

#include <iterator>

namespace tare {
namespace {

struct Row {
  std::string_view name;
  uint8_t size;
};
// Indexed by DType. int4 and kin take a byte an element, in memory and on disk.
constexpr Row kRows[] = {
    {"invalid", 0}, {"float", 4}, {"double", 8}, {"int32", 4}, {"uint8", 1}, {"int16", 2},
    {"int8", 1}, {"string", 24}, {"complex64", 8}, {"int64", 8}, {"bool", 1}, {"qint8", 1},
    {"quint8", 1}, {"qint32", 4}, {"bfloat16", 2}, {"qint16", 2}, {"quint16", 2}, {"uint16", 2},
    {"complex128", 16}, {"half", 2}, {"resource", 8}, {"variant", 8}, {"uint32", 4}, {"uint64", 8},
    {"float8_e5m2", 1}, {"float8_e4m3fn", 1}, {"float8_e4m3fnuz", 1}, {"float8_e4m3b11fnuz", 1},
    {"float8_e5m2fnuz", 1}, {"int4", 1}, {"uint4", 1}, {"int2", 1}, {"uint2", 1},
    {"float4_e2m1fn", 1}};
static_assert(std::size(kRows) == kMaxDType + 1);

}  // namespace

std::string_view DTypeName(DType t) {
  auto i = static_cast<size_t>(t);
  return i < std::size(kRows) ? kRows[i].name : "unknown";
}

DType DTypeFromName(std::string_view name) {
  for (size_t i = 1; i < std::size(kRows); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return DType::kInvalid;
}

DType DTypeFromWire(int64_t value) {
  if (value > 100) value -= 100;
  return value > 0 && value <= kMaxDType ? static_cast<DType>(value) : DType::kInvalid;
}

size_t DTypeSize(DType t) {
  auto i = static_cast<size_t>(t);
  return i < std::size(kRows) ? kRows[i].size : 0;
}

}  // namespace tare
