// Finds the real libraries and the real dlsym.
#pragma once

#include <cstddef>

namespace crossover::hooks {

using DlsymFunction = void* (*)(void* handle, const char* name);

// The dlsym that the process would have without us (the C library's, or that of another preloaded library).
DlsymFunction RealDlsym();

// Which library an address lies in, as far as we care.
enum class Library { kOther, kCuda, kNccl, kNvml, kOurs };
Library LibraryOf(const void* address);

// Whether an address lies in an object that was loaded beside us, and not by dlmopen() into another
// namespace.
bool InOurNamespace(const void* address);

// A symbol of the library that the process itself loaded; never loads anything. Null where library or symbol
// are absent. What it returns is valid for the life of the process: the library is not unloaded any more.
void* FindSymbol(Library library, const char* name);

// The path by which the object was loaded that an address lies in; false for the program itself.
bool PathOf(const void* address, char* path, std::size_t room);

// A symbol of the object that was loaded from `path`, or of those that it needs. Whether it stays in the
// process from then on, whoever closes it: what is remembered must.
enum class Stay { kAsItWas, kForGood };
void* FindInFile(const char* path, const char* name, Stay stay);

}  // namespace crossover::hooks
