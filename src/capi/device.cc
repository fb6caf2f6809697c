#include "capi/device.h"

#include <algorithm>
#include <string>

#include "capi/common.h"

// There is one list: nothing in it differs.
struct TF_DeviceList {};

namespace tare::capi {

Status CheckDevice(std::string_view name) {
  constexpr std::string_view kHost = "/job:localhost/replica:0/task:0";
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string_view rest = lower;
  if (rest.starts_with(kHost)) rest.remove_prefix(kHost.size());
  for (std::string_view same : {"", "/cpu:0", "/device:cpu:0", "/device:cpu:*", "cpu:0"}) {
    if (rest == same) return OkStatus();
  }
  return InvalidArgument("{} unknown device.", name);
}

TF_DeviceList* MakeDeviceList() { return new TF_DeviceList; }

}  // namespace tare::capi

using namespace tare;
using namespace tare::capi;

namespace {

// That the index is in the list.
Status CheckIndex(const TF_DeviceList* list, int index) {
  TARE_CAPI_REQUIRE(list);
  return index == 0 ? OkStatus() : InvalidArgument("index out of bounds");
}

}  // namespace

void TF_DeleteDeviceList(TF_DeviceList* list) { delete list; }
int TF_DeviceListCount(const TF_DeviceList* list) { return list ? 1 : 0; }

const char* TF_DeviceListName(const TF_DeviceList* list, int index, TF_Status* status) {
  return Try(status, [&] { return CheckIndex(list, index); }) ? kDeviceName : nullptr;
}
const char* TF_DeviceListType(const TF_DeviceList* list, int index, TF_Status* status) {
  return Try(status, [&] { return CheckIndex(list, index); }) ? "CPU" : nullptr;
}
int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index, TF_Status* status) {
  // As TensorFlow's CPU device says.
  return Try(status, [&] { return CheckIndex(list, index); }) ? int64_t{256} << 20 : -1;
}
uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index, TF_Status* status) {
  return Try(status, [&] { return CheckIndex(list, index); }) ? 1 : 0;
}
