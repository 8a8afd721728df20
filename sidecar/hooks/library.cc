#include "sidecar/hooks/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "common/base/optional_libc.h"
#include "sidecar/hooks/elf.h"

namespace crossover::hooks {
namespace {

// Versions under which the C library has exported dlsym, oldest first.
constexpr const char* kDlsymVersions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};

constexpr char kCudaName[] = "libcuda.so";
constexpr char kNcclName[] = "libnccl.so";
constexpr char kNvmlName[] = "libnvidia-ml.so";

constinit std::atomic<DlsymFunction> real_dlsym{nullptr};

const char* BaseName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// Matches the name with whatever version: the loader keeps the name by which the first one asked.
bool Names(const char* path, const char* name) {
  const char* base = BaseName(path);
  const std::size_t length = strlen(name);
  return strncmp(base, name, length) == 0 && (base[length] == '\0' || base[length] == '.');
}

const char* NameOf(Library library) {
  if (library == Library::kNvml) return kNvmlName;
  return library == Library::kCuda ? kCudaName : kNcclName;
}

struct Search {
  const char* name;
  char path[4096];
  bool found;
};

int Visit(dl_phdr_info* info, std::size_t, void* argument) {
  auto* search = static_cast<Search*>(argument);
  if (info->dlpi_name == nullptr || !Names(info->dlpi_name, search->name)) return 0;
  const std::size_t length = strlen(info->dlpi_name);
  if (length >= sizeof search->path) return 0;
  memcpy(search->path, info->dlpi_name, length + 1);
  search->found = true;
  return 1;
}

// A look-up of an object that is not there would leave an error for the user's next dlerror(): look first.
bool FindObject(Library library, Search* search) {
  search->name = NameOf(library);
  search->found = false;
  dl_iterate_phdr(&Visit, search);
  return search->found;
}

bool Contains(const dl_phdr_info& object, const void* address) {
  const auto offset = reinterpret_cast<ElfW(Addr)>(address) - object.dlpi_addr;
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && offset - part.p_vaddr < part.p_memsz) return true;
  }
  return false;
}

int VisitForAddress(dl_phdr_info* info, std::size_t, void* argument) { return Contains(*info, argument); }

// The first dlsym that is not our own.
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

bool Loaded(Library library) {
  Search search;
  return FindObject(library, &search);
}

namespace {

// Of the object that was loaded from `path`, which stays from here on, whoever closes it: what we find is
// remembered, and called long after.
void* FindIn(const char* path, bool profiling_twin, const char* name) {
  const DlsymFunction find = RealDlsym();
  if (find == nullptr) return nullptr;
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle == nullptr) return nullptr;
  void* symbol = nullptr;
  if (profiling_twin) {
    char profiling[128];
    snprintf(profiling, sizeof profiling, "p%s", name);
    symbol = find(handle, profiling);
  }
  if (symbol == nullptr) symbol = find(handle, name);
  dlclose(handle);  // takes back our reference only
  return symbol;
}

// Of the files of NCCL, by number, where each lies: none before number 0 was met.
constexpr std::size_t kMostFiles = 8;
constinit std::array<std::atomic<std::uintptr_t>, kMostFiles> nccl_files{};

// The number of the file at `address`, a new one if need be.
std::size_t Number(std::uintptr_t address, std::size_t most) {
  for (std::size_t number = 0; number < std::min(most, kMostFiles); ++number) {
    std::uintptr_t there = 0;
    if (nccl_files[number].compare_exchange_strong(there, address, std::memory_order_acq_rel) ||
        there == address) {
      return number;
    }
  }
  return most;
}

std::uintptr_t BaseOf(const void* address, Dl_info* object) {
  return dladdr(address, object) == 0 ? 0 : reinterpret_cast<std::uintptr_t>(object->dli_fbase);
}

}  // namespace

void* FindSymbol(Library library, const char* name) {
  Search search;
  if (!base::LoaderIsThere() || !FindObject(library, &search)) return nullptr;
  return FindIn(search.path, library == Library::kNccl, name);
}

std::size_t NcclFileOf(const void* address, std::size_t most) {
  Dl_info object{}, first{};
  const std::uintptr_t base = BaseOf(address, &object);
  const void* always = FindSymbol(Library::kNccl, "ncclGetVersion");
  if (base == 0 || always == nullptr) return 0;
  // The first has number 0 whichever is met first.
  Number(BaseOf(always, &first), 1);
  const std::size_t number = Number(base, most);
  if (number != 0 && number != most) dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  return number;
}

void* FindNcclSymbol(std::size_t file, const char* name) {
  if (file == 0) return FindSymbol(Library::kNccl, name);
  Dl_info object{};
  const auto* there = reinterpret_cast<const void*>(nccl_files[file].load(std::memory_order_acquire));
  if (there == nullptr || !base::LoaderIsThere() || dladdr(there, &object) == 0) return nullptr;
  return FindIn(object.dli_fname, true, name);
}

}  // namespace crossover::hooks
