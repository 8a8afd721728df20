// The files of NCCL in the process: those named libnccl.so, and objects of any other name with NCCL in them,
// as a framework's library that was linked with NCCL's archive, or a renamed copy beside it.
//
// A communicator of one must not get into calls of another. So each has a number, by which there are wrappers
// for it, and a call that comes through our exported names goes on to the file that the loader would have
// bound the caller to.
#pragma once

#include <cstddef>

namespace crossover::hooks {

// The number of the file that an address lies in, always the same; `most` where so many are known already. A
// file that has a number stays in the process.
std::size_t NcclFileOf(const void* address, std::size_t most);

// Whether an address lies in a file that has a number.
bool InNcclFile(const void* address);

// A symbol of the file of that number: its profiling twin ("pncclX" for "ncclX") where there is one.
void* FindNcclSymbol(std::size_t file, const char* name);

// What the loader would give for `name` to code at `caller`, null for the program itself; or what a file
// named libnccl.so has, whoever loaded it. Null: neither. Never one of our own functions.
void* FindNcclInScope(const void* caller, const char* name);

// The same, and where it finds nothing what any object has, the first that was loaded: for a caller that has
// called us already, which something in the process must have been meant for.
void* FindNcclAnywhere(const void* caller, const char* name);

// The number of the file for a call of `name` that returns to `site`; `most` where it has none, or nothing is
// found. Looked up once for each site, as the loader does; without a lock from then on.
std::size_t NcclFileOfCall(const void* site, const char* name, std::size_t most);

}  // namespace crossover::hooks
