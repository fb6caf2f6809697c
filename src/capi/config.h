// What of a ConfigProto matters here.
#pragma once
#include <string_view>

#include "status/status.h"

namespace tare::capi {

// The number of threads it asks for; 0 where it asks for none. InvalidArgument "Unparseable ConfigProto".
Result<int> ThreadsOfConfig(std::string_view config_proto);

}  // namespace tare::capi
