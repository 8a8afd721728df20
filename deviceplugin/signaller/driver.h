// Loads the CUDA driver at run time, and gives the signaller a context on one GPU.
#pragma once

#include <cudaTypedefs.h>

#include <string>
#include <string_view>
#include <vector>

namespace crossover::signaller {

// A Driver is a table of these functions. It holds the real ones, or those of a test.
struct Driver {
#define DRIVER_FUNCTION(member, symbol, type) type member = nullptr;
#include "deviceplugin/signaller/driver.def"
#undef DRIVER_FUNCTION
};

// Loads libcuda.so.1 for the life of the process. Returns false, with the reason in `error`, if it or one of
// the functions is missing.
bool LoadDriver(Driver* driver, std::string* error);

// Returns whether `status` is a success. Otherwise `error` says what failed, and how.
bool Succeeds(const Driver& driver, CUresult status, std::string_view what, std::string* error);

// Initialises the driver as no client of MPS, and gives the UUIDs of the GPUs that it shows this process.
// Makes no context. Returns false, with the reason in `error`, on failure. REQUIRES: as OpenGpu().
bool ReadUuids(const Driver& driver, const std::string& no_mps, std::vector<std::string>* uuids,
               std::string* error);

// Initialises the driver as no client of MPS, and makes the primary context of the GPU with this UUID
// current. `no_mps` is an empty folder: the driver looks for the control daemon there. Makes no context on a
// GPU whose compute mode is not DEFAULT. Returns false, with the reason in `error`, on failure. REQUIRES: the
// process has one thread, and has not used the driver yet.
bool OpenGpu(const Driver& driver, const std::string& no_mps, const std::string& gpu_uuid, CUdevice* device,
             std::string* error);

// Returns whether the compute mode of the GPU is DEFAULT. In EXCLUSIVE_PROCESS a context of this process
// would keep the server of MPS, and so all jobs, off the GPU. Otherwise `error` has the mode.
bool MayHaveContext(const Driver& driver, CUdevice device, std::string* error);

}  // namespace crossover::signaller
