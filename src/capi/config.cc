#include "capi/config.h"

#include <algorithm>

#include "wire/message.h"

namespace tare::capi {

Result<int> ThreadsOfConfig(std::string_view config_proto) {
  // Beyond this many, more threads only cost.
  constexpr int64_t kMaxThreads = 1024;
  int64_t threads = 0;
  Status s = wire::ForEachField(config_proto, "ConfigProto", [&](wire::Reader& r) {
    if (r.tag() == 2 && r.wire_type() == protozero::pbf_wire_type::varint) threads = r.get_int32();  // intra_op
    return OkStatus();
  });
  if (!s.ok()) return InvalidArgument("Unparseable ConfigProto");
  return static_cast<int>(std::clamp<int64_t>(threads, 0, kMaxThreads));
}

}  // namespace tare::capi
