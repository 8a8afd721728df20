// Finds a function of a loaded object in the object's own table of symbols, for cases in which the loader's
// look-ups cannot be used.
#pragma once

struct dl_phdr_info;

namespace crossover::hooks {

// Returns whether `address` lies in `object`.
bool Contains(const dl_phdr_info& object, const void* address);

// Returns the address of the function that `object` defines under this name, in whatever version. Returns
// null if it defines none, or has no GNU hash table. Reads nothing outside the object's segments, whatever
// its tables say. Takes no lock and does not allocate.
void* FindInObject(const dl_phdr_info& object, const char* name);

}  // namespace crossover::hooks
