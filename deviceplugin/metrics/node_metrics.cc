#include "deviceplugin/metrics/node_metrics.h"

#include <functional>

#include "common/metrics/families.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

using metrics::AddCounter;
using metrics::AddGauge;
using metrics::Family;
using metrics::Single;
using prometheus::MetricFamily;
using prometheus::MetricType;

double Number(std::uint64_t count) { return static_cast<double>(count); }

// Returns a family with one value of each GPU.
MetricFamily OfGpus(std::string name, std::string help, const NodeState& state,
                    const std::function<double(const NodeState::Gpu&)>& value) {
  MetricFamily family = Family(std::move(name), std::move(help), MetricType::Gauge);
  for (const auto& [uuid, gpu] : state.gpus) AddGauge(&family, {{"gpu_uuid", uuid}}, value(gpu));
  return family;
}

MetricFamily SlotsUsed(const NodeState& state) {
  MetricFamily family = Family(
      "crossover_slots_used", "Slots of a GPU that are held by pods that have not ended.", MetricType::Gauge);
  for (const auto& [uuid, gpu] : state.gpus) {
    if (gpu.used) AddGauge(&family, {{"gpu_uuid", uuid}}, Number(*gpu.used));
  }
  return family;
}

MetricFamily Xids(const Health::Xids& xids) {
  MetricFamily family = Family(
      "crossover_gpu_xids_total",
      "Errors that the driver reported (Xids); blames is gpu for those for which slots are withheld, else "
      "program.",
      MetricType::Counter);
  for (const auto& [key, count] : xids) {
    AddCounter(&family,
               {{"gpu_uuid", key.first},
                {"xid", std::to_string(key.second)},
                {"blames", BlamesTheGpu(key.second) ? "gpu" : "program"}},
               Number(count));
  }
  return family;
}

MetricFamily Allocations(const NodeState& state) {
  MetricFamily family =
      Family("crossover_allocations_total", "Containers for which the kubelet asked for slots, by outcome.",
             MetricType::Counter);
  AddCounter(&family, {{"outcome", "handed_out"}}, Number(state.allocations));
  AddCounter(&family, {{"outcome", "refused"}}, Number(state.refusals));
  return family;
}

MetricFamily MistypedSwitches(const NodeState& state) {
  MetricFamily family = Family("crossover_mistyped_switches",
                               "Switches that have no effect, because of their value or because they are "
                               "labels and not annotations, by the kind of object that has them.",
                               MetricType::Gauge);
  for (const auto& [kind, count] : state.mistyped_switches)
    AddGauge(&family, {{"kind", kind}}, Number(count));
  return family;
}

// Returns a family in which the mode in force has the value 1.
MetricFamily Mode(const NodeState& state) {
  MetricFamily family =
      Family("crossover_node_mode", "1 for the mode that is in force on the node.", MetricType::Gauge);
  for (const auto policy : {arbiter::Policy::kOff, arbiter::Policy::kObserve, arbiter::Policy::kEnforce})
    AddGauge(&family, {{"mode", std::string(PolicyName(policy))}}, state.mode == policy ? 1 : 0);
  return family;
}

MetricFamily SharingInfo(const NodeState& state) {
  MetricFamily family =
      Family("crossover_sharing_info", "How several jobs share a GPU of the node.", MetricType::Gauge);
  AddGauge(&family, {{"sharing", state.sharing}}, 1);
  return family;
}

MetricFamily Configuration(const NodeState& state) {
  MetricFamily family =
      Family("crossover_configuration_info", "Which of the named configurations holds; none: an empty name.",
             MetricType::Gauge);
  AddGauge(&family, {{"configuration", state.configuration}}, 1);
  return family;
}

}  // namespace

std::vector<std::string> Missing(const NodeState& state) {
  std::vector<std::string> missing;
  if (!state.registered)
    missing.emplace_back("this daemon is not registered with the kubelet: no slots are given out");
  if (!state.pods_known)
    missing.emplace_back("the API server does not tell the pods of this node: new pods take no turns");
  const bool reached = state.pods_known;  // else the line above says it all
  if (reached && !state.namespaces_known)
    missing.emplace_back(
        "namespaces cannot be watched: modes of namespaces and of the cluster that this daemon has not read "
        "have no effect");
  if (reached && !state.node_known)
    missing.emplace_back(
        "the Node object of this node cannot be watched: what this daemon has not read of its mode, "
        "maintenance and label has no effect");
  return missing;
}

namespace {

// Returns a family with one value, or with none if there is no such file system.
MetricFamily OfShm(const char* name, const char* help, const std::optional<ShmRoom>& room,
                   std::uint64_t ShmRoom::*value) {
  MetricFamily family = Family(name, help, MetricType::Gauge);
  if (room) AddGauge(&family, {}, Number((*room).*value));
  return family;
}

}  // namespace

