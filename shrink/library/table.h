// Defines the table of NCCL functions as types, and finds the real function of each row.
//
// A process may have several files of NCCL. A communicator of one must never be passed to a function of
// another (sidecar/hooks/nccl_files.h). Only calls into the first file are narrowed; those into any other go
// on to it unchanged.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sidecar/hooks/nccl_types.h"

namespace crossover::shrink::library {

using hooks::NcclComm;
using hooks::NcclDataType;
using hooks::NcclRedOp;
using hooks::NcclResult;
using hooks::NcclStream;
using hooks::NcclUniqueId;

using PFN_GetUniqueId = NcclResult (*)(NcclUniqueId*);
using PFN_CommGetAsyncError = NcclResult (*)(NcclComm, NcclResult*);

inline constexpr NcclResult kNcclUnhandledCudaError = 1;
inline constexpr NcclResult kNcclInvalidUsage = 5;
inline constexpr NcclResult kNcclRemoteError = 6;

enum class Hook : std::size_t {
#define SHRINK_HOOK(symbol, type, policy) k_##symbol,
#include "shrink/library/hooks.def"
#undef SHRINK_HOOK
  kCount
};
inline constexpr std::size_t kHooks = static_cast<std::size_t>(Hook::kCount);

template <Hook kHook>
struct Traits;
#define SHRINK_HOOK(symbol, type, policy)           \
  template <>                                       \
  struct Traits<Hook::k_##symbol> {                 \
    using Function = type;                          \
    static constexpr const char* kSymbol = #symbol; \
  };
#include "shrink/library/hooks.def"
#undef SHRINK_HOOK

// Holds the functions that calls into the first file go on to: those of libcrossover.so if it is there, else
// those of NCCL. Null: not found yet.
inline constinit std::atomic<void*> real_functions[kHooks]{};

// A Target is where a call goes on to.
struct Target {
  void* function = nullptr;  // null: there is none
  bool first_file = false;
};
// Returns the target of a call of a row that returns to `site`. Takes no lock once it has been asked for the
// site before.
Target TargetOf(Hook hook, const char* symbol, const void* site);

// Returns the function of a row for a call that is known to be into the first file, or null.
void* RealFunction(Hook hook, const char* symbol);

// Says whether the library's own calls go through the next library in line, such as libcrossover.so, or past
// it to NCCL or the driver.
enum class Way : std::uint8_t { kLine, kPast };

// Returns a function of the first file by its name, or null. The file lasts as long as the process.
void* FindFunction(Way way, const char* symbol);

// Returns whether an address lies in a library that stands in front of NCCL, as this one does: it exports
// dlsym, which no NCCL does.
bool StandsIn(const void* address);

// Returns the function of that name of the next library that stands in front of others, or null.
void* NextThatStandsIn(const char* symbol);

// Returns the wrapper to hand out in place of `value`, which is what dlsym() answered for this name; `value`
// itself if there is none. `of_nccl` lies in the file of NCCL that `value` calls.
void* SubstituteFor(const char* name, void* value, const void* of_nccl);

// Returns whether a name is one of the table.
bool IsHooked(const char* name);

}  // namespace crossover::shrink::library
