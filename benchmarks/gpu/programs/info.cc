#include <unistd.h>

#include <cstdio>

#include "benchmarks/gpu/programs/calibrate.h"
#include "benchmarks/gpu/programs/probes.h"

namespace crossover::bench {

int Info(Arguments) {
  const RealGpu gpu;
  int version = 0;
  char name[128] = "";
  std::size_t free = 0, total = 0;
  Check(Cuda().cuDriverGetVersion(&version), "cuDriverGetVersion");
  Check(Cuda().cuDeviceGetName(name, sizeof name, gpu.device()), "cuDeviceGetName");
  Check(Cuda().cuMemGetInfo(&free, &total), "cuMemGetInfo");
  const auto attribute = [&](CUdevice_attribute which) {
    int value = -1;
    Cuda().cuDeviceGetAttribute(&value, which, gpu.device());
    return value;
  };
  std::printf(
      R"({"name": "%s", "driver": %d, "uid": %d, "sms": %d, "computes": %s, "compute_mode": %d, )"
      R"("wait_value_64": %d, "wait_value_nor": %d, "registered_same_address": %d, "posix_handles": %d, )"
      R"("free_mib": %zu, "total_mib": %zu, "kernels": "%s", "loops_per_us": %.6f})"
      "\n",
      name, version, static_cast<int>(::getuid()), attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
      gpu.computes() ? "true" : "false", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE),
      attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS),
      attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR),
      attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
      attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED), free >> 20, total >> 20,
      gpu.Kernels().c_str(), LoopsPerUs(gpu));
  return 0;
}

}  // namespace crossover::bench
