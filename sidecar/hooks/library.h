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

// Whether the library is in the process, however it was loaded.
bool Loaded(Library library);

// A symbol of the library that the process itself loaded; never loads anything. For NCCL its profiling twin
// ("pncclX" for "ncclX") where there is one. Null where library or symbol are absent. What it returns is
// valid for the life of the process: the library is not unloaded any more.
void* FindSymbol(Library library, const char* name);

// The number of the file of NCCL that an address lies in, always the same: 0 for the one that FindSymbol()
// finds, `most` where so many are known already. A file that has a number stays in the process.
std::size_t NcclFileOf(const void* address, std::size_t most);

// FindSymbol() in the file of that number.
void* FindNcclSymbol(std::size_t file, const char* name);

}  // namespace crossover::hooks
