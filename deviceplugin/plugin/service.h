// Implements the DevicePlugin service that the kubelet calls.
//
// No call may fail because of a problem of ours: the kubelet would reject the pod for good. No call may
// block for long: the kubelet admits no other pod meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/plugin/allocation.h"
#include "deviceplugin/plugin/device_files.h"
#include "deviceplugin/plugin/device_list.h"
#include "proto/kubelet/deviceplugin.grpc.pb.h"

namespace crossover::deviceplugin {

class SlotService final : public v1beta1::DevicePlugin::Service {
 public:
  // Returns the UUIDs of the GPUs that are assigned to the container that the kubelet admits now. `slots` is
  // the number of slots that the container asks for. Blocks for about 200 ms at most. Returns an empty list
  // if it cannot find out which container that is.
  using Assigned = std::function<std::vector<std::string>(std::size_t slots)>;

  // `root` is the folder under which the root folder of the node is (device_files.h). REQUIRES: `devices`
  // outlives this object.
  SlotService(DeviceList* devices, AllocationSettings settings, Assigned assigned,
              std::string root = RootOfNode())
      : devices_(devices),
        root_(std::move(root)),
        settings_(std::move(settings)),
        assigned_(std::move(assigned)) {}

  grpc::Status GetDevicePluginOptions(grpc::ServerContext* context, const v1beta1::Empty* request,
                                      v1beta1::DevicePluginOptions* response) override;
  grpc::Status ListAndWatch(grpc::ServerContext* context, const v1beta1::Empty* request,
                            grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) override;
  grpc::Status GetPreferredAllocation(grpc::ServerContext* context,
                                      const v1beta1::PreferredAllocationRequest* request,
                                      v1beta1::PreferredAllocationResponse* response) override;
  grpc::Status Allocate(grpc::ServerContext* context, const v1beta1::AllocateRequest* request,
                        v1beta1::AllocateResponse* response) override;
  grpc::Status PreStartContainer(grpc::ServerContext* context,
                                 const v1beta1::PreStartContainerRequest* request,
                                 v1beta1::PreStartContainerResponse* response) override;

  // Sets the settings for later allocations. May be called from any thread.
  void Set(AllocationSettings settings);

  // Returns the number of open ListAndWatch streams. If it is 0, the kubelet has lost us.
  int streams() const { return streams_.load(); }
  // Returns the number of streams that were ever opened.
  std::uint64_t streams_begun() const { return streams_begun_.load(); }
  // allocations() returns the number of containers that got slots, and refusals() the number of requests that
  // were refused.
  std::uint64_t allocations() const { return allocations_.load(); }
  std::uint64_t refusals() const { return refusals_.load(); }
  // Start() allows streams; call it before a server is made from this service. Stop() ends all streams and
  // allows no new ones; call it before the server is shut down.
  void Start() { stopping_ = false; }
  void Stop();

 private:
  void DropAbsent(Allocation* allocation);

  DeviceList* devices_;
  const std::string root_;
  std::mutex mutex_;              // guards settings_ and absent_
  std::set<std::string> absent_;  // device files that the log has named
  AllocationSettings settings_;
  Assigned assigned_;
  std::atomic<int> streams_{0};
  std::atomic<std::uint64_t> streams_begun_{0};
  std::atomic<std::uint64_t> allocations_{0};
  std::atomic<std::uint64_t> refusals_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace crossover::deviceplugin
