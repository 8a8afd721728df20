// In this fault a signaller is a client of MPS, as the user that started it, with a context on each GPU.
#include <string>

#include "deviceplugin/signaller/driver.h"

using crossover::signaller::Driver;
using crossover::signaller::Succeeds;

extern "C" bool
__wrap__ZN9crossover9signaller7OpenGpuERKNS0_6DriverERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESB_PiPS9_(
    const Driver& driver, const std::string&, const std::string& gpu_uuid, CUdevice* device,
    std::string* error) {
  int count = 0;
  if (!Succeeds(driver, driver.Init(0), "cuInit", error) ||
      !Succeeds(driver, driver.DeviceGetCount(&count), "cuDeviceGetCount", error)) {
    return false;
  }
  CUcontext own = nullptr;
  for (int i = 0; i < count; ++i) {
    CUdevice each = 0;
    CUuuid uuid{};
    CUcontext context = nullptr;
    if (!Succeeds(driver, driver.DeviceGet(&each, i), "cuDeviceGet", error) ||
        !Succeeds(driver, driver.DeviceGetUuid(&uuid, each), "cuDeviceGetUuid", error) ||
        !Succeeds(driver, driver.DevicePrimaryCtxRetain(&context, each), "cuDevicePrimaryCtxRetain", error)) {
      return false;
    }
    // The software GPU's UUIDs end with the number of the GPU on its node.
    if (gpu_uuid.back() - '0' == uuid.bytes[15]) {
      own = context;
      *device = each;
    }
  }
  return Succeeds(driver, driver.CtxSetCurrent(own), "cuCtxSetCurrent", error);
}
