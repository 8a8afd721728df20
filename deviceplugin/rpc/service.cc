#include "deviceplugin/rpc/service.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "common/base/refusal.h"
#include "deviceplugin/profiles/profile_messages.h"
#include "deviceplugin/rpc/api_messages.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

using grpc::Status;
using grpc::StatusCode;

constexpr double kMostSeconds = 1e6;
constexpr std::chrono::milliseconds kLookUp{200};  // a watcher that went away is noticed within this time

std::string Text(arbiter::Policy policy) { return std::string(PolicyName(policy)); }

// Returns what the request asks for, as a refusal prints it.
std::string Printed(const node::v1::SetModeRequest& request) {
  if (request.to_case() == node::v1::SetModeRequest::kConfigured) return "configured: false";
  return request.to_case() == node::v1::SetModeRequest::kMode ? std::to_string(request.mode()) : "nothing";
}

std::optional<arbiter::Policy> PolicyOf(node::v1::Mode mode) {
  switch (mode) {
    case node::v1::MODE_OFF:
      return arbiter::Policy::kOff;
    case node::v1::MODE_OBSERVE:
      return arbiter::Policy::kObserve;
    case node::v1::MODE_ENFORCE:
      return arbiter::Policy::kEnforce;
    default:
      return std::nullopt;
  }
}

// Adds a view of each GPU that has signallers, and that no client has named yet.
void AddGpusWithSignallers(const signals::ByGpu& signals, std::vector<GpuView>* views) {
  for (const auto& [uuid, figures] : signals) {
    const auto is_it = [&uuid = uuid](const GpuView& view) { return view.uuid == uuid; };
    if (figures.signallers == 0 || std::any_of(views->begin(), views->end(), is_it)) continue;
    views->emplace_back().uuid = uuid;
  }
}

}  // namespace

NodeService::NodeService(ApiServer::Backend backend)
    : backend_(std::move(backend)), started_(base::MonotonicNs()) {}

void NodeService::FillDaemon(const ModeSwitch::State& mode, node::v1::Daemon* daemon) const {
  daemon->set_version(backend_.version);
  daemon->set_pid(static_cast<std::uint32_t>(getpid()));
  daemon->set_uptime_s(static_cast<double>(base::MonotonicNs() - started_) / 1e9);
  daemon->set_mode(Text(mode.in_force));
  daemon->set_mode_configured(Text(mode.configured));
  if (!mode.limits.by.empty()) daemon->set_mode_limited_by(mode.limits.by);
  daemon->set_events_dropped(static_cast<std::uint32_t>(backend_.stats_store->dropped()));
  daemon->set_arbiter_socket(backend_.arbiter_socket);
  if (!backend_.mps_pipe_directory.empty()) daemon->set_mps_pipe_directory(backend_.mps_pipe_directory);
  const MpsNews mps = backend_.mps ? backend_.mps() : MpsNews();
  if (!mps.fault.empty()) daemon->set_mps_fault(mps.fault);
  if (!mps.unasked.empty()) daemon->set_mps_unasked(mps.unasked);
  if (mps.shm) daemon->set_mps_shm_bytes(mps.shm->bytes);
  if (mps.shm) daemon->set_mps_shm_free_bytes(mps.shm->free_bytes);
}

Status NodeService::GetTop(grpc::ServerContext*, const node::v1::GetTopRequest*, node::v1::Top* response) {
  const ModeSwitch::State mode = backend_.modes->mode();
  FillDaemon(mode, response->mutable_daemon());
  const signals::ByGpu signals = backend_.signals ? backend_.signals() : signals::ByGpu();
  std::vector<GpuView> views = backend_.stats_store->Gpus();
  AddGpusWithSignallers(signals, &views);
  for (const GpuView& view : views) {
    const auto held = mode.limits.held.find(view.uuid);
    node::v1::Gpu* gpu = response->add_gpus();
    Fill(view, held == mode.limits.held.end() ? "" : held->second, mode.in_force, gpu);
    if (const auto of_gpu = signals.find(view.uuid); of_gpu != signals.end())
      Fill(of_gpu->second, gpu->mutable_signals());
  }
  FillJobs(views, response);
  const Clocks now = Clocks::Now();
  for (node::v1::Job& job : *response->mutable_jobs()) {
    const auto profile =
        backend_.stats_store->Profile({.gang = job.gang(), .uid = job.uid(), .size = job.size()});
    if (profile) Fill(*profile, now, job.mutable_profile());
  }
  return Status::OK;
}

