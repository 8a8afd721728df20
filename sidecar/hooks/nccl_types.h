// The little of NCCL's interface that its wrappers need, declared here so that no nccl.h is needed and no
// version of it is baked in. Enumerations are plain ints in NCCL's ABI; handles stay opaque.
#pragma once

#include <cstddef>

namespace crossover::hooks {

using NcclResult = int;
using NcclComm = struct NcclCommOpaque*;
using NcclDataType = int;
using NcclRedOp = int;
using NcclStream = void*;  // cudaStream_t, which is a CUstream
struct NcclUniqueId {
  char internal[128];
};

inline constexpr NcclResult kNcclSuccess = 0;
inline constexpr NcclResult kNcclSystemError = 2;
inline constexpr NcclResult kNcclInProgress = 7;

// The head of ncclConfig_t, which only ever grows at its end. Read only as far as `size` says.
struct NcclConfigHead {
  std::size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking;
};
inline constexpr unsigned int kNcclConfigMagic = 0xcafebeef;

using PFN_ncclReduction = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, NcclRedOp, NcclComm,
                                         NcclStream);
using PFN_ncclRooted = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, int, NcclComm,
                                      NcclStream);
using PFN_ncclBcast = NcclResult (*)(void*, std::size_t, NcclDataType, int, NcclComm, NcclStream);
using PFN_ncclReduce = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, NcclRedOp, int, NcclComm,
                                      NcclStream);
using PFN_ncclUnrooted = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, NcclComm, NcclStream);
using PFN_ncclSend = NcclResult (*)(const void*, std::size_t, NcclDataType, int, NcclComm, NcclStream);
using PFN_ncclRecv = NcclResult (*)(void*, std::size_t, NcclDataType, int, NcclComm, NcclStream);
using PFN_ncclGroup = NcclResult (*)();
using PFN_ncclCommInitRank = NcclResult (*)(NcclComm*, int, NcclUniqueId, int);
using PFN_ncclCommInitRankConfig = NcclResult (*)(NcclComm*, int, NcclUniqueId, int, void*);
using PFN_ncclCommInitAll = NcclResult (*)(NcclComm*, int, const int*);
using PFN_ncclCommSplit = NcclResult (*)(NcclComm, int, int, NcclComm*, void*);
using PFN_ncclCommEnd = NcclResult (*)(NcclComm);
using PFN_ncclCommCount = NcclResult (*)(NcclComm, int*);

}  // namespace crossover::hooks
