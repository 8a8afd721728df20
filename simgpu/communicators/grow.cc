// Implements ncclCommGetUniqueId and ncclCommGrow: a new communicator has all ranks of an old one, with the
// ranks that they had, and new ranks besides. One of the old ranks, the root, makes the unique ID and tells
// it to all others.
#include <algorithm>

#include "simgpu/nccl/export.h"
#include "simgpu/nccl/group.h"
#include "simgpu/nccl/host_gather.h"
#include "simgpu/nccl/log.h"

namespace {

using simgpu::nccl::CheckComm;
using simgpu::nccl::Config;
using simgpu::nccl::GatherOnHosts;
using simgpu::nccl::Group;
using simgpu::nccl::Refuse;
using simgpu::nccl::SetUp;

// An Offer is what one old rank tells the others: how many ranks it expects, and the ID if it is the root.
struct Offer {
  int ranks;
  int is_root;
  ncclUniqueId id;
};

// Finds the root's offer. Returns null, with the reason in *error, if the old ranks do not agree.
const Offer* FindRoot(const std::vector<Offer>& offers, std::string* error) {
  const Offer* root = nullptr;
  for (const Offer& offer : offers) {
    if (offer.ranks != offers.front().ranks) {
      *error = "rank 0 says nRanks is " + std::to_string(offers.front().ranks) + ", another rank said " +
               std::to_string(offer.ranks);
      return nullptr;
    }
    if (offer.is_root == 0) continue;
    if (root != nullptr) {
      *error = "expected one rank with a uniqueId, got two";
      return nullptr;
    }
    root = &offer;
  }
  if (root == nullptr) *error = "expected one rank with a uniqueId, got none";
  return root;
}

ncclResult_t Grow(ncclComm* parent, const Offer& mine, const Config& config, ncclComm_t* handle) {
  const simgpu::nccl::ScopedContext scope(parent->driver(), parent->context());
  std::vector<Offer> offers;
  ncclResult_t result = GatherOnHosts("CommGrow", parent, mine, &offers);
  if (result != ncclSuccess) return result;
  std::string error;
  const Offer* root = FindRoot(offers, &error);
  if (root == nullptr) return Refuse(ncclInvalidUsage, "CommGrow: " + error);
  std::unique_ptr<ncclComm> made;
  result = ncclComm::Make(mine.ranks, parent->rank(), config, &made);
  if (result == ncclSuccess) result = made->Join(root->id);
  if (result != ncclSuccess) return result;
  parent->InvitationUsed();
  *handle = made.release();
  return ncclSuccess;
}

ncclResult_t GrowOld(ncclComm* comm, const Offer& mine, ncclComm_t* newcomm, ncclConfig_t* given) {
  if (const ncclResult_t result = CheckComm("CommGrow", comm); result != ncclSuccess) return result;
  if (mine.ranks <= comm->ranks()) {
    return Refuse(ncclInvalidArgument, "CommGrow: nRanks: expected more than the " +
                                           std::to_string(comm->ranks()) + " ranks of comm, got " +
                                           std::to_string(mine.ranks));
  }
  Config chosen = comm->config();
  std::string error;
  if (!ReadConfigOfChild(given, &chosen, &error)) return Refuse(ncclInvalidArgument, error);
  Group& group = Group::OfThisThread();
  group.Start();
  group.Add(SetUp{comm, comm->blocking(),
                  [comm, mine, chosen, newcomm] { return Grow(comm, mine, chosen, newcomm); }});
  return group.End();
}

}  // namespace

SIMGPU_NCCL_EXPORT(ncclResult_t, CommGetUniqueId, ncclComm_t comm, ncclUniqueId* uniqueId) {
  if (const ncclResult_t result = CheckComm("CommGetUniqueId", comm); result != ncclSuccess) return result;
  if (uniqueId == nullptr) return Refuse(ncclInvalidArgument, "CommGetUniqueId: uniqueId is null");
  return comm->Invite(uniqueId);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommGrow, ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId,
                   int rank, ncclComm_t* newcomm, ncclConfig_t* config) {
  if (newcomm == nullptr) return Refuse(ncclInvalidArgument, "CommGrow: newcomm is null");
  *newcomm = nullptr;
  if (comm == nullptr) {
    if (uniqueId == nullptr) return Refuse(ncclInvalidArgument, "CommGrow: a new rank needs a uniqueId");
    return pncclCommInitRankConfig(newcomm, nRanks, *uniqueId, rank, config);
  }
  if (rank != -1) {
    return Refuse(ncclInvalidArgument,
                  "CommGrow: rank: expected -1 with a comm, whose ranks stay, got " + std::to_string(rank));
  }
  const Offer mine{nRanks, uniqueId != nullptr ? 1 : 0, uniqueId != nullptr ? *uniqueId : ncclUniqueId{}};
  return GrowOld(comm, mine, newcomm, config);
}
