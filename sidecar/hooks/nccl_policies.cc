#include "sidecar/hooks/nccl_policies.h"

#include <stdlib.h>
#include <string.h>

#include "sidecar/hooks/activation.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::hooks {
namespace {

constexpr auto kNonBlocking = base::WatchReason::kNonBlocking;

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
int Meet(NcclComm comm, std::size_t file) {
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
  const int ranks = Meet(call.comm, FileOf(hook));
  call.token.function = static_cast<std::uint32_t>(RowOf(hook));
  const auto stream = static_cast<CUstream>(call.stream);
  session::TheSession().BeforeCollective(call.comm, call.token,
                                         session::KeyOf(stream, session::Flavour::kLegacy), ranks);
}

void AfterCommInit(NcclComm comm, int ranks, int rank, NcclResult result, const void* config) {
  if (!Active() || (result != kNcclSuccess && result != kNcclInProgress)) return;
  if (ranks >= 2 && NonBlocking(result, config)) session::TheSession().ObserveOnly(kNonBlocking);
  if (comm != nullptr) OnCommunicator(comm, ranks, rank);
}

void AfterCommInitAll(const NcclComm* comms, int devices) {
  if (!Active()) return;
  if (devices > 1) session::TheSession().ObserveOnly(base::WatchReason::kSeveralGpus);
  for (int i = 0; i < devices; ++i) session::TheSession().OnCommunicator(comms[i], devices);
}

// Does not add the new communicator, which Meet() adds at its first collective: a split inside a group has
// not happened yet.
void AfterCommDerived(NcclResult result, const void* config) {
  if (!Active()) return;
  if (NonBlocking(result, config)) session::TheSession().ObserveOnly(kNonBlocking);
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
