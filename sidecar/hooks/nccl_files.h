// Finds the files of NCCL in the process: those named libnccl.so, and objects of any other name with NCCL
// in them, such as a framework's library that was linked with NCCL's archive, or a renamed copy beside it.
//
// A communicator of one file must not get into calls of another. So each file has a number, and wrappers
// for that number. A call through our exported names goes on to the file that the loader would have bound
// the caller to.
#pragma once

#include <cstddef>

namespace crossover::hooks {

// Returns the number of the file that an address lies in, which is always the same. Returns `most` where so
// many are known already. A file that has a number stays in the process.
std::size_t NcclFileOf(const void* address, std::size_t most);

// Returns whether an address lies in a file that has a number.
bool InNcclFile(const void* address);

// Returns a symbol of the file of that number: its profiling twin ("pncclX" for "ncclX") where there is
// one. Returns null where the file has neither.
void* FindNcclSymbol(std::size_t file, const char* name);

// Returns what the loader would give for `name` to code at `caller`; a null `caller` means the program
// itself. Else returns what a file named libnccl.so has, whatever code loaded it. Returns null where
// neither has it. Never returns one of our own functions.
void* FindNcclInScope(const void* caller, const char* name);

// Does the same, and where that finds nothing, returns what the first loaded object with such a symbol has.
// It is for a caller that has called us already: that call must have been meant for something in the
// process.
void* FindNcclAnywhere(const void* caller, const char* name);

// Returns the number of the file for a call of `name` that returns to `site`. Returns `most` where it has
// none, or nothing is found. Looks it up once for each site, as the loader does, and without a lock from
// then on.
std::size_t NcclFileOfCall(const void* site, const char* name, std::size_t most);

}  // namespace crossover::hooks
