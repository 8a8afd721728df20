#include "sidecar/gates/driver.h"

namespace crossover::gates {

bool LoadDriver(Driver* driver, void* (*find)(const char* symbol)) {
#define DRIVER_FUNCTION(member, symbol, type) driver->member = reinterpret_cast<type>(find(#symbol));
#include "sidecar/gates/driver.def"
#undef DRIVER_FUNCTION
  return driver->CtxGetCurrent != nullptr && driver->CtxSetCurrent != nullptr &&
         driver->CtxPushCurrent != nullptr && driver->CtxPopCurrent != nullptr &&
         driver->CtxGetDevice != nullptr && driver->DeviceGetUuid != nullptr &&
         driver->ThreadExchangeStreamCaptureMode != nullptr && driver->StreamIsCapturing != nullptr &&
         driver->StreamQuery != nullptr && driver->StreamWaitEvent != nullptr &&
         driver->EventCreate != nullptr && driver->EventRecord != nullptr;
}

}  // namespace crossover::gates
