#include "sidecar/hooks/dlsym.h"

#include <dlfcn.h>

#include "common/base/optional_libc.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_files.h"
#include "sidecar/hooks/symbols.h"
#include "sidecar/session/config.h"

namespace crossover::hooks {
namespace {

// All names in the tables begin so; nearly all names that are looked up do not.
bool MayBeOurs(const char* name) {
  if (name[0] == 'c') return name[1] == 'u';
  return name[0] == 'n' && ((name[1] == 'c' && name[2] == 'c') || (name[1] == 'v' && name[2] == 'm'));
}

// For code at `caller`: the program itself where that is null.
bool IsThere(Library library, const char* name, const void* caller) {
  if (library == Library::kNccl) return FindNcclInScope(caller, name) != nullptr;
  return FindSymbol(library, name) != nullptr;
}

crossover_dlsym_answer Decide(DlsymFunction real, void* handle, const char* name, void* caller) {
  const crossover_dlsym_answer untouched = {reinterpret_cast<void*>(real), nullptr};
  if (name == nullptr || !MayBeOurs(name) || handle == RTLD_NEXT) return untouched;
  const Symbol symbol = FindWrapper(name);
  if (symbol.wrapper == nullptr) return untouched;
  const Library from = LibraryOf(caller);
  if (from == Library::kOurs || from == symbol.library) return untouched;
  // The global scope holds our own exports, in every process. One that looks there whether it has CUDA or
  // NCCL must not find them where the real library is not there at all.
  // Nor a function that a real library of an older version does not have.
  if (handle == RTLD_DEFAULT) {
    if (IsThere(symbol.library, name, caller)) return untouched;
    return {nullptr, real(RTLD_NEXT, name)};
  }
  void* value = real(handle, name);
  if (value == nullptr) return {nullptr, nullptr};
  Library owner = LibraryOf(value);
  if (owner == Library::kOurs) {
    if (!IsThere(symbol.library, name, nullptr)) return {nullptr, real(RTLD_NEXT, name)};
    value = real(handle, name);  // once more: where we looked in vain is not what dlerror() is to tell
  }
  // Of an object that calls us, too, for its own NCCL.
  if (owner == Library::kOther && symbol.library == Library::kNccl && InNcclFile(value))
    owner = symbol.library;
  // A library of another namespace (dlmopen) is not the one that our wrapper goes on to.
  const bool replace = owner == symbol.library && session::GetConfig().active && InOurNamespace(value);
  if (!replace) return {nullptr, value};
  return {nullptr, owner == Library::kNccl ? FindNcclWrapper(name, value) : symbol.wrapper};
}

}  // namespace
}  // namespace crossover::hooks

extern "C" crossover_dlsym_answer crossover_dlsym(void* handle, const char* name, void* caller) {
  const crossover::hooks::DlsymFunction real = crossover::hooks::RealDlsym();
  if (real == nullptr) return {nullptr, nullptr};
  if (!crossover::base::LoaderIsThere()) return {reinterpret_cast<void*>(real), nullptr};
  return crossover::hooks::Decide(real, handle, name, caller);
}
