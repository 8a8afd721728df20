// From what a program asks for by name to the wrapper it gets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sidecar/hooks/library.h"

namespace crossover::hooks {

// A row of either table, for look-ups by exported name.
struct Symbol {
  Library library = Library::kOther;
  void* wrapper = nullptr;  // null: not in a table
};

Symbol FindWrapper(const char* name);

// The wrapper of NCCL's `name` for the file of NCCL in which `real` is its real function. `real` itself where
// there are more such files than wrappers.
void* FindNcclWrapper(const char* name, void* real);

// What to hand out in place of `real`, which cuGetProcAddress answered for (name, version, flags): the
// wrapper of the row whose real function that is; failing that the wrapper of the newest row of that name and
// flavour which `version` reaches; else `real` itself. `version` may be larger than any row's.
void* SubstituteForProcAddress(const char* name, void* real, int version, std::uint64_t flags);

// The second step alone; null where no row fits.
void* MatchByVersion(const char* name, int version, std::uint64_t flags);

}  // namespace crossover::hooks
