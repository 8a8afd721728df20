#include "shrink/library/driver.h"

#include <dlfcn.h>
#include <link.h>

#include "shrink/library/found.h"
#include "sidecar/hooks/elf.h"
#include "sidecar/hooks/library.h"

namespace crossover::shrink::library {
namespace {

// A Search looks for a function in the object that has `address`, by the object's own table.
struct Search {
  const void* address;
  const char* name;
  void* found;
};

int Visit(dl_phdr_info* info, std::size_t, void* argument) {
  auto* search = static_cast<Search*>(argument);
  if (!hooks::Contains(*info, search->address)) return 0;
  search->found = hooks::FindInObject(*info, search->name);
  return 1;
}

// Returns an address within the driver. No tool stands in front of this function.
const void* DriverAddress() { return hooks::FindSymbol(hooks::Library::kCuda, "cuDriverGetVersion"); }

void* Find(Way way, const void* driver, const char* name) {
  if (way == Way::kLine) {
    void* next = NextThatStandsIn(name);
    return next != nullptr ? next : hooks::FindSymbol(hooks::Library::kCuda, name);
  }
  Search search{driver, name, nullptr};
  dl_iterate_phdr(&Visit, &search);
  return search.found;
}

bool FindAll(Way way, Driver* driver) {
  const void* address = DriverAddress();
  if (address == nullptr) return false;
#define SHRINK_DRIVER(member, symbol, parameters)                                         \
  driver->member = reinterpret_cast<CUresult(*) parameters>(Find(way, address, #symbol)); \
  if (driver->member == nullptr) return false;
#include "shrink/library/driver.def"
#undef SHRINK_DRIVER
  return true;
}

constinit Found<Driver> known[2];

}  // namespace

const Driver* DriverOf(Way way) {
  return known[static_cast<std::size_t>(way)].Get([way](Driver* driver) { return FindAll(way, driver); });
}

Capture CaptureOf(CUstream stream) {
  const Driver* driver = DriverOf(Way::kPast);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (driver == nullptr || driver->StreamIsCapturing(stream, &status) != CUDA_SUCCESS)
    return Capture::kUnknown;
  return status == CU_STREAM_CAPTURE_STATUS_NONE ? Capture::kNone : Capture::kActive;
}

}  // namespace crossover::shrink::library
