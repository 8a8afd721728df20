// Finds the real libraries and the real dlsym.
#pragma once

#include <cstddef>

namespace crossover::hooks {

using DlsymFunction = void* (*)(void* handle, const char* name);

// Returns the dlsym that the process would have without us: the C library's, or that of another preloaded
// library. Returns null where none is found.
DlsymFunction RealDlsym();

// A Library is one that the hooks tell apart from others.
enum class Library { kOther, kCuda, kNccl, kNvml, kOurs };
// Returns the library that an address lies in; kOther for all that the hooks do not tell apart.
Library LibraryOf(const void* address);

// Returns whether an address lies in an object that was loaded beside us, and not by dlmopen() into another
// namespace.
bool InOurNamespace(const void* address);

// Returns the address of a symbol in the library that the process itself has loaded. Never loads anything.
// Returns null where library or symbol are missing. Of several drivers, the first counts that is no stub of
// a toolkit. The result is valid for the life of the process: the library is not unloaded any more. But
// where only stubs are loaded the symbol is that of a stub, and a driver may come: `*lasts` is false then,
// and the result is not to be kept.
void* FindSymbol(Library library, const char* name, bool* lasts = nullptr);

// Returns whether `address` lies in the object that FindSymbol() searches from now on. Another object of
// that name, and a stub, is not the one that our wrappers call.
bool IsSearched(Library library, const void* address);

// Copies the path by which the object at `address` was loaded to `path`. Returns false for the program
// itself, and where the path does not fit into `room` bytes.
bool PathOf(const void* address, char* path, std::size_t room);

// A Stay says whether an object stays in the process for good, even if the program closes it.
enum class Stay { kAsItWas, kForGood };
// Returns the address of a symbol in the object that was loaded from `path`, or in those that it needs;
// null where there is none. REQUIRES: `stay` is kForGood where the address is remembered.
void* FindInFile(const char* path, const char* name, Stay stay);

}  // namespace crossover::hooks
