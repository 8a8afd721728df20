#include "sidecar/hooks/nccl_files.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "common/base/optional_libc.h"
#include "sidecar/hooks/elf.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_sites.h"

namespace crossover::hooks {
namespace {

// Holds the base address of each file, by its number; 0 if no file has that number yet.
constexpr std::size_t kMostFiles = 8;
constinit std::array<std::atomic<std::uintptr_t>, kMostFiles> files{};
constinit NcclSites sites;

// A Twin is the name of a function's profiling twin.
struct Twin {
  char name[128];
  explicit Twin(const char* of) { snprintf(name, sizeof name, "p%s", of); }
};

// Returns whether the object is another copy of our library. Such a copy and we would call each other
// forever. It exports dlsym, which no NCCL does.
bool StandsIn(const dl_phdr_info& object) { return FindInObject(object, "dlsym") != nullptr; }

int VisitForOwner(dl_phdr_info* info, std::size_t, void* address) {
  if (!Contains(*info, *static_cast<void**>(address))) return 0;
  if (StandsIn(*info)) *static_cast<void**>(address) = nullptr;
  return 1;
}

// Returns `symbol`, or null if it lies in another copy of our library.
void* Real(void* symbol) {
  if (symbol != nullptr) dl_iterate_phdr(&VisitForOwner, &symbol);
  return symbol;
}

struct Wanted {
  const char* name;
  void* found;
};

int VisitForSymbol(dl_phdr_info* info, std::size_t, void* argument) {
  auto* wanted = static_cast<Wanted*>(argument);
  wanted->found = FindInObject(*info, wanted->name);
  if (wanted->found != nullptr && StandsIn(*info)) wanted->found = nullptr;
  return wanted->found != nullptr;
}

void* FindInAny(const char* name) {
  Wanted wanted{name, nullptr};
  dl_iterate_phdr(&VisitForSymbol, &wanted);
  return wanted.found;
}

// Finds the symbol, or its profiling twin, in the caller's object and in the objects that it needs. Returns
// null for the program itself, whose objects are in the global scope.
void* FindBeside(const void* caller, const char* name, const char* twin) {
  char path[4096];
  if (caller == nullptr || !PathOf(caller, path, sizeof path)) return nullptr;
  void* found = FindInFile(path, twin, Stay::kAsItWas);
  return found != nullptr ? found : Real(FindInFile(path, name, Stay::kAsItWas));
}

// Returns the base address of the object that an address lies in; 0 if it lies in none.
std::uintptr_t BaseOf(const void* address, Dl_info* object) {
  return dladdr(address, object) == 0 ? 0 : reinterpret_cast<std::uintptr_t>(object->dli_fbase);
}

}  // namespace

std::size_t NcclFileOf(const void* address, std::size_t most) {
  Dl_info object{};
  const std::uintptr_t base = BaseOf(address, &object);
  if (base == 0) return most;
  for (std::size_t number = 0; number < std::min(most, kMostFiles); ++number) {
    std::uintptr_t there = 0;
    if (files[number].compare_exchange_strong(there, base, std::memory_order_acq_rel)) {
      dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
      return number;
    }
    if (there == base) return number;
  }
  return most;
}

bool InNcclFile(const void* address) {
  Dl_info object{};
  const std::uintptr_t base = BaseOf(address, &object);
  return base != 0 &&
         std::any_of(files.begin(), files.end(), [base](const std::atomic<std::uintptr_t>& file) {
           return file.load(std::memory_order_acquire) == base;
         });
}

void* FindNcclSymbol(std::size_t file, const char* name) {
  Dl_info object{};
  const auto* there = reinterpret_cast<const void*>(files[file].load(std::memory_order_acquire));
  if (there == nullptr || !base::LoaderIsThere() || dladdr(there, &object) == 0) return nullptr;
  void* twin = FindInFile(object.dli_fname, Twin(name).name, Stay::kForGood);
  return twin != nullptr ? twin : FindInFile(object.dli_fname, name, Stay::kForGood);
}

// Looks for the twin's name first, which only NCCL has: other tools may replace `name`, too.
void* FindNcclInScope(const void* caller, const char* name) {
  const DlsymFunction find = RealDlsym();
  if (find == nullptr || !base::LoaderIsThere()) return nullptr;
  const Twin twin(name);
  void* found = find(RTLD_NEXT, twin.name);  // in the global scope
  if (found == nullptr) found = FindBeside(caller, name, twin.name);
  if (found == nullptr) found = FindSymbol(Library::kNccl, twin.name);
  return found != nullptr ? found : FindSymbol(Library::kNccl, name);
}

void* FindNcclAnywhere(const void* caller, const char* name) {
  void* found = FindNcclInScope(caller, name);
  if (found != nullptr || !base::LoaderIsThere()) return found;
  found = FindInAny(Twin(name).name);
  if (found != nullptr) return found;
  const DlsymFunction find = RealDlsym();
  if (find != nullptr) found = Real(find(RTLD_NEXT, name));
  return found != nullptr ? found : FindInAny(name);
}

std::size_t NcclFileOfCall(const void* site, const char* name, std::size_t most) {
  std::size_t file = 0;
  if (sites.Find(site, &file)) return file;
  const void* symbol = FindNcclAnywhere(site, name);
  if (symbol == nullptr) return most;
  file = NcclFileOf(symbol, most);
  if (file != most) sites.Remember(site, file);
  return file;
}

}  // namespace crossover::hooks
