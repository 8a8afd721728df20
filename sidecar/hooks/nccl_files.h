// Finds the files of NCCL in the process: those named libnccl.so, and objects of any other name with NCCL
// in them, such as a framework's library that was linked with NCCL's archive, or a renamed copy beside it.
//
// A communicator of one file must never be passed to a function of another. So each file has a number, and
// wrappers for that number. A call through our exported names goes on to the file to which the loader would
// have bound the caller. The functions are thread-safe.
#pragma once

#include <cstddef>

namespace crossover::hooks {

// Returns the number of the file that an address lies in. A file gets its number at the first call, keeps it,
// and stays in the process. Returns `most` if that many files have a number already.
std::size_t NcclFileOf(const void* address, std::size_t most);

// Returns whether an address lies in a file that has a number.
bool InNcclFile(const void* address);

// Returns the symbol `name` of the file with that number, or its profiling twin ("pncclX" for "ncclX") if it
// has one. Returns null if the file has neither.
void* FindNcclSymbol(std::size_t file, const char* name);

// Returns the symbol `name` that the loader would find for code at `caller`; a null `caller` means the
// program itself. If it would find none, returns that of a file named libnccl.so, whichever code has loaded
// it. Returns null if there is none. Never returns one of our own functions.
void* FindNcclInScope(const void* caller, const char* name);

// Does the same. If that finds nothing, returns the symbol of the first loaded object that has it. Use it for
// a caller that has already called an export of ours: its call was meant for some NCCL in the process.
void* FindNcclAnywhere(const void* caller, const char* name);

// Returns the number of the file for a call of `name` that returns to `site`. Returns `most` if there is no
// such file, or if it has no number. Looks it up once for each site, as the loader does; later calls take no
// lock.
std::size_t NcclFileOfCall(const void* site, const char* name, std::size_t most);

}  // namespace crossover::hooks
