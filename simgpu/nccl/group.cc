#include "simgpu/nccl/group.h"

#include <algorithm>

#include "simgpu/nccl/log.h"
#include "simgpu/nccl/thread.h"

namespace simgpu::nccl {

namespace {

// Runs all set-ups at the same time, because they wait for each other. Returns the first failure, else
// ncclInProgress if any goes on, else ncclSuccess.
ncclResult_t RunSetUps(const std::vector<SetUp>& set_ups) {
  std::vector<ncclResult_t> results(set_ups.size(), ncclSuccess);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < set_ups.size(); ++i) {
    const SetUp& set_up = set_ups[i];
    if (set_up.comm != nullptr) set_up.comm->JobBegins();
    if (!set_up.blocking) {
      results[i] = ncclInProgress;
      StartThread([set_up] {
        const ncclResult_t result = set_up.run();
        if (set_up.comm != nullptr) set_up.comm->JobEnds(result);
      }).detach();
    } else {
      threads.push_back(StartThread([&set_up, &result = results[i]] {
        result = set_up.run();
        if (set_up.comm != nullptr) set_up.comm->JobEnds(result);
      }));
    }
  }
  for (std::thread& thread : threads) thread.join();
  const auto failed = std::find_if(results.begin(), results.end(),
                                   [](ncclResult_t r) { return r != ncclSuccess && r != ncclInProgress; });
  if (failed != results.end()) return *failed;
  const bool going_on = std::find(results.begin(), results.end(), ncclInProgress) != results.end();
  return going_on ? ncclInProgress : ncclSuccess;
}

template <typename Batches>
ncclResult_t LaunchAll(const Batches& batches) {
  ncclResult_t first = ncclSuccess;
  for (const auto& batch : batches) {
    const ncclResult_t result = batch.comm->Launch(batch.calls);
    if (first == ncclSuccess) first = result;
  }
  return first;
}

}  // namespace

Group& Group::OfThisThread() {
  thread_local Group group;
  return group;
}

void Group::Add(ncclComm* comm, const PendingCall& call) {
  auto batch =
      std::find_if(batches_.begin(), batches_.end(), [comm](const Batch& b) { return b.comm == comm; });
  if (batch == batches_.end()) batch = batches_.insert(batch, {comm, {}});
  batch->calls.push_back(call);
}

ncclResult_t Group::Spoil(ncclResult_t result) {
  if (spoilt_ == ncclSuccess) spoilt_ = result;
  return result;
}

ncclResult_t Group::End() {
  if (depth_ == 0) return Refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--depth_ > 0) return ncclSuccess;
  const ncclResult_t spoilt = std::exchange(spoilt_, ncclSuccess);
  const auto set_ups = std::exchange(set_ups_, {});
  const auto batches = std::exchange(batches_, {});
  if (spoilt != ncclSuccess) return spoilt;
  const ncclResult_t made = RunSetUps(set_ups);
  if (batches.empty() || (made != ncclSuccess && made != ncclInProgress)) return made;

  const bool blocking =
      std::all_of(batches.begin(), batches.end(), [](const Batch& b) { return b.comm->blocking(); });
  if (blocking) return LaunchAll(batches);
  for (const Batch& batch : batches) batch.comm->JobBegins();
  StartThread([batches] {
    const ncclResult_t result = LaunchAll(batches);
    for (const Batch& batch : batches) batch.comm->JobEnds(result);
  }).detach();
  return ncclInProgress;
}

}  // namespace simgpu::nccl