std::vector<MetricFamily> NodeMetrics::Collect() const {
  const NodeState state = look_();
  const auto gauge = [](const char* name, const char* help, double value) {
    return Single(name, help, MetricType::Gauge, value);
  };
  const auto counter = [](const char* name, const char* help, std::uint64_t value) {
    return Single(name, help, MetricType::Counter, Number(value));
  };
  return {
      OfGpus("crossover_slots", "Slots of a GPU that are advertised to the kubelet.", state,
             [](const NodeState::Gpu& gpu) { return gpu.slots; }),
      SlotsUsed(state),
      OfGpus("crossover_gpu_healthy", "Whether a GPU's slots are given out.", state,
             [](const NodeState::Gpu& gpu) { return gpu.healthy ? 1 : 0; }),
      OfGpus("crossover_gpu_used_by_others", "Whether a process uses a GPU without a slot of this GPU.",
             state, [](const NodeState::Gpu& gpu) { return gpu.used_by_others ? 1 : 0; }),
      OfGpus("crossover_gpu_unhooked_processes",
             "Processes of pods with a slot of a GPU that use it and take no part in turns, except those "
             "that are switched off or share with none.",
             state, [](const NodeState::Gpu& gpu) { return gpu.unhooked; }),
      OfGpus("crossover_gpu_silent_processes",
             "Unhooked processes that have the library: it is off, is bypassed, or is not connected to the "
             "arbiter.",
             state, [](const NodeState::Gpu& gpu) { return gpu.silent; }),
      OfGpus("crossover_gpu_held",
             "Whether no turns are taken on a GPU: a process on it takes no part, two ranks of a gang are on "
             "it, or a slot of it was handed out twice.",
             state, [](const NodeState::Gpu& gpu) { return gpu.held ? 1 : 0; }),
      OfGpus(
          "crossover_gpu_pods_of_other_plugins",
          "Pods that have this GPU from another device plugin. A pod counts at each GPU of the node if its "
          "devices are not named by UUIDs.",
          state, [](const NodeState::Gpu& gpu) { return Number(gpu.pods_of_competitors); }),
      Xids(state.xids),
      Allocations(state),
      Mode(state),
      SharingInfo(state),
      Configuration(state),
      gauge("crossover_kubelet_registered", "Whether the kubelet knows our slots and listens.",
            state.registered ? 1 : 0),
      counter("crossover_kubelet_registrations_total", "Times that the kubelet was told of our slots.",
              state.registrations),
      counter("crossover_kubelet_registration_failures_total",
              "Times that the kubelet could not be told of our slots.", state.registration_failures),
      gauge("crossover_pods_known",
            "1 while the daemon receives changes of the pods of its node from the API server, else 0.",
            state.pods_known ? 1 : 0),
      gauge("crossover_namespaces_known",
            "1 while the daemon receives changes of namespaces from the API server, else 0. At 0, changed "
            "modes of namespaces and of the cluster have no effect. If it was 0 since the daemon began, none "
            "has.",
            state.namespaces_known ? 1 : 0),
      gauge("crossover_node_known",
            "1 while the daemon receives changes of its own Node object from the API server, else 0. At 0, "
            "changed switches of the node have no effect. If it was 0 since the daemon began, none has, and "
            "no slots are given out.",
            state.node_known ? 1 : 0),
      gauge("crossover_node_pods", "Pods of this node.", Number(state.pods)),
      gauge("crossover_assignment_drifts",
            "Containers to which the kubelet gave other GPUs than they were assigned.", Number(state.drifts)),
      gauge("crossover_gang_collisions", "GPUs on which two ranks of one gang are.",
            Number(state.collisions)),
      gauge("crossover_slot_doubles", "Slots that the kubelet gave to two pods.", Number(state.doubles)),
      counter("crossover_misplaced_pods_deleted_total",
              "Pods that were evicted so that their controllers make them again on other GPUs.",
              state.evictions),
      counter("crossover_misplaced_pods_refused_total",
              "Times that a misplaced pod was not evicted, because the API server refused that or did not "
              "answer.",
              state.refused_evictions),
      MistypedSwitches(state),
      gauge("crossover_mps_alive", "Whether the control daemon of MPS runs.", state.mps_alive ? 1 : 0),
      gauge("crossover_mps_accepts_clients",
            "Whether MPS takes new clients, as far as is known: its control daemon runs, and nothing shows "
            "that it refuses them.",
            state.mps_accepts ? 1 : 0),
      counter("crossover_mps_clients_terminated_total",
              "Clients that were ended through MPS before their pod was killed.", state.mps_terminated),
      OfShm(
          "crossover_mps_shm_bytes",
          "Size of the file system that pods under MPS have as /dev/shm, if it is a file system of its own.",
          state.mps_shm, &ShmRoom::bytes),
      OfShm("crossover_mps_shm_free_bytes",
            "Free bytes in the file system that pods under MPS have as /dev/shm.", state.mps_shm,
            &ShmRoom::free_bytes),
      gauge("crossover_maintenance",
            "Whether the node gives out no slots and its jobs take no turns, because of its annotation "
            "crossover.dev/maintenance.",
            state.maintenance ? 1 : 0),
      gauge("crossover_config_valid", "Whether the configuration was valid when it was last read.",
            state.config_valid ? 1 : 0),
      counter("crossover_events_lost_total", "Events of the daemon that the API server never got.",
              state.events_lost),
      counter("crossover_publish_failures_total", "Times that the GPUNode could not be published.",
              state.publish_failures)};
}

}  // namespace crossover::deviceplugin
