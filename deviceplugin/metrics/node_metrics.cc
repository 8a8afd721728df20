#include "deviceplugin/metrics/node_metrics.h"

#include "deviceplugin/metrics/families.h"

namespace crossover::deviceplugin {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

double Number(std::uint64_t count) { return static_cast<double>(count); }

MetricFamily Single(std::string name, std::string help, MetricType type, double value) {
  MetricFamily family = Family(std::move(name), std::move(help), type);
  (type == MetricType::Counter ? AddCounter : AddGauge)(&family, {}, value);
  return family;
}

}  // namespace

std::vector<std::string> Missing(const NodeState& state) {
  std::vector<std::string> missing;
  if (!state.registered) missing.emplace_back("the kubelet does not listen: no slots are given out");
  if (!state.pods_known) missing.emplace_back("the API server is not reached: new pods take no turns");
  return missing;
}

std::vector<MetricFamily> NodeMetrics::Collect() const {
  const NodeState state = look_();
  MetricFamily slots =
      Family("crossover_slots", "Slots of a GPU that are advertised to the kubelet.", MetricType::Gauge);
  MetricFamily healthy =
      Family("crossover_gpu_healthy", "Whether a GPU's slots are given out.", MetricType::Gauge);
  MetricFamily xids = Family("crossover_gpu_xids_total",
                             "Errors that the driver reported, and whether they blame the GPU or a program.",
                             MetricType::Counter);
  for (const auto& [uuid, gpu] : state.gpus) {
    AddGauge(&slots, {{"gpu_uuid", uuid}}, gpu.slots);
    AddGauge(&healthy, {{"gpu_uuid", uuid}}, gpu.healthy ? 1 : 0);
  }
  for (const auto& [key, count] : state.xids) {
    AddCounter(&xids,
               {{"gpu_uuid", key.first},
                {"xid", std::to_string(key.second)},
                {"blames", BlamesTheGpu(key.second) ? "gpu" : "program"}},
               Number(count));
  }
  MetricFamily allocations =
      Family("crossover_allocations_total", "Containers for which the kubelet asked for slots, by outcome.",
             MetricType::Counter);
  AddCounter(&allocations, {{"outcome", "handed_out"}}, Number(state.allocations));
  AddCounter(&allocations, {{"outcome", "refused"}}, Number(state.refusals));
  std::vector<MetricFamily> families = {slots, healthy, xids, allocations};
  families.push_back(Single("crossover_kubelet_registered",
                            "Whether the kubelet knows our slots and listens.", MetricType::Gauge,
                            state.registered ? 1 : 0));
  families.push_back(Single("crossover_kubelet_registrations_total",
                            "Times that the kubelet was told of our slots.", MetricType::Counter,
                            Number(state.registrations)));
  families.push_back(Single("crossover_kubelet_registration_failures_total", "Times that this failed.",
                            MetricType::Counter, Number(state.registration_failures)));
  families.push_back(Single("crossover_pods_known",
                            "Whether the API server's pods of this node are kept up with.", MetricType::Gauge,
                            state.pods_known ? 1 : 0));
  families.push_back(
      Single("crossover_node_pods", "Pods of this node.", MetricType::Gauge, Number(state.pods)));
  families.push_back(Single("crossover_assignment_drifts",
                            "Containers to which the kubelet gave other GPUs than they were assigned.",
                            MetricType::Gauge, Number(state.drifts)));
  families.push_back(Single("crossover_gang_collisions", "GPUs on which two ranks of one gang are.",
                            MetricType::Gauge, Number(state.collisions)));
  return families;
}

}  // namespace crossover::deviceplugin