Status NodeService::ListTurns(grpc::ServerContext*, const node::v1::ListTurnsRequest* request,
                              node::v1::ListTurnsResponse* response) {
  const double seconds = request->seconds();
  if (!(seconds >= 0 && seconds <= kMostSeconds)) {
    return {StatusCode::INVALID_ARGUMENT,
            base::Refusal("seconds", "0 to 1000000", base::Shown(std::to_string(seconds)))};
  }
  const turn::Time now = base::MonotonicNs();
  const turn::Time since = seconds == 0 ? 0 : now - static_cast<turn::Time>(seconds * 1e9);
  response->set_now_s(static_cast<double>(now) / 1e9);
  for (const TurnView& view : backend_.stats_store->Turns(request->gpu_uuid(), since)) {
    Fill(view, response->add_turns());
  }
  return Status::OK;
}

Status NodeService::SetMode(grpc::ServerContext*, const node::v1::SetModeRequest* request,
                            node::v1::SetModeResponse* response) {
  const auto policy = PolicyOf(request->mode());
  const bool configured =
      request->to_case() == node::v1::SetModeRequest::kConfigured && request->configured();
  if (!policy && !configured) {
    return {StatusCode::INVALID_ARGUMENT,
            base::Refusal("mode", "off, observe or enforce, or configured: true", Printed(*request))};
  }
  const auto before = backend_.modes->Switch(policy);
  if (!before) return {StatusCode::UNAVAILABLE, "the daemon stops"};
  const ModeSwitch::State now = backend_.modes->mode();
  response->set_mode_before(Text(*before));
  response->set_mode(Text(now.in_force));
  response->set_mode_configured(Text(now.configured));
  if (!now.limits.by.empty()) response->set_mode_limited_by(now.limits.by);
  return Status::OK;
}

Status NodeService::ListProfiles(grpc::ServerContext*, const node::v1::ListProfilesRequest*,
                                 node::v1::ListProfilesResponse* response) {
  if (backend_.profiles == nullptr) return Status::OK;
  response->set_directory(backend_.profiles->directory());
  const Clocks now = Clocks::Now();
  for (const JobProfile& profile : backend_.profiles->All()) Fill(profile, now, response->add_profiles());
  return Status::OK;
}

Status NodeService::WatchTurns(grpc::ServerContext* context, const node::v1::WatchTurnsRequest* request,
                               grpc::ServerWriter<node::v1::TurnEvent>* writer) {
  const auto subscription = backend_.stats_store->Watch();
  if (subscription == nullptr) {
    return {StatusCode::RESOURCE_EXHAUSTED,
            base::Refusal("watchers of turns", "at most " + std::to_string(StatsStore::kMostWatchers),
                          "one more")};
  }
  node::v1::TurnEvent first;
  first.set_event("watching");
  first.set_at_s(static_cast<double>(base::MonotonicNs()) / 1e9);
  bool open = writer->Write(first);
  std::uint64_t dropped = 0;
  while (open && !context->IsCancelled()) {
    const EventSubscription::Batch batch = subscription->Take(kLookUp);
    dropped += batch.dropped;
    for (const arbiter::Event& event : batch.events) {
      if (!request->gpu_uuid().empty() && event.gpu->uuid != request->gpu_uuid()) continue;
      node::v1::TurnEvent message;
      Fill(event, &message);
      message.set_dropped(static_cast<std::uint32_t>(std::exchange(dropped, 0)));
      open = writer->Write(message);
      if (!open) break;
    }
    if (batch.ended) break;
  }
  return Status::OK;
}

}  // namespace crossover::deviceplugin
