// Declares the part of NCCL's interface that its wrappers need. So the build needs no nccl.h and depends on
// no version of it. Enumerations are plain ints in NCCL's ABI; handles stay opaque.
#pragma once

#include <cstddef>

namespace crossover::hooks {

using NcclResult = int;
using NcclComm = struct NcclCommOpaque*;
using NcclDataType = int;
using NcclRedOp = int;
using NcclWindow = struct NcclWindowOpaque*;
struct NcclCollConfig;
using NcclStream = void*;  // cudaStream_t, which is a CUstream
struct NcclUniqueId {
  char internal[128];
};

inline constexpr NcclResult kNcclSuccess = 0;
inline constexpr NcclResult kNcclSystemError = 2;
inline constexpr NcclResult kNcclInProgress = 7;

// An NcclConfigHead is the beginning of ncclConfig_t, which only ever grows at its end. Readers read no more
// than `size` bytes of it.
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
// These functions take an ncclCollConfig_t, which stays opaque.
using PFN_ncclReductionConfig = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, NcclRedOp,
                                               NcclComm, NcclStream, const NcclCollConfig*);
using PFN_ncclRootedConfig = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, int, NcclComm,
                                            NcclStream, const NcclCollConfig*);
using PFN_ncclReduceConfig = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, NcclRedOp, int,
                                            NcclComm, NcclStream, const NcclCollConfig*);
using PFN_ncclUnrootedConfig = NcclResult (*)(const void*, void*, std::size_t, NcclDataType, NcclComm,
                                              NcclStream, const NcclCollConfig*);
using PFN_ncclPutSignal = NcclResult (*)(const void*, std::size_t, NcclDataType, int, NcclWindow, std::size_t,
                                         int, int, unsigned int, NcclComm, NcclStream);
using PFN_ncclSignal = NcclResult (*)(int, int, int, unsigned int, NcclComm, NcclStream);
using PFN_ncclWaitSignal = NcclResult (*)(int, void*, NcclComm, NcclStream);
using PFN_ncclDevCommCreate = NcclResult (*)(NcclComm, const void*, void*);
using PFN_ncclGroup = NcclResult (*)();
using PFN_ncclCommInitRank = NcclResult (*)(NcclComm*, int, NcclUniqueId, int);
using PFN_ncclCommInitRankConfig = NcclResult (*)(NcclComm*, int, NcclUniqueId, int, void*);
using PFN_ncclCommInitRankScalable = NcclResult (*)(NcclComm*, int, int, int, NcclUniqueId*, void*);
using PFN_ncclCommInitAll = NcclResult (*)(NcclComm*, int, const int*);
using PFN_ncclCommSplit = NcclResult (*)(NcclComm, int, int, NcclComm*, void*);
using PFN_ncclCommShrink = NcclResult (*)(NcclComm, int*, int, NcclComm*, void*, int);
using PFN_ncclCommGrow = NcclResult (*)(NcclComm, int, const NcclUniqueId*, int, NcclComm*, void*);
using PFN_ncclCommEnd = NcclResult (*)(NcclComm);
using PFN_ncclCommRevoke = NcclResult (*)(NcclComm, int);
using PFN_ncclCommCount = NcclResult (*)(NcclComm, int*);

}  // namespace crossover::hooks
