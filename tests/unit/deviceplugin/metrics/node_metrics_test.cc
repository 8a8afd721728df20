#include "deviceplugin/metrics/node_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NodeMetricsTest, WhatIsKnownIsShownZerosToo) {
  NodeState state;
  state.gpus = {{"GPU-a", {.slots = 4, .used = 3}},
                {"GPU-b",
                 {.slots = 4,
                  .healthy = false,
                  .used_by_others = true,
                  .unhooked = 2,
                  .silent = 1,
                  .pods_of_competitors = 3}}};
  state.evictions = 7;
  state.refused_evictions = 8;
  state.mistyped_switches = {{"Node", 1}, {"Pod", 0}};
  state.mode = arbiter::Policy::kObserve;
  state.xids = {{{"GPU-b", 79}, 1}, {{"GPU-a", 31}, 2}};
  state.registered = true;
  state.registrations = 3;
  state.allocations = 5;
  state.drifts = 6;
  const std::string text =
      prometheus::TextSerializer().Serialize(NodeMetrics([&state] { return state; }).Collect());
  for (const char* line : {"crossover_slots{gpu_uuid=\"GPU-a\"} 4\n",
                           "crossover_slots_used{gpu_uuid=\"GPU-a\"} 3\n",
                           "crossover_gpu_healthy{gpu_uuid=\"GPU-b\"} 0\n",
                           "crossover_gpu_xids_total{gpu_uuid=\"GPU-b\",xid=\"79\",blames=\"gpu\"} 1\n",
                           "crossover_gpu_xids_total{gpu_uuid=\"GPU-a\",xid=\"31\",blames=\"program\"} 2\n",
                           "crossover_kubelet_registered 1\n",
                           "crossover_kubelet_registrations_total 3\n",
                           "crossover_kubelet_registration_failures_total 0\n",
                           "crossover_allocations_total{outcome=\"refused\"} 0\n",
                           "crossover_allocations_total{outcome=\"handed_out\"} 5\n",
                           "crossover_pods_known 0\n",
                           "crossover_assignment_drifts 6\n",
                           "crossover_gang_collisions 0\n",
                           "crossover_slot_doubles 0\n",
                           "crossover_gpu_used_by_others{gpu_uuid=\"GPU-b\"} 1\n",
                           "crossover_gpu_unhooked_processes{gpu_uuid=\"GPU-b\"} 2\n",
                           "crossover_gpu_silent_processes{gpu_uuid=\"GPU-b\"} 1\n",
                           "crossover_gpu_silent_processes{gpu_uuid=\"GPU-a\"} 0\n",
                           "crossover_gpu_held{gpu_uuid=\"GPU-a\"} 0\n",
                           "crossover_gpu_pods_of_other_plugins{gpu_uuid=\"GPU-b\"} 3\n",
                           "crossover_misplaced_pods_deleted_total 7\n",
                           "crossover_misplaced_pods_refused_total 8\n",
                           "crossover_mistyped_switches{kind=\"Node\"} 1\n",
                           "crossover_mistyped_switches{kind=\"Pod\"} 0\n",
                           "crossover_node_mode{mode=\"observe\"} 1\n",
                           "crossover_node_mode{mode=\"enforce\"} 0\n",
                           "crossover_config_valid 1\n",
                           "crossover_configuration_info{configuration=\"\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(NodeMetricsTest, TheRoomInTheCommonShmIsShownWhereThereIsOne) {
  NodeState state;
  const auto text = [&state] {
    return prometheus::TextSerializer().Serialize(NodeMetrics([&state] { return state; }).Collect());
  };
  EXPECT_THAT(text(), testing::Not(HasSubstr("\ncrossover_mps_shm_bytes ")));
  state.mps_shm = ShmRoom{.bytes = 64, .free_bytes = 8};
  EXPECT_THAT(text(), HasSubstr("\ncrossover_mps_shm_bytes 64\n"));
  EXPECT_THAT(text(), HasSubstr("\ncrossover_mps_shm_free_bytes 8\n"));
}

TEST(NodeMetricsTest, WhatIsMissingIsSaidInWords) {
  NodeState state;
  EXPECT_THAT(Missing(state), ElementsAre(HasSubstr("kubelet"), HasSubstr("API server")));
  state.registered = state.pods_known = true;
  EXPECT_THAT(Missing(state),
              ElementsAre(HasSubstr("namespaces"), HasSubstr("the Node object of this node")));
  state.namespaces_known = state.node_known = true;
  EXPECT_THAT(Missing(state), IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin
