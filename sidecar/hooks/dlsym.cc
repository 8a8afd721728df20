#include "sidecar/hooks/dlsym.h"

#include <dlfcn.h>

#include "common/base/optional_libc.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_files.h"
#include "sidecar/hooks/symbols.h"
#include "sidecar/session/config.h"

namespace crossover::hooks {
namespace {

// Returns whether `name` begins like a name in the tables. Nearly all names that are looked up do not.
bool MayBeOurs(const char* name) {
  if (name[0] == 'c') return name[1] == 'u';
  return name[0] == 'n' && ((name[1] == 'c' && name[2] == 'c') || (name[1] == 'v' && name[2] == 'm'));
}

// Returns whether a real library has `name`, for code at `caller`. Null means the program itself.
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
  // The global scope holds our own exports, in every process. A program looks there to find out whether it
  // has CUDA or NCCL. It must not find our exports if the real library is missing, or if an older version of
  // it lacks the function.
  if (handle == RTLD_DEFAULT) {
    if (IsThere(symbol.library, name, caller)) return untouched;
    return {nullptr, real(RTLD_NEXT, name)};
  }
  void* value = real(handle, name);
  if (value == nullptr) return {nullptr, nullptr};
  Library owner = LibraryOf(value);
  if (owner == Library::kOurs) {
    if (!IsThere(symbol.library, name, nullptr)) return {nullptr, real(RTLD_NEXT, name)};
    value =
        real(handle, name);  // again, so that dlerror() does not tell the user of a failed look-up of ours
  }
  // The function may also lie in an object with an NCCL of its own that calls our exports.
  if (owner == Library::kOther && symbol.library == Library::kNccl && InNcclFile(value))
    owner = symbol.library;
  // A library of another namespace (dlmopen) is not the one that our wrapper would call.
  bool replace = owner == symbol.library && session::GetConfig().active && InOurNamespace(value);
  // Another file with the driver's name, a stub or a second driver, is not that library either.
  if (replace && owner != Library::kNccl) replace = IsSearched(owner, value);
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
