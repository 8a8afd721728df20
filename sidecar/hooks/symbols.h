// Finds the wrapper for a function that a program looks up by name.
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

// Returns the wrapper of NCCL's function `name` for the file of NCCL in which `real` lies. Each loaded file
// of NCCL has wrappers of its own. Returns `real` itself if more files of NCCL are loaded than there are
// wrappers for, or if no wrapper has this name.
void* FindNcclWrapper(const char* name, void* real);

// Returns the function to hand out in place of `real`, which cuGetProcAddress answered for (name, version,
// flags). The *match* is the row that MatchByVersion() finds among those that the driver has.
//
//   1. `real` is the real function of a row of this name: the wrapper of that row.
//   2. `version` reaches no row of this name: `real`.
//   3. The driver exports `real` under a name that no row has, or there is no match: `real`. It is newer than
//      the table, and its ABI is unknown. If turns need to see its calls, the process takes no turns from
//      then on.
//   4. Otherwise: the wrapper of the match.
void* SubstituteForProcAddress(const char* name, void* real, int version, std::uint64_t flags);

// Returns the wrapper of the newest row of this name that `version` reaches and for which `exists` is true;
// null if there is none. If `flags` ask for per-thread streams, such a row goes before others. `version` may
// be larger than that of any row.
void* MatchByVersion(const char* name, int version, std::uint64_t flags, bool (*exists)(std::size_t row));

}  // namespace crossover::hooks
