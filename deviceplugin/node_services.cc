#include "deviceplugin/node_services.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/names.h"
#include "common/logging/log.h"
#include "deviceplugin/inject/library_store.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // the kubelet admits no other pod meanwhile
constexpr std::chrono::seconds kDriftPeriod{1};
constexpr std::chrono::minutes kLibraryPeriod{10};
// Since a version was last installed: another daemon may just have begun to hand it out.
constexpr std::chrono::hours kLeastAge{1};

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
  return joined;
}

template <class T>
bool Among(const std::vector<T>& known, const T& one) {
  return std::find(known.begin(), known.end(), one) != known.end();
}

}  // namespace

NodeServices::NodeServices(const NodeSettings& settings, PodTable* pods)
    : settings_(settings),
      plugins_(settings.kubelet_directory + "/device-plugins"),
      table_(pods),
      gpus_({.slots_per_gpu = settings.slots_per_gpu,
             .quiet = std::chrono::seconds(settings.quiet_after_error_s)},
            &devices_),
      service_(&devices_, settings.allocation, [this](std::size_t slots) { return AssignmentOfNext(slots); }),
      pods_(settings.api_server, "/api/v1/pods?fieldSelector=spec.nodeName%3D" + settings.name, pods),
      plugin_({plugins_, base::kSlotResource}, &service_),
      drift_rounds_("xo-drift", kDriftPeriod, [this] { CompareWithKubelet(); }),
      library_rounds_("xo-library", kLibraryPeriod, [this] { CollectOldLibraries(); }) {}

std::shared_ptr<prometheus::Collectable> NodeServices::metrics() {
  return std::make_shared<NodeMetrics>([this] { return State(); });
}

std::vector<std::string> NodeServices::Missing() { return deviceplugin::Missing(State()); }

NodeState NodeServices::State() const {
  NodeState state;
  for (const auto& [uuid, gpu] : devices_.gpus()) state.gpus[uuid] = {gpu.slots, gpu.healthy};
  state.xids = gpus_.xids();
  const Plugin::Status plugin = plugin_.status();
  state.registered = plugin.registered;
  state.registrations = plugin.registrations;
  state.registration_failures = plugin.failures;
  state.allocations = service_.allocations();
  state.refusals = service_.refusals();
  state.pods_known = pods_.synced();
  state.pods = table_->All().size();
  const std::lock_guard lock(mutex_);
  state.drifts = drifts_.size();
  state.collisions = collisions_.size();
  return state;
}

std::optional<std::vector<HandedOut>> NodeServices::HandedOutNow() const {
  return ReadCheckpoint(plugins_, base::kSlotResource);
}

// Of the container that the kubelet admits now.
std::vector<std::string> NodeServices::AssignmentOfNext(std::size_t slots) const {
  PodTable::Done done;
  for (const HandedOut& entry : HandedOutNow().value_or(std::vector<HandedOut>()))
    done.emplace(entry.pod_uid, entry.container);
  if (pods_.synced()) table_->AwaitOne(slots, done, kPatience);
  return table_->AssignedTo(slots, done);
}

// Says each difference once.
void NodeServices::CompareWithKubelet() {
  const auto handed_out = HandedOutNow();
  if (!handed_out || !pods_.synced()) return;
  const std::vector<Pod> pods = table_->All();
  std::vector<Drift> drifts = FindDrift(pods, *handed_out);
  std::vector<Collision> collisions = FindCollisions(pods, *handed_out);
  const std::lock_guard lock(mutex_);
  for (const Drift& drift : drifts) {
    if (Among(drifts_, drift)) continue;
    logging::Warn(drift.container + " has " + Joined(drift.given) + " and was assigned " +
                  Joined(drift.assigned));
  }
  for (const Collision& collision : collisions) {
    if (Among(collisions_, collision)) continue;
    logging::Error("gpu " + collision.gpu_uuid + " has several ranks of gang " + collision.gang + ": " +
                   Joined(collision.pods));
  }
  drifts_ = std::move(drifts);
  collisions_ = std::move(collisions);
}

// A version is used as long as the kubelet would answer a container with it again. It forgets those of pods
// that are gone.
void NodeServices::CollectOldLibraries() const {
  const auto handed_out = HandedOutNow();
  if (!handed_out) return;
  std::string answers;
  for (const HandedOut& entry : *handed_out) answers += entry.answer + "\n";
  const std::string& current = settings_.allocation.library_directory;
  for (const std::string& removed : CollectLibraries(settings_.host_directory, current, answers, kLeastAge))
    logging::Info(removed + ": no container has this version any more: removed");
}

}  // namespace crossover::deviceplugin
