// Reading TensorFlow's messages from the wire, lazily: a message is a view of its bytes, a field is read when
// it is met, unknown fields are skipped, and nothing is copied. protozero checks lengths and varints and
// throws; what it throws is caught here and becomes DataLoss.
#pragma once
#include <protozero/exception.hpp>

// protozero asserts that a getter fits the field's wire type; in untrusted bytes that is an error, not a bug.
namespace tare::wire {
struct WireTypeError final : protozero::exception {
  const char* what() const noexcept override { return "a field has the wrong wire type"; }
};
}  // namespace tare::wire
#define protozero_assert(x) ((x) ? static_cast<void>(0) : throw ::tare::wire::WireTypeError())

#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "status/status.h"

namespace tare::wire {

using Reader = protozero::pbf_reader;

// Messages nested deeper than this are refused, so that recursion over untrusted bytes is bounded.
constexpr int kMaxDepth = 64;

// Calls on_field(Reader&) -> Status for each field; reader.tag() tells which. A field it does not consume
// is skipped. Errors name `what`.
template <class F>
Status ForEachField(std::string_view bytes, std::string_view what, F&& on_field) {
  try {
    Reader reader(bytes.data(), bytes.size());
    while (reader.next()) {
      const char* before = reader.data().data();
      TARE_RETURN_IF_ERROR(on_field(reader));
      if (reader.data().data() == before) reader.skip();
    }
  } catch (const protozero::exception& e) {
    return DataLoss("{}: malformed message: {}", what, e.what());
  }
  return OkStatus();
}

inline std::string_view Bytes(Reader& r) {
  auto v = r.get_view();
  return {v.data(), v.size()};
}

// A repeated scalar field, packed or not: calls f(value).
template <class F>
void ForEachVarint(Reader& r, F&& f) {
  if (r.wire_type() == protozero::pbf_wire_type::varint) return f(r.get_int64());
  for (int64_t v : r.get_packed_int64()) f(v);
}

// One entry of a map field: key and value bytes; either may be missing.
struct MapEntry {
  std::string_view key, value;
};
inline Result<MapEntry> ReadMapEntry(std::string_view bytes, std::string_view what) {
  MapEntry e;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, what, [&](Reader& r) {
    if (r.tag() == 1) e.key = Bytes(r);
    if (r.tag() == 2) e.value = Bytes(r);
    return OkStatus();
  }));
  return e;
}

}  // namespace tare::wire
