// What the wrappers of NCCL functions do around the real call. Each policy's Run() has the arguments of the
// function that it stands in for; it calls the real one exactly once and returns its result.
#pragma once

#include "sidecar/hooks/nccl_table.h"
#include "sidecar/phase/token.h"
#include "sidecar/session/attention.h"

namespace crossover::hooks {

template <NcclHook kHook, typename... Arguments>
NcclResult CallNccl(Arguments... arguments) {
  const session::InsideNccl inside;
  return RealNccl<kHook>()(arguments...);
}

// A collective call, reduced to what matters here.
struct CollectiveCall {
  NcclComm comm = nullptr;
  NcclStream stream = nullptr;
  phase::Token token;
};

// One overload per signature.
inline CollectiveCall Describe(const void*, void*, std::size_t count, NcclDataType type, int op_or_root,
                               NcclComm comm, NcclStream stream) {
  return {comm, stream, {0, 0, count, static_cast<std::uint32_t>(type), op_or_root, 0}};
}
inline CollectiveCall Describe(const void*, void*, std::size_t count, NcclDataType type, NcclRedOp op,
                               int root, NcclComm comm, NcclStream stream) {
  return {comm, stream, {0, 0, count, static_cast<std::uint32_t>(type), op, root}};
}
inline CollectiveCall Describe(const void*, void*, std::size_t count, NcclDataType type, NcclComm comm,
                               NcclStream stream) {
  return {comm, stream, {0, 0, count, static_cast<std::uint32_t>(type), 0, 0}};
}
inline CollectiveCall Describe(const void*, std::size_t count, NcclDataType type, int root, NcclComm comm,
                               NcclStream stream) {
  return {comm, stream, {0, 0, count, static_cast<std::uint32_t>(type), root, 0}};
}

void BeforeCollective(NcclHook hook, CollectiveCall call);
void AfterCommInit(NcclComm comm, int ranks, int rank, NcclResult result, const void* config);
void AfterCommInitAll(const NcclComm* comms, int devices);
void AfterCommSplit(NcclComm comm, NcclResult result, const void* config);
void BeforeCommEnd(NcclComm comm);

struct Collective {
  template <NcclHook kHook, typename... Arguments>
  static NcclResult Run(Arguments... arguments) {
    BeforeCollective(kHook, Describe(arguments...));
    return CallNccl<kHook>(arguments...);
  }
};

// Nothing to do but to know that we are inside.
struct Inside {
  template <NcclHook kHook>
  static NcclResult Run() {
    return CallNccl<kHook>();
  }
};

struct CommInitRank {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm* comm, int ranks, NcclUniqueId id, int rank) {
    const NcclResult result = CallNccl<kHook>(comm, ranks, id, rank);
    if (comm != nullptr) AfterCommInit(*comm, ranks, rank, result, nullptr);
    return result;
  }
  template <NcclHook kHook>
  static NcclResult Run(NcclComm* comm, int ranks, NcclUniqueId id, int rank, void* config) {
    const NcclResult result = CallNccl<kHook>(comm, ranks, id, rank, config);
    if (comm != nullptr) AfterCommInit(*comm, ranks, rank, result, config);
    return result;
  }
};

struct CommInitAll {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm* comms, int devices, const int* list) {
    const NcclResult result = CallNccl<kHook>(comms, devices, list);
    if (result == kNcclSuccess && comms != nullptr) AfterCommInitAll(comms, devices);
    return result;
  }
};

struct CommSplit {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm comm, int color, int key, NcclComm* child, void* config) {
    const NcclResult result = CallNccl<kHook>(comm, color, key, child, config);
    if (child != nullptr) AfterCommSplit(*child, result, config);
    return result;
  }
};

struct CommEnd {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm comm) {
    BeforeCommEnd(comm);
    return CallNccl<kHook>(comm);
  }
};

}  // namespace crossover::hooks
