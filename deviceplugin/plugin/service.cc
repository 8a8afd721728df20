#include "deviceplugin/plugin/service.h"

#include <google/protobuf/repeated_ptr_field.h>

#include "common/logging/log.h"
#include "deviceplugin/plugin/preference.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kHealthy[] = "Healthy";
constexpr char kUnhealthy[] = "Unhealthy";
// ListAndWatch() notices within this time that the kubelet has dropped its stream.
constexpr std::chrono::milliseconds kLookAtStream{250};

using Texts = google::protobuf::RepeatedPtrField<std::string>;

std::vector<DeviceId> Parsed(const Texts& texts) {
  std::vector<DeviceId> ids;
  for (const std::string& text : texts) {
    if (auto id = ParseDeviceId(text)) ids.push_back(*std::move(id));
  }
  return ids;
}

void Fill(const DeviceList::Gpus& gpus, v1beta1::ListAndWatchResponse* response) {
  for (const auto& [uuid, gpu] : gpus) {
    for (const std::uint32_t slot : NumbersOf(gpu)) {
      v1beta1::Device* device = response->add_devices();
      device->set_id(Text({uuid, slot}));
      device->set_health(gpu.healthy ? kHealthy : kUnhealthy);
      if (gpu.numa) device->mutable_topology()->add_nodes()->set_id(*gpu.numa);
    }
  }
}

void Fill(const Allocation& allocation, v1beta1::ContainerAllocateResponse* response) {
  for (const auto& [name, value] : allocation.environment) (*response->mutable_envs())[name] = value;
  for (const Mount& mount : allocation.mounts) {
    v1beta1::Mount* wire = response->add_mounts();
    wire->set_container_path(mount.container_path);
    wire->set_host_path(mount.host_path);
    wire->set_read_only(mount.read_only);
  }
  for (const std::string& file : allocation.device_files) {
    v1beta1::DeviceSpec* wire = response->add_devices();
    wire->set_container_path(file);
    wire->set_host_path(file);
    wire->set_permissions("rw");
  }
  for (const std::string& name : allocation.cdi_names) response->add_cdi_devices()->set_name(name);
}

std::map<std::string, AllocatableGpu> Allocatable(const DeviceList::Gpus& gpus) {
  std::map<std::string, AllocatableGpu> allocatable;
  for (const auto& [uuid, gpu] : gpus) allocatable.emplace(uuid, gpu.gpu);
  return allocatable;
}

}  // namespace

grpc::Status SlotService::GetDevicePluginOptions(grpc::ServerContext* /*context*/,
                                                 const v1beta1::Empty* /*request*/,
                                                 v1beta1::DevicePluginOptions* response) {
  response->set_get_preferred_allocation_available(true);
  return grpc::Status::OK;
}

grpc::Status SlotService::ListAndWatch(grpc::ServerContext* context, const v1beta1::Empty* /*request*/,
                                       grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) {
  ++streams_;
  ++streams_begun_;
  std::uint64_t version = 0;
  while (!context->IsCancelled() && !stopping_) {
    const std::uint64_t now = devices_->version();
    if (now != version) {
      version = now;
      v1beta1::ListAndWatchResponse response;
      Fill(devices_->gpus(), &response);
      if (!writer->Write(response)) break;
    }
    devices_->AwaitChange(version, kLookAtStream);
  }
  --streams_;
  return grpc::Status::OK;
}

grpc::Status SlotService::GetPreferredAllocation(grpc::ServerContext* /*context*/,
                                                 const v1beta1::PreferredAllocationRequest* request,
                                                 v1beta1::PreferredAllocationResponse* response) {
  for (const auto& container : request->container_requests()) {
    v1beta1::ContainerPreferredAllocationResponse* answer = response->add_container_responses();
    if (container.allocation_size() <= 0) continue;
    Choice choice;
    choice.available = Parsed(container.available_deviceids());
    choice.must_include = Parsed(container.must_include_deviceids());
    choice.count = static_cast<std::size_t>(container.allocation_size());
    if (assigned_) choice.assigned = assigned_(choice.count);
    for (const DeviceId& id : Prefer(choice)) answer->add_deviceids(Text(id));
  }
  return grpc::Status::OK;
}

grpc::Status SlotService::Allocate(grpc::ServerContext* /*context*/, const v1beta1::AllocateRequest* request,
                                   v1beta1::AllocateResponse* response) {
  const auto gpus = Allocatable(devices_->gpus());
  AllocationSettings settings;
  {
    const std::lock_guard lock(mutex_);
    settings = settings_;
  }
  for (const auto& container : request->container_requests()) {
    const std::vector<std::string> ids(container.devices_ids().begin(), container.devices_ids().end());
    auto outcome = deviceplugin::Allocate(ids, gpus, settings);
    if (const auto* refused = std::get_if<AllocationRefused>(&outcome)) {
      ++refusals_;
      logging::Warn("allocate: " + refused->reason);
      return {grpc::StatusCode::FAILED_PRECONDITION, "crossover: " + refused->reason};
    }
    auto& allocation = std::get<Allocation>(outcome);
    // NVIDIA's runtime makes files that are missing. Without that runtime they have to be there.
    if (settings.devices == DeviceStrategy::kEnvironment) DropAbsent(&allocation);
    Fill(allocation, response->add_container_responses());
  }
  allocations_ += static_cast<std::uint64_t>(request->container_requests_size());
  return grpc::Status::OK;
}

// Leaves out device files that the node does not have. Logs each of them once.
void SlotService::DropAbsent(Allocation* allocation) {
  for (const std::string& file : DropAbsentFiles(root_, allocation)) {
    const std::lock_guard lock(mutex_);
    if (!absent_.insert(file).second) continue;
    logging::Warn("allocate: " + file +
                  ": expected on the node, got no such file: NVIDIA's runtime may still give it to "
                  "containers, and they lose it when systemd reloads its units or a pod is resized");
  }
}

grpc::Status SlotService::PreStartContainer(grpc::ServerContext* /*context*/,
                                            const v1beta1::PreStartContainerRequest* /*request*/,
                                            v1beta1::PreStartContainerResponse* /*response*/) {
  return grpc::Status::OK;
}

void SlotService::Set(AllocationSettings settings) {
  const std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
}

void SlotService::Stop() {
  stopping_ = true;
  devices_->Interrupt();
}

}  // namespace crossover::deviceplugin
