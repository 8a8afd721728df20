// The DevicePlugin service that a kubelet calls.
//
// No call of it may fail for our own sake: a kubelet rejects the pod then, for good. And none may wait: the
// kubelet admits no other pod meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "deviceplugin/plugin/allocation.h"
#include "deviceplugin/plugin/device_list.h"
#include "proto/kubelet/deviceplugin.grpc.pb.h"

namespace crossover::deviceplugin {

class SlotService final : public v1beta1::DevicePlugin::Service {
 public:
  // Which GPUs the container that is being admitted now is to have, if that can be told from how many slots
  // it asks for. Answers within 200 ms; empty where it cannot be told.
  using Assigned = std::function<std::vector<std::string>(std::size_t slots)>;

  // `devices` outlives it.
  SlotService(DeviceList* devices, AllocationSettings settings, Assigned assigned)
      : devices_(devices), settings_(std::move(settings)), assigned_(std::move(assigned)) {}

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

  // Of allocations from now on. From any thread.
  void Set(AllocationSettings settings);

  // Streams of ListAndWatch that are open: a kubelet that holds none has lost us.
  int streams() const { return streams_.load(); }
  // Such streams that have begun since the service was made.
  std::uint64_t streams_begun() const { return streams_begun_.load(); }
  // Containers that were answered with slots, and that were refused.
  std::uint64_t allocations() const { return allocations_.load(); }
  std::uint64_t refusals() const { return refusals_.load(); }
  // Streams may begin, before a server is made of it; they end, and no more begin, before the server is shut
  // down.
  void Start() { stopping_ = false; }
  void Stop();

 private:
  DeviceList* devices_;
  std::mutex mutex_;  // over settings_
  AllocationSettings settings_;
  Assigned assigned_;
  std::atomic<int> streams_{0};
  std::atomic<std::uint64_t> streams_begun_{0};
  std::atomic<std::uint64_t> allocations_{0};
  std::atomic<std::uint64_t> refusals_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace crossover::deviceplugin
