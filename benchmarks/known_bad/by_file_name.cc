// The fault: the library looks for NCCL only in files named libnccl.so. A program that has NCCL in a file
// of another name gets an error from every call.
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_files.h"

using crossover::hooks::FindSymbol;
using crossover::hooks::Library;

extern "C" std::size_t __wrap__ZN9crossover5hooks14NcclFileOfCallEPKvPKcm(const void*, const char* name,
                                                                          std::size_t most) {
  const void* symbol = FindSymbol(Library::kNccl, name);
  return symbol == nullptr ? most : crossover::hooks::NcclFileOf(symbol, most);
}
extern "C" void* __wrap__ZN9crossover5hooks16FindNcclAnywhereEPKvPKc(const void*, const char* name) {
  return FindSymbol(Library::kNccl, name);
}
