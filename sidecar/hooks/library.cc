#include "sidecar/hooks/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <atomic>
#include <cstdint>

#include "common/base/optional_libc.h"
#include "sidecar/hooks/elf.h"

namespace crossover::hooks {
namespace {

// The C library has exported dlsym under these versions, oldest first.
constexpr const char* kDlsymVersions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};

constexpr char kCudaName[] = "libcuda.so";
constexpr char kNcclName[] = "libnccl.so";
constexpr char kNvmlName[] = "libnvidia-ml.so";

constinit std::atomic<DlsymFunction> real_dlsym{nullptr};

const char* BaseName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// Returns whether `path` names the library `name`, in any version. The loader keeps the name by which a
// program first asked for a library.
bool Names(const char* path, const char* name) {
  const char* base = BaseName(path);
  const std::size_t length = strlen(name);
  return strncmp(base, name, length) == 0 && (base[length] == '\0' || base[length] == '.');
}

const char* NameOf(Library library) {
  if (library == Library::kNvml) return kNvmlName;
  return library == Library::kCuda ? kCudaName : kNcclName;
}

using DriverVersion = int (*)(int* version);

// Holds the base address of the driver once FindObject() has found one that is no stub; 0 before.
constinit std::atomic<std::uintptr_t> driver_base{0};

struct Search {
  const char* name;
  std::uintptr_t base;  // in: base address to look for, 0 for any; out: that of the object that was found
  int skip;             // number of objects of that name to pass over
  char path[4096];
  DriverVersion version;  // cuDriverGetVersion of the object; null if it does not define it
  bool found;
};

int Visit(dl_phdr_info* info, std::size_t, void* argument) {
  auto* search = static_cast<Search*>(argument);
  if (info->dlpi_name == nullptr || !Names(info->dlpi_name, search->name)) return 0;
  if (search->base != 0 && search->base != info->dlpi_addr) return 0;
  if (search->skip-- > 0) return 0;
  const std::size_t length = strlen(info->dlpi_name);
  if (length >= sizeof search->path) return 0;
  memcpy(search->path, info->dlpi_name, length + 1);
  search->base = info->dlpi_addr;
  search->version = reinterpret_cast<DriverVersion>(FindInObject(*info, "cuDriverGetVersion"));
  search->found = true;
  return 1;
}

// Finds the object of that name at `base`. If `base` is 0, finds object number `skip` of that name, in the
// order in which they were loaded. Returns whether there is one.
bool Look(Library library, std::uintptr_t base, int skip, Search* search) {
  search->name = NameOf(library);
  search->base = base;
  search->skip = skip;
  search->found = false;
  dl_iterate_phdr(&Visit, search);
  return search->found;
}

// Returns whether the object is a stub. Programs are linked with a stub on machines without a driver.
// Toolkits and package managers have one, also named libcuda.so. Each of its functions returns this one
// error. If the object's table of symbols is of a kind that FindInObject() does not read, this asks the
// loader.
bool IsStub(const Search& driver) {
  constexpr int kStubLibrary = 34;  // CUDA_ERROR_STUB_LIBRARY
  DriverVersion ask = driver.version;
  if (ask == nullptr)
    ask = reinterpret_cast<DriverVersion>(FindInFile(driver.path, "cuDriverGetVersion", Stay::kAsItWas));
  int version = 0;
  return ask != nullptr && ask(&version) == kStubLibrary;
}

// Keeps the object in the process for good, so that no other file ever comes to lie at its address. Returns
// false if the loader does not know it by its path.
bool Pin(const char* path) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

// Returns whether the library is loaded, and finds its path. It searches the loaded objects, because dlopen()
// of an object that is not there would leave an error for the user's next dlerror(). Of several drivers it
// takes the first that is no stub. If all are stubs, it takes the first of them and sets `*lasts` to false.
bool FindObject(Library library, Search* search, bool* lasts) {
  *lasts = true;
  if (library != Library::kCuda) return Look(library, 0, 0, search);
  const std::uintptr_t base = driver_base.load(std::memory_order_acquire);
  if (base != 0 && Look(library, base, 0, search)) return true;
  for (int skip = 0; Look(library, 0, skip, search); ++skip) {
    if (IsStub(*search)) continue;
    if (Pin(search->path)) driver_base.store(search->base, std::memory_order_release);
    return true;
  }
  *lasts = false;
  return Look(library, 0, 0, search);
}

struct Place {
  std::uintptr_t base;
  const void* address;
};

int VisitForPlace(dl_phdr_info* info, std::size_t, void* argument) {
  const auto* place = static_cast<const Place*>(argument);
  return info->dlpi_addr == place->base && Contains(*info, place->address) ? 1 : 0;
}

int VisitForAddress(dl_phdr_info* info, std::size_t, void* argument) { return Contains(*info, argument); }

struct PathSearch {
  const void* address;
  char* path;
  std::size_t room;
  bool found;
};

// Copies the path of the object that holds the address. The program itself has none.
int VisitForPath(dl_phdr_info* info, std::size_t, void* argument) {
  auto* search = static_cast<PathSearch*>(argument);
  if (!Contains(*info, search->address)) return 0;
  const std::size_t length = info->dlpi_name == nullptr ? 0 : strlen(info->dlpi_name);
  search->found = length > 0 && length < search->room;
  if (search->found) memcpy(search->path, info->dlpi_name, length + 1);
  return 1;
}

// Finds the first dlsym that is not our own.
int VisitForDlsym(dl_phdr_info* info, std::size_t, void* argument) {
  if (Contains(*info, reinterpret_cast<const void*>(&VisitForDlsym))) return 0;
  void* found = FindInObject(*info, "dlsym");
  *static_cast<DlsymFunction*>(argument) = reinterpret_cast<DlsymFunction>(found);
  return found != nullptr;
}

}  // namespace

