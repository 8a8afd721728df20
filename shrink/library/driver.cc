#include "shrink/library/driver.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "common/base/mutex.h"
#include "shrink/library/table.h"
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

// Returns the function of the next library in line that stands in front of the driver, or null.
void* NextInLine(const char* name) {
  const hooks::DlsymFunction find = hooks::RealDlsym();
  void* next = find == nullptr ? nullptr : find(RTLD_NEXT, name);
  return StandsIn(next) ? next : nullptr;
}

void* Find(Way way, const void* driver, const char* name) {
  if (way == Way::kAsTheProgram) {
    void* next = NextInLine(name);
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

struct Known {
  base::Mutex mutex;
  std::atomic<bool> there{false};
  Driver driver;  // valid once `there` is true
};
constinit Known known[2];

}  // namespace

const Driver* DriverOf(Way way) {
  Known& of = known[way == Way::kPast ? 1 : 0];
  if (of.there.load(std::memory_order_acquire)) return &of.driver;
  const base::Locked locked(of.mutex);
  if (of.there.load(std::memory_order_relaxed)) return &of.driver;
  if (!FindAll(way, &of.driver)) return nullptr;
  of.there.store(true, std::memory_order_release);
  return &of.driver;
}

}  // namespace crossover::shrink::library
