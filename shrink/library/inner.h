// Finds the functions of NCCL that the library itself calls.
#pragma once

#include "shrink/library/table.h"

namespace crossover::shrink::library {

struct InnerNccl {
#define SHRINK_INNER(member, symbol, type, way) type member = nullptr;
#include "shrink/library/inner.def"
#undef SHRINK_INNER
};

// Returns the functions of the first file, or null if it lacks one: ncclCommSplit is from NCCL 2.18 on. The
// functions do not change once they are found. Thread-safe. REQUIRES: a call has gone into the first file.
const InnerNccl* InnerFunctions();

// An InnerGroup is one group of such calls. It is ended by End(), once.
class InnerGroup {
 public:
  explicit InnerGroup(const InnerNccl& nccl) : nccl_(nccl), result_(nccl.group_start()) {
    begun_ = result_ == hooks::kNcclSuccess;
  }
  // Returns whether a call may still be added: none is, behind one that has failed.
  bool Goes() const { return result_ == hooks::kNcclSuccess; }
  void Add(NcclResult result) {
    if (Goes()) result_ = result;
  }
  // Launches the calls. Returns the first failure.
  NcclResult End() {
    const NcclResult ended = begun_ ? nccl_.group_end() : result_;
    return Goes() ? ended : result_;
  }

 private:
  const InnerNccl& nccl_;
  NcclResult result_;
  bool begun_;
};

}  // namespace crossover::shrink::library
