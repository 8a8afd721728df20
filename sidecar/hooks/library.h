// Finds the real libraries and the real dlsym.
#pragma once

#include <cstddef>

namespace crossover::hooks {

using DlsymFunction = void* (*)(void* handle, const char* name);

// Returns the dlsym that the process would have without this library: the C library's, or that of another
// preloaded library. Returns null if there is none.
DlsymFunction RealDlsym();

// A Library is one of those that the hooks recognise. kOurs is this library.
enum class Library { kOther, kCuda, kNccl, kNvml, kOurs };
// Returns the library that an address lies in; kOther for all that the hooks do not tell apart.
Library LibraryOf(const void* address);

// Returns whether an address lies in an object of this library's namespace, and not in one that dlmopen() has
// loaded into another namespace.
bool InOurNamespace(const void* address);

// Returns the address of a symbol in the library that the process itself has loaded. Loads nothing. Returns
// null if the library or the symbol is missing. Of several drivers, it searches the first that is no stub of
// a toolkit. The result is valid for the life of the process, because this keeps the library from being
// unloaded. If only stubs are loaded, the symbol is that of a stub and `*lasts` is false: the driver may be
// loaded later, so the caller must not keep the result.
void* FindSymbol(Library library, const char* name, bool* lasts = nullptr);

// Returns whether `address` lies in the object that FindSymbol() searches from now on. Our wrappers call that
// object, and neither a stub nor another object of that name.
bool IsSearched(Library library, const void* address);

// Copies to `path` the path by which the object at `address` was loaded. Returns false for the program
// itself, and if the path does not fit into `room` bytes.
bool PathOf(const void* address, char* path, std::size_t room);

// A Stay says whether an object stays in the process for good, even if the program closes it.
enum class Stay { kAsItWas, kForGood };
// Returns the address of a symbol in the object that was loaded from `path`, or in the objects that it needs;
// null if there is none. Loads nothing. REQUIRES: `stay` is kForGood if the caller keeps the address.
void* FindInFile(const char* path, const char* name, Stay stay);

}  // namespace crossover::hooks
