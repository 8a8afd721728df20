#include "sidecar/hooks/nccl_policies.h"

#include <stdlib.h>
#include <string.h>

#include "sidecar/hooks/bootstrap.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::hooks {
namespace {

constexpr auto kNonBlocking = base::WatchReason::kNonBlocking;

// Returns the function that the arbiter knows for a row of the table, or 0.
std::uint32_t FunctionOf(NcclHook row) {
  switch (row) {
    case NcclHook::k_ncclAllReduce:
      return CROSSOVER_ALL_REDUCE;
    case NcclHook::k_ncclBroadcast:
    case NcclHook::k_ncclBcast:
      return CROSSOVER_BROADCAST;
    case NcclHook::k_ncclReduce:
      return CROSSOVER_REDUCE;
    case NcclHook::k_ncclAllGather:
      return CROSSOVER_ALL_GATHER;
    case NcclHook::k_ncclReduceScatter:
      return CROSSOVER_REDUCE_SCATTER;
    case NcclHook::k_ncclSend:
      return CROSSOVER_SEND;
    case NcclHook::k_ncclRecv:
      return CROSSOVER_RECV;
    case NcclHook::k_ncclAlltoAll:
      return CROSSOVER_ALL_TO_ALL;
    case NcclHook::k_ncclGather:
      return CROSSOVER_GATHER;
    case NcclHook::k_ncclScatter:
      return CROSSOVER_SCATTER;
    default:
      return 0;
  }
}

// Returns the size of a value of ncclDataType_t, in bytes; 0 for a type of a later version.
std::uint64_t SizeOf(std::uint32_t type) {
  constexpr std::uint8_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type < sizeof kSizes ? kSizes[type] : 0;
}

// Returns what the arbiter learns of a call.
phase::Call CallOf(NcclHook row, const phase::Token& token) {
  phase::Call call{FunctionOf(row), CROSSOVER_NO_PEER, token.count * SizeOf(token.datatype)};
  const bool reduces = call.function == CROSSOVER_ALL_REDUCE || call.function == CROSSOVER_REDUCE_SCATTER;
  const bool of_all = call.function == CROSSOVER_ALL_GATHER || call.function == CROSSOVER_ALL_TO_ALL;
  if (call.function == CROSSOVER_REDUCE)
    call.peer = static_cast<std::uint32_t>(token.root);
  else if (!reduces && !of_all)
    call.peer = static_cast<std::uint32_t>(token.op_or_root);
  return call;
}

bool NonBlocking(NcclResult result, const void* config) {
  if (result == kNcclInProgress) return true;
  const auto* head = static_cast<const NcclConfigHead*>(config);
  if (head != nullptr && head->magic == kNcclConfigMagic && head->size >= sizeof *head) {
    if (head->blocking == 0) return true;
    if (head->blocking == 1) return false;
  }
  const char* blocking = getenv("NCCL_COMM_BLOCKING");
  return blocking != nullptr && strcmp(blocking, "0") == 0;
}

// Adds a communicator at its first collective, if the program made it by a function that the table lacks.
// Returns the number of its ranks, or 0 if it was known already or NCCL does not tell.
int Register(NcclComm comm, std::size_t file) {
  if (comm == nullptr || session::TheSession().Knows(comm)) return 0;
  const auto count = reinterpret_cast<PFN_ncclCommCount>(FindNcclSymbol(file, "ncclCommCount"));
  const auto rank_of = reinterpret_cast<PFN_ncclCommCount>(FindNcclSymbol(file, "ncclCommUserRank"));
  const session::InsideNccl inside;
  const auto gpu_of = reinterpret_cast<PFN_ncclCommCount>(FindNcclSymbol(file, "ncclCommCuDevice"));
  int ranks = 0;
  int rank = 0;
  int gpu = kCurrentGpu;
  if (count == nullptr || count(comm, &ranks) != kNcclSuccess) return 0;
  if (rank_of == nullptr || rank_of(comm, &rank) != kNcclSuccess) rank = 0;
  if (gpu_of == nullptr || gpu_of(comm, &gpu) != kNcclSuccess) gpu = kCurrentGpu;
  OnCommunicator(comm, ranks, rank, gpu);
  return ranks;
}

}  // namespace

void BeforeCollective(NcclHook hook, CollectiveCall call) {
  if (!Active()) return;
  const int ranks = Register(call.comm, FileOf(hook));
  call.token.function = static_cast<std::uint32_t>(RowOf(hook));
  const auto stream = static_cast<CUstream>(call.stream);
  session::TheSession().BeforeCollective(call.comm, call.token,
                                         session::KeyOf(stream, session::Flavour::kLegacy), ranks,
                                         CallOf(RowOf(hook), call.token));
}

void AfterCommInit(NcclComm comm, int ranks, int rank, NcclResult result, const void* config,
                   const NcclUniqueId* id) {
  if (!Active() || (result != kNcclSuccess && result != kNcclInProgress)) return;
  if (ranks >= 2 && NonBlocking(result, config)) session::TheSession().ObserveOnly(kNonBlocking);
  if (comm == nullptr) return;
  if (id != nullptr) session::TheSession().OnCommunicatorId(comm, id->internal);
  OnCommunicator(comm, ranks, rank);
}

void AfterCommInitAll(const NcclComm* comms, int devices) {
  if (!Active()) return;
  if (devices > 1) session::TheSession().ObserveOnly(base::WatchReason::kSeveralGpus);
  for (int i = 0; i < devices; ++i) session::TheSession().OnCommunicator(comms[i], devices);
}

// Does not add the new communicator, which Register() adds at its first collective: a split inside a group
// has not happened yet.
void AfterCommDerived(NcclResult result, const void* config) {
  if (!Active()) return;
  if (NonBlocking(result, config)) session::TheSession().ObserveOnly(kNonBlocking);
}

// If the call is inside a group, the child does not exist yet, and gets no number.
void AfterCommSplit(NcclComm parent, const NcclComm* child, int color, NcclResult result,
                    const void* config) {
  AfterCommDerived(result, config);
  if (!Active() || (result != kNcclSuccess && result != kNcclInProgress)) return;
  const bool exists = result == kNcclSuccess && session::nccl_groups == 0 && child != nullptr;
  session::TheSession().OnCommunicatorSplit(parent, exists ? *child : nullptr, color);
}

void BeforeUngateable(base::WatchReason why) {
  if (Active()) session::TheSession().ObserveOnly(why);
}

void BeforeCommEnd(NcclComm comm) {
  if (Active()) session::TheSession().OnCommunicatorEnd(comm);
}

void BeforeCommAbort(NcclComm comm) {
  if (Active()) session::TheSession().OnCommunicatorAbort(comm);
}

}  // namespace crossover::hooks
