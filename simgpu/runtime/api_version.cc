// Implements versions, and look-ups of the driver's functions.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"
#include "simgpu/runtime/version.h"

using namespace simgpu::runtime;

// Both interfaces number flags and answers of a look-up in the same way.
static_assert(int{cudaEnablePerThreadDefaultStream} == int{CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM});
static_assert(int{cudaDriverEntryPointVersionNotSufficent} ==
              int{CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT});

namespace {

// Looks up a function of the driver. With the default flags, it finds the flavour of the caller's default
// stream.
cudaError_t LookUp(StreamCalls Driver::*calls, const char* symbol, void** function, unsigned version,
                   unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return WithDriver([&](const Driver& driver) {
    if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const bool per_thread = calls == &Driver::per_thread && flags == cudaEnableDefault;
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result =
        driver.cuGetProcAddress(symbol, function, static_cast<int>(version),
                                per_thread ? cuuint64_t{cudaEnablePerThreadDefaultStream} : flags, &answer);
    if (result == CUDA_SUCCESS && status != nullptr)
      *status = static_cast<cudaDriverEntryPointQueryResult>(answer);
    return result;
  });
}

}  // namespace

extern "C" {

// Without a driver the version is 0, and the call succeeds.
cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return Keep(cudaErrorInvalidValue);
  const Driver* driver = LoadDriver();
  if (driver != nullptr) return Keep(ErrorOf(driver->cuDriverGetVersion(version)));
  *version = 0;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return Keep(cudaErrorInvalidValue);
  *version = kRuntimeVersion;
  return cudaSuccess;
}

// The tables behind this call are not documented.
cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t*) {
  if (table != nullptr) *table = nullptr;
  return Keep(cudaErrorSymbolNotFound);
}

}  // extern "C"

SIMGPU_RUNTIME_STREAM_CALL(cudaGetDriverEntryPointByVersion, _ptsz,
                           (const char* symbol, void** function, unsigned version, unsigned long long flags,
                            cudaDriverEntryPointQueryResult* status),
                           (symbol, function, version, flags, status)) {
  return LookUp(calls, symbol, function, version, flags, status);
}

SIMGPU_RUNTIME_STREAM_CALL(cudaGetDriverEntryPoint, _ptsz,
                           (const char* symbol, void** function, unsigned long long flags,
                            cudaDriverEntryPointQueryResult* status),
                           (symbol, function, flags, status)) {
  return LookUp(calls, symbol, function, kRuntimeVersion, flags, status);
}
