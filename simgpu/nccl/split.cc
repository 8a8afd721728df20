// Implements ncclCommSplit: ranks of the same colour form a new communicator, in the order of their keys.
#include <algorithm>

#include "simgpu/nccl/export.h"
#include "simgpu/nccl/group.h"
#include "simgpu/nccl/host_gather.h"
#include "simgpu/nccl/log.h"

namespace {

using simgpu::nccl::Config;
using simgpu::nccl::GatherOnHosts;
using simgpu::nccl::Group;
using simgpu::nccl::Refuse;
using simgpu::nccl::SetUp;

// A Choice is what one rank asks for.
struct Choice {
  int color;
  int key;
  int rank;  // in the parent
};

// Returns the ranks of one colour, in their new order.
std::vector<Choice> Companions(std::vector<Choice> choices, int color) {
  std::erase_if(choices, [color](const Choice& choice) { return choice.color != color; });
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.key < b.key; });
  return choices;
}

// Splits a communicator in two exchanges. In the first, each rank says what it wants. In the second, the
// first rank of each colour says where the others find it.
ncclResult_t Split(ncclComm* parent, int color, int key, const Config& config, ncclComm_t* handle) {
  const simgpu::nccl::ScopedContext scope(parent->driver(), parent->context());
  std::vector<Choice> choices;
  ncclResult_t result = GatherOnHosts("CommSplit", parent, Choice{color, key, parent->rank()}, &choices);
  if (result != ncclSuccess) return result;
  const auto companions = color < 0 ? std::vector<Choice>() : Companions(choices, color);
  ncclUniqueId mine{};
  std::string error;
  if (!companions.empty() && companions.front().rank == parent->rank() &&
      !simgpu::nccl::StartRoot(&mine, &error)) {
    return Refuse(ncclSystemError, error);
  }
  std::vector<ncclUniqueId> ids;
  result = GatherOnHosts("CommSplit", parent, mine, &ids);
  if (result != ncclSuccess || companions.empty()) return result;

  const auto self = std::find_if(companions.begin(), companions.end(),
                                 [&](const Choice& choice) { return choice.rank == parent->rank(); });
  std::unique_ptr<ncclComm> made;
  result = ncclComm::Make(static_cast<int>(companions.size()), static_cast<int>(self - companions.begin()),
                          config, &made);
  if (result == ncclSuccess) result = made->Join(ids[static_cast<std::size_t>(companions.front().rank)]);
  if (result == ncclSuccess) *handle = made.release();
  return result;
}

}  // namespace

SIMGPU_NCCL_EXPORT(ncclResult_t, CommSplit, ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                   ncclConfig_t* config) {
  if (const ncclResult_t result = simgpu::nccl::CheckComm("CommSplit", comm); result != ncclSuccess)
    return result;
  if (newcomm == nullptr) return Refuse(ncclInvalidArgument, "CommSplit: newcomm is null");
  if (color < NCCL_SPLIT_NOCOLOR) {
    return Refuse(ncclInvalidArgument, "CommSplit: color " + std::to_string(color) +
                                           " is neither NCCL_SPLIT_NOCOLOR nor at least 0");
  }
  *newcomm = nullptr;
  Config chosen = comm->config();
  std::string error;
  if (!ReadConfigOfChild(config, &chosen, &error)) return Refuse(ncclInvalidArgument, error);
  Group& group = Group::OfThisThread();
  group.Start();
  // The parent reports the state of the work. The new handle appears when all is done.
  group.Add(SetUp{comm, comm->blocking(),
                  [comm, color, key, chosen, newcomm] { return Split(comm, color, key, chosen, newcomm); }});
  return group.End();
}
