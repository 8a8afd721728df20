// Defines what the wrappers of NCCL functions do around the real call. Each policy's Run() has the
// arguments of the function that it stands in for. It calls the real function exactly once and returns its
// result.
#pragma once

#include <tuple>
#include <utility>

#include "common/base/watch_reason.h"
#include "sidecar/hooks/nccl_table.h"
#include "sidecar/phase/token.h"
#include "sidecar/session/hook_flags.h"

namespace crossover::hooks {

template <NcclHook kHook, typename... Arguments>
NcclResult CallNccl(Arguments... arguments) {
  const session::InsideNccl inside;
  return RealNccl<kHook>()(arguments...);
}

// A CollectiveCall is what the session needs to know of a collective call.
struct CollectiveCall {
  NcclComm comm = nullptr;
  NcclStream stream = nullptr;
  phase::Token token;
};

// Describe() turns the arguments of a call into a CollectiveCall. Each signature has an overload.
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

// Describes a call whose last argument is its settings, which do not count.
template <typename... Arguments>
CollectiveCall DescribeConfigured(Arguments... arguments) {
  const auto all = std::make_tuple(arguments...);
  const auto plain = [&all]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return Describe(std::get<kIndex>(all)...);
  };
  return plain(std::make_index_sequence<sizeof...(Arguments) - 1>());
}

// These functions report a call to the session, in a process that takes part.
void BeforeCollective(NcclHook hook, CollectiveCall call);
void AfterCommInit(NcclComm comm, int ranks, int rank, NcclResult result, const void* config,
                   const NcclUniqueId* id);
void AfterCommInitAll(const NcclComm* comms, int devices);
void AfterCommDerived(NcclResult result, const void* config);
void AfterCommSplit(NcclComm parent, const NcclComm* child, int color, NcclResult result, const void* config);
void BeforeCommEnd(NcclComm comm);
void BeforeCommAbort(NcclComm comm);
void BeforeUngateable(base::WatchReason why);

struct Collective {
  template <NcclHook kHook, typename... Arguments>
  static NcclResult Run(Arguments... arguments) {
    BeforeCollective(kHook, Describe(arguments...));
    return CallNccl<kHook>(arguments...);
  }
};

// Handles a call like its plain twin. The tokens of both are the same, because ranks may mix the two.
template <NcclHook kTwin>
struct CollectiveLike {
  template <NcclHook kHook, typename... Arguments>
  static NcclResult Run(Arguments... arguments) {
    BeforeCollective(InFile(kTwin, FileOf(kHook)), DescribeConfigured(arguments...));
    return CallNccl<kHook>(arguments...);
  }
};

// Handles a call after which the process takes no turns, for this reason.
template <base::WatchReason kReason>
struct Ungateable {
  template <NcclHook kHook, typename... Arguments>
  static NcclResult Run(Arguments... arguments) {
    BeforeUngateable(kReason);
    return CallNccl<kHook>(arguments...);
  }
};
using OneSided = Ungateable<base::WatchReason::kOneSided>;
using DeviceSided = Ungateable<base::WatchReason::kDeviceSided>;

// These policies mark the thread as inside NCCL during the call, and count the groups that it is inside.
struct GroupStart {
  template <NcclHook kHook>
  static NcclResult Run() {
    const NcclResult result = CallNccl<kHook>();
    if (result == kNcclSuccess) ++session::nccl_groups;
    return result;
  }
};
struct GroupEnd {
  template <NcclHook kHook>
  static NcclResult Run() {
    if (session::nccl_groups > 0) --session::nccl_groups;
    return CallNccl<kHook>();
  }
};

struct CommInitRank {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm* comm, int ranks, NcclUniqueId id, int rank) {
    const NcclResult result = CallNccl<kHook>(comm, ranks, id, rank);
    if (comm != nullptr) AfterCommInit(*comm, ranks, rank, result, nullptr, &id);
    return result;
  }
  template <NcclHook kHook>
  static NcclResult Run(NcclComm* comm, int ranks, NcclUniqueId id, int rank, void* config) {
    const NcclResult result = CallNccl<kHook>(comm, ranks, id, rank, config);
    if (comm != nullptr) AfterCommInit(*comm, ranks, rank, result, config, &id);
    return result;
  }
};

struct CommInitRankScalable {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm* comm, int ranks, int rank, int ids, NcclUniqueId* id, void* config) {
    const NcclResult result = CallNccl<kHook>(comm, ranks, rank, ids, id, config);
    if (comm != nullptr) AfterCommInit(*comm, ranks, rank, result, config, ids > 0 ? id : nullptr);
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

// Handles a call that makes a communicator from another. kConfig is the index of its settings among the
// arguments.
template <std::size_t kConfig>
struct CommDerived {
  template <NcclHook kHook, typename... Arguments>
  static NcclResult Run(Arguments... arguments) {
    const NcclResult result = CallNccl<kHook>(arguments...);
    AfterCommDerived(result, std::get<kConfig>(std::make_tuple(arguments...)));
    return result;
  }
};

struct CommSplit {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm parent, int color, int key, NcclComm* child, void* config) {
    const NcclResult result = CallNccl<kHook>(parent, color, key, child, config);
    AfterCommSplit(parent, child, color, result, config);
    return result;
  }
};

struct CommShrink {
  template <NcclHook kHook>
  static NcclResult Run(NcclComm parent, int* excluded, int count, NcclComm* child, void* config, int flags) {
    const NcclResult result = CallNccl<kHook>(parent, excluded, count, child, config, flags);
    AfterCommSplit(parent, child, 0, result, config);
    return result;
  }
};

struct CommEnd {
  template <NcclHook kHook, typename... Flags>
  static NcclResult Run(NcclComm comm, Flags... flags) {
    BeforeCommEnd(comm);
    return CallNccl<kHook>(comm, flags...);
  }
};

// Handles an abort, which ends all waits for a collective that hangs. So this must not wait before it.
struct CommAbort {
  template <NcclHook kHook, typename... Flags>
  static NcclResult Run(NcclComm comm, Flags... flags) {
    BeforeCommAbort(comm);
    return CallNccl<kHook>(comm, flags...);
  }
};

}  // namespace crossover::hooks
