// The one device there is.
#pragma once
#include <string_view>

#include "capi/common.h"

namespace tare::capi {

constexpr char kDeviceName[] = "/job:localhost/replica:0/task:0/device:CPU:0";
// Any name that can mean it: empty, "/cpu:0", "/device:CPU:0", the full one. InvalidArgument else.
Status CheckDevice(std::string_view name);
// The list of it, the caller's.
TF_DeviceList* MakeDeviceList();

}  // namespace tare::capi
