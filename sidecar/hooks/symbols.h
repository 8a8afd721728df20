// Finds the wrapper for what a program asks for by name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sidecar/hooks/library.h"

namespace crossover::hooks {

// A Symbol is a row of one of the tables.
struct Symbol {
  Library library = Library::kOther;
  void* wrapper = nullptr;  // null: in no table
};

// Returns the row with this exported name. For NCCL it has the wrapper of file number 0.
Symbol FindWrapper(const char* name);

// Returns the wrapper of NCCL's `name` for the file of NCCL in which `real` lies. Returns `real` itself
// where there are more such files than wrappers.
void* FindNcclWrapper(const char* name, void* real);

// Returns what to hand out in place of `real`, which cuGetProcAddress answered for (name, version, flags).
// The first of these that applies is handed out:
// - the wrapper of the row whose real function `real` is;
// - `real` itself, where the driver exports it under a name that no row has. Such a function is newer than
// the table, and its ABI is unknown. Where turns need to see its calls, none are taken from then on;
// - the wrapper of the newest row of that name and flavour which `version` reaches and whose function the
// driver has;
// - `real` itself.
// `version` may be larger than any row's.
void* SubstituteForProcAddress(const char* name, void* real, int version, std::uint64_t flags);

// Does the last of these steps alone. Leaves out rows for which `exists` is false. Returns null where no
// row fits.
void* MatchByVersion(const char* name, int version, std::uint64_t flags, bool (*exists)(std::size_t row));

}  // namespace crossover::hooks
