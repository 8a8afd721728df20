// Decides what our dlsym answers (sidecar/hooks/dlsym.h). The entry point is sidecar/hooks/dlsym_entry.S.
#include "sidecar/hooks/dlsym.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include <atomic>

#include "common/base/optional_libc.h"
#include "shrink/library/policies.h"
#include "shrink/library/table.h"
#include "sidecar/hooks/elf.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_files.h"

namespace crossover::shrink::library {
namespace {

// Finds the first dlsym of an object that does not stand in front of NCCL: that of the C library.
int VisitForLibc(dl_phdr_info* info, std::size_t, void* argument) {
  void* found = hooks::FindInObject(*info, "dlsym");
  if (found == nullptr || hooks::FindInObject(*info, "ncclGroupStart") != nullptr) return 0;
  *static_cast<hooks::DlsymFunction*>(argument) = reinterpret_cast<hooks::DlsymFunction>(found);
  return 1;
}

// Returns the dlsym to which look-ups go on. musl has no dlvsym, so hooks::RealDlsym() returns there the one
// of the next library that stands in front of NCCL. That one may have found ours, and both would go round.
hooks::DlsymFunction DlsymOfLibc() {
  if (dlvsym != nullptr) return hooks::RealDlsym();
  hooks::DlsymFunction found = nullptr;
  dl_iterate_phdr(&VisitForLibc, &found);
  return found;
}

// Returns the dlsym that the process would have without this library: that of the next library in line, such
// as libcrossover.so, whose export has no version, so that `real` alone would pass by it. With musl it is
// `real`: libcrossover.so may take our dlsym for the real one there.
hooks::DlsymFunction NextDlsym(hooks::DlsymFunction real) {
  static constinit std::atomic<hooks::DlsymFunction> known{nullptr};
  if (dlvsym == nullptr) return real;
  hooks::DlsymFunction next = known.load(std::memory_order_acquire);
  if (next != nullptr) return next;
  next = reinterpret_cast<hooks::DlsymFunction>(real(RTLD_NEXT, "dlsym"));
  if (next == nullptr) next = real;
  known.store(next, std::memory_order_release);
  return next;
}

// Returns the function's profiling twin, which only NCCL has, or null. No tool stands in front of it.
void* TwinOf(hooks::DlsymFunction real, void* handle, const char* name) {
  char twin[64];
  snprintf(twin, sizeof twin, "p%s", name);
  return real(handle, twin);
}

// Looks up a name that no NCCL in the process has, so that dlerror() says so. The next library in line may
// export it, too. It then says for the global scope that there is none.
void* NoneOf(hooks::DlsymFunction real, const char* name) {
  void* found = real(RTLD_NEXT, name);
  if (found != nullptr && StandsIn(found)) found = real(RTLD_DEFAULT, name);
  return found != nullptr && StandsIn(found) ? nullptr : found;
}

crossover_dlsym_answer Decide(hooks::DlsymFunction real, void* handle, const char* name, void* caller) {
  const hooks::DlsymFunction next = NextDlsym(real);
  const crossover_dlsym_answer untouched = {reinterpret_cast<void*>(next), nullptr};
  if (name == nullptr || name[0] != 'n' || handle == RTLD_NEXT || !IsHooked(name)) return untouched;
  const hooks::Library from = hooks::LibraryOf(caller);
  if (from == hooks::Library::kOurs || from == hooks::Library::kNccl) return untouched;
  void* value = next(handle, name);
  // The global scope holds our own exports, in every process, also where there is no NCCL.
  if (value != nullptr && hooks::LibraryOf(value) == hooks::Library::kOurs) {
    return {nullptr, hooks::FindNcclInScope(caller, name) == nullptr ? NoneOf(real, name) : value};
  }
  if (value == nullptr || !IsOn()) return {nullptr, value};
  void* of_nccl = StandsIn(value) ? TwinOf(real, handle, name) : value;
  return {nullptr, of_nccl == nullptr ? value : SubstituteFor(name, value, of_nccl)};
}

}  // namespace
}  // namespace crossover::shrink::library

extern "C" crossover_dlsym_answer crossover_dlsym(void* handle, const char* name, void* caller) {
  using namespace crossover::shrink::library;
  const crossover::hooks::DlsymFunction real = DlsymOfLibc();
  if (real == nullptr) return {nullptr, nullptr};
  if (!crossover::base::LoaderIsThere()) return {reinterpret_cast<void*>(real), nullptr};
  return Decide(real, handle, name, caller);
}
