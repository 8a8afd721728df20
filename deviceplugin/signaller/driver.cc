#include "deviceplugin/signaller/driver.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/base/mps_pipe.h"
#include "common/base/refusal.h"

namespace crossover::signaller {
namespace {

std::string TextOf(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    std::array<char, 3> digits;
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(uuid.bytes[i]) & 0xffu);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits.data();
  }
  return text;
}

// Appends the UUIDs of the GPUs that the driver shows this process, in the order of their ordinals. Returns
// false, with the reason in `error`, on failure.
bool ListUuids(const Driver& driver, std::vector<std::string>* uuids, std::string* error) {
  int count = 0;
  if (!Succeeds(driver, driver.DeviceGetCount(&count), "cuDeviceGetCount", error)) return false;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    CUuuid uuid{};
    if (!Succeeds(driver, driver.DeviceGet(&device, i), "cuDeviceGet", error) ||
        !Succeeds(driver, driver.DeviceGetUuid(&uuid, device), "cuDeviceGetUuid", error)) {
      return false;
    }
    uuids->push_back(TextOf(uuid));
  }
  return true;
}

bool FindDevice(const Driver& driver, const std::string& gpu_uuid, CUdevice* device, std::string* error) {
  std::vector<std::string> uuids;
  if (!ListUuids(driver, &uuids, error)) return false;
  std::string seen;
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    if (uuids[i] == gpu_uuid)
      return Succeeds(driver, driver.DeviceGet(device, static_cast<int>(i)), "cuDeviceGet", error);
    seen += (i == 0 ? "" : ", ") + uuids[i];
  }
  *error = base::Refusal("--gpu", "a GPU of this machine (" + seen + ")", gpu_uuid);
  return false;
}

std::string NameOf(int compute_mode) {
  switch (compute_mode) {
    case CU_COMPUTEMODE_DEFAULT:
      return "DEFAULT";
    case CU_COMPUTEMODE_PROHIBITED:
      return "PROHIBITED";
    case CU_COMPUTEMODE_EXCLUSIVE_PROCESS:
      return "EXCLUSIVE_PROCESS";
    default:
      return std::to_string(compute_mode);
  }
}

bool IsEmptyFolder(const std::string& path, std::string* error) {
  std::error_code failure;
  const std::filesystem::directory_iterator entry(path, failure);
  if (!failure && entry == std::filesystem::directory_iterator()) return true;
  *error = base::Refusal("--no-mps " + path, "an empty folder",
                         failure ? failure.message() : "a folder with files");
  return false;
}

// Initialises the driver, which looks for the control daemon of MPS in an empty folder and finds none.
// Returns false, with the reason in `error`, on failure.
bool InitialiseWithoutMps(const Driver& driver, const std::string& no_mps, std::string* error) {
  if (!IsEmptyFolder(no_mps, error)) return false;
  setenv(base::kMpsPipeVariable, no_mps.c_str(), 1);
  return Succeeds(driver, driver.Init(0), "cuInit", error);
}

}  // namespace

bool LoadDriver(Driver* driver, std::string* error) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *error = dlerror();
    return false;
  }
#define DRIVER_FUNCTION(member, symbol, type)                                                        \
  if (driver->member = reinterpret_cast<type>(dlsym(library, #symbol)); driver->member == nullptr) { \
    *error = "libcuda.so.1: expected the function " #symbol ", which it does not have";              \
    return false;                                                                                    \
  }
#include "deviceplugin/signaller/driver.def"
#undef DRIVER_FUNCTION
  return true;
}

bool Succeeds(const Driver& driver, CUresult status, std::string_view what, std::string* error) {
  if (status == CUDA_SUCCESS) return true;
  const char* name = nullptr;
  driver.GetErrorName(status, &name);
  *error = base::Refusal(what, "CUDA_SUCCESS", name == nullptr ? std::to_string(status) : name);
  return false;
}

bool ReadUuids(const Driver& driver, const std::string& no_mps, std::vector<std::string>* uuids,
               std::string* error) {
  return InitialiseWithoutMps(driver, no_mps, error) && ListUuids(driver, uuids, error);
}

bool MayHaveContext(const Driver& driver, CUdevice device, std::string* error) {
  int mode = CU_COMPUTEMODE_DEFAULT;
  if (!Succeeds(driver, driver.DeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device),
                "cuDeviceGetAttribute", error)) {
    return false;
  }
  if (mode == CU_COMPUTEMODE_DEFAULT) return true;
  *error = base::Refusal("compute mode", NameOf(CU_COMPUTEMODE_DEFAULT), NameOf(mode)) +
           "; in other modes a signaller may not use the GPU, or would keep MPS off it";
  return false;
}

bool OpenGpu(const Driver& driver, const std::string& no_mps, const std::string& gpu_uuid, CUdevice* device,
             std::string* error) {
  CUcontext context = nullptr;
  return InitialiseWithoutMps(driver, no_mps, error) && FindDevice(driver, gpu_uuid, device, error) &&
         MayHaveContext(driver, *device, error) &&
         Succeeds(driver, driver.DevicePrimaryCtxRetain(&context, *device), "cuDevicePrimaryCtxRetain",
                  error) &&
         Succeeds(driver, driver.CtxSetCurrent(context), "cuCtxSetCurrent", error);
}

}  // namespace crossover::signaller