DlsymFunction RealDlsym() {
  DlsymFunction found = real_dlsym.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  if (dlvsym == nullptr) {
    dl_iterate_phdr(&VisitForDlsym, &found);
  } else {
    for (const char* version : kDlsymVersions) {
      if (found != nullptr) break;
      found = reinterpret_cast<DlsymFunction>(dlvsym(RTLD_NEXT, "dlsym", version));
    }
  }
  real_dlsym.store(found, std::memory_order_release);
  return found;
}

Library LibraryOf(const void* address) {
  Dl_info object{};
  Dl_info ours{};
  if (dladdr(address, &object) == 0 || object.dli_fname == nullptr) return Library::kOther;
  if (dladdr(reinterpret_cast<const void*>(&LibraryOf), &ours) != 0 && ours.dli_fbase == object.dli_fbase) {
    return Library::kOurs;
  }
  if (Names(object.dli_fname, kCudaName)) return Library::kCuda;
  if (Names(object.dli_fname, kNcclName)) return Library::kNccl;
  if (Names(object.dli_fname, kNvmlName)) return Library::kNvml;
  return Library::kOther;
}

bool InOurNamespace(const void* address) {
  return dl_iterate_phdr(&VisitForAddress, const_cast<void*>(address)) != 0;
}

bool PathOf(const void* address, char* path, std::size_t room) {
  PathSearch search{address, path, room, false};
  dl_iterate_phdr(&VisitForPath, &search);
  return search.found;
}

void* FindInFile(const char* path, const char* name, Stay stay) {
  const DlsymFunction find = RealDlsym();
  if (find == nullptr) return nullptr;
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | (stay == Stay::kForGood ? RTLD_NODELETE : 0));
  if (handle == nullptr) return nullptr;
  void* symbol = find(handle, name);
  dlclose(handle);  // drops our own reference only
  return symbol;
}

void* FindSymbol(Library library, const char* name, bool* lasts) {
  Search search;
  bool found_for_good = true;
  if (!base::LoaderIsThere() || !FindObject(library, &search, &found_for_good)) return nullptr;
  if (lasts != nullptr) *lasts = found_for_good;
  return FindInFile(search.path, name, found_for_good ? Stay::kForGood : Stay::kAsItWas);
}

bool IsSearched(Library library, const void* address) {
  Search search;
  bool lasts = true;
  if (!FindObject(library, &search, &lasts) || !lasts) return false;
  Place place{search.base, address};
  return dl_iterate_phdr(&VisitForPlace, &place) != 0;
}

}  // namespace crossover::hooks
