/* Declares the part of NCCL that simgpu's libnccl.so.2 implements and training frameworks call. Names, values
 * and layouts are NCCL's. A program compiled against this header therefore also runs on NVIDIA's library, and
 * the other way round.
 *
 * Every function ncclX exists twice: weak as ncclX and strong as pncclX, so a tool may define ncclX and
 * forward. C and C++; needs no CUDA header. simgpu/nccl/README.md says what each call does here. */
#ifndef SIMGPU_NCCL_NCCL_H_
#define SIMGPU_NCCL_NCCL_H_

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_SUFFIX ""
#define NCCL_VERSION_CODE 22809
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st* cudaStream_t;
typedef struct ncclComm* ncclComm_t;
typedef struct ncclWindow_vidmem* ncclWindow_t;
#define NCCL_COMM_NULL NULL

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
} ncclResult_t;

typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
} ncclDataType_t;

typedef enum {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
  ncclAvg = 4,
  ncclNumOps = 5,
  ncclMaxRedOp = 0x7fffffff
} ncclRedOp_t;

/* ncclConfig_t grows at its end with each release, so the library reads `size` bytes and no more. */
#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR -1
#define NCCL_CONFIG_MAGIC 0xcafebeefu

typedef struct ncclConfig_v22800 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking;
  int cgaClusterSize;
  int minCTAs;
  int maxCTAs;
  const char* netName;
  int splitShare;
  int trafficClass;
  const char* commName;
  int collnetEnable;
  int CTAPolicy;
  int shrinkShare;
  int nvlsCTAs;
  int nChannelsPerNetPeer;
  int nvlinkCentricSched;
} ncclConfig_t;

/* clang-format off */
#define NCCL_CONFIG_INITIALIZER {                 \
  sizeof(ncclConfig_t),    /* size */             \
  NCCL_CONFIG_MAGIC,       /* magic */            \
  NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH), /* version */ \
  NCCL_CONFIG_UNDEF_INT,   /* blocking */         \
  NCCL_CONFIG_UNDEF_INT,   /* cgaClusterSize */   \
  NCCL_CONFIG_UNDEF_INT,   /* minCTAs */          \
  NCCL_CONFIG_UNDEF_INT,   /* maxCTAs */          \
  NCCL_CONFIG_UNDEF_PTR,   /* netName */          \
  NCCL_CONFIG_UNDEF_INT,   /* splitShare */       \
  NCCL_CONFIG_UNDEF_INT,   /* trafficClass */     \
  NCCL_CONFIG_UNDEF_PTR,   /* commName */         \
  NCCL_CONFIG_UNDEF_INT,   /* collnetEnable */    \
  NCCL_CONFIG_UNDEF_INT,   /* CTAPolicy */        \
  NCCL_CONFIG_UNDEF_INT,   /* shrinkShare */      \
  NCCL_CONFIG_UNDEF_INT,   /* nvlsCTAs */         \
  NCCL_CONFIG_UNDEF_INT,   /* nChannelsPerNetPeer */ \
  NCCL_CONFIG_UNDEF_INT    /* nvlinkCentricSched */  \
}
/* clang-format on */

/* NCCL_FUNCTION(name, parameters) declares ncclName and pncclName. */
#define NCCL_FUNCTION(name, ...)        \
  ncclResult_t nccl##name(__VA_ARGS__); \
  ncclResult_t pnccl##name(__VA_ARGS__)

/* These functions are about the library itself and about memory. */
NCCL_FUNCTION(GetVersion, int* version);
const char* ncclGetErrorString(ncclResult_t result);
const char* pncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t comm);
const char* pncclGetLastError(ncclComm_t comm);
NCCL_FUNCTION(MemAlloc, void** ptr, size_t size);
NCCL_FUNCTION(MemFree, void* ptr);

/* These functions make, query and end communicators. */
NCCL_FUNCTION(GetUniqueId, ncclUniqueId* uniqueId);
NCCL_FUNCTION(CommInitRank, ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank);
NCCL_FUNCTION(CommInitRankConfig, ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank,
              ncclConfig_t* config);
NCCL_FUNCTION(CommInitAll, ncclComm_t* comms, int ndev, const int* devlist);
NCCL_FUNCTION(CommSplit, ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config);
NCCL_FUNCTION(CommFinalize, ncclComm_t comm);
NCCL_FUNCTION(CommDestroy, ncclComm_t comm);
NCCL_FUNCTION(CommAbort, ncclComm_t comm);
#define NCCL_REVOKE_DEFAULT 0x00
NCCL_FUNCTION(CommRevoke, ncclComm_t comm, int revokeFlags);
NCCL_FUNCTION(CommGetUniqueId, ncclComm_t comm, ncclUniqueId* uniqueId);
NCCL_FUNCTION(CommGrow, ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank,
              ncclComm_t* newcomm, ncclConfig_t* config);
typedef enum {
  ncclStatGpuMemSuspend = 0,
  ncclStatGpuMemSuspended = 1,
  ncclStatGpuMemPersist = 2,
  ncclStatGpuMemTotal = 3
} ncclCommMemStat_t;
NCCL_FUNCTION(CommMemStats, ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value);
NCCL_FUNCTION(CommGetAsyncError, ncclComm_t comm, ncclResult_t* asyncError);
NCCL_FUNCTION(CommCount, const ncclComm_t comm, int* count);
NCCL_FUNCTION(CommCuDevice, const ncclComm_t comm, int* device);
NCCL_FUNCTION(CommUserRank, const ncclComm_t comm, int* rank);
NCCL_FUNCTION(CommRegister, const ncclComm_t comm, void* buff, size_t size, void** handle);
NCCL_FUNCTION(CommDeregister, const ncclComm_t comm, void* handle);

/* These functions move data: collectives, and point to point. */
NCCL_FUNCTION(AllReduce, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(Broadcast, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              int root, ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(Bcast, void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
              cudaStream_t stream);
NCCL_FUNCTION(Reduce, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(AllGather, const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
              ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(ReduceScatter, const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
              ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(AlltoAll, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(Gather, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
              ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(Scatter, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
              ncclComm_t comm, cudaStream_t stream);
NCCL_FUNCTION(Send, const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
              cudaStream_t stream);
NCCL_FUNCTION(Recv, void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
              cudaStream_t stream);

/* These functions take settings for one call, as NCCL does since 2.31. All settings are ignored. */
typedef struct ncclCollConfig ncclCollConfig_t;
NCCL_FUNCTION(AllReduceConfig, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
NCCL_FUNCTION(BroadcastConfig, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              int root, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
NCCL_FUNCTION(ReduceConfig, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
NCCL_FUNCTION(AllGatherConfig, const void* sendbuff, void* recvbuff, size_t sendcount,
              ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
NCCL_FUNCTION(ReduceScatterConfig, const void* sendbuff, void* recvbuff, size_t recvcount,
              ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
              const ncclCollConfig_t* config);
NCCL_FUNCTION(AlltoAllConfig, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
NCCL_FUNCTION(GatherConfig, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              int root, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);
NCCL_FUNCTION(ScatterConfig, const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
              int root, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config);

/* These functions form groups. Nothing is launched before the outermost end. */
NCCL_FUNCTION(GroupStart, void);
NCCL_FUNCTION(GroupEnd, void);

#undef NCCL_FUNCTION

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SIMGPU_NCCL_NCCL_H_ */
