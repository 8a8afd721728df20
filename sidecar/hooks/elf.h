// A function of an object that the process has loaded, read from the object's own table of symbols: for where
// the loader's look-ups cannot be asked.
#pragma once

struct dl_phdr_info;

namespace crossover::hooks {

// Whether an address lies in `object`.
bool Contains(const dl_phdr_info& object, const void* address);

// The address of the function that `object` defines under this name, of whatever version; null where it
// defines none, or has no GNU hash table. Reads nothing outside the object's segments, whatever its tables
// say. Takes no lock, allocates nothing.
void* FindInObject(const dl_phdr_info& object, const char* name);

}  // namespace crossover::hooks
