// Writing messages. protozero's reader comes first: wire/message.h sets what its assertions do.
#pragma once
#include "wire/message.h"

#include <protozero/pbf_writer.hpp>

namespace tare::capi {

using protozero::pbf_writer;

}  // namespace tare::capi
