// Tests the table of `kubectl crossover top`, from what node daemons answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/cluster/nodes.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ClusterTopTableTest, ALineForEachClientAndOneForEachNodeThatDoesNotAnswer) {
  const json top = json::parse(R"({"gpus": [{"uuid": "GPU-1", "gain": 1.58, "why_no_turns": ""}], "jobs": [
      {"gang": "team/a", "clients": [{"gang": "team/a", "gpu_uuid": "GPU-1", "rank": 0, "holding": true,
       "step_ms": 40, "alone": {"step_ms": 32, "age_s": 5, "source": "estimated"}, "slowdown": 1.25}]}]})");
  const json nodes = {{{"node", "n1"}, {"top", top}}, {{"node", "n2"}, {"error", "Forbidden"}}};
  const std::string text = ClusterTopTable(nodes, false);
  EXPECT_THAT(text, HasSubstr("n1    GPU-1  team/a  holds     40.0    32.0 ~     1.25x  1.58x\n"));
  EXPECT_THAT(text, HasSubstr("~ estimated"));
  EXPECT_THAT(text, HasSubstr("n2: Forbidden\n"));
  EXPECT_THAT(ClusterTopTable(nodes, true), HasSubstr("turns are taken"));
  EXPECT_THAT(ClusterTopTable(json::array(), false), HasSubstr("no job"));
}

TEST(ClusterTopTableTest, WideTellsWhatSignalsCost) {
  const json top = json::parse(R"({"gpus": [
      {"uuid": "GPU-1", "signals": {"signallers": 2, "host_memory_bytes": "9437184", "cpu_s": 1.25,
       "device_memory_bytes": "2097152", "device_memory_source": "exported", "late": 3}},
      {"uuid": "GPU-2", "signals": {"signallers": 0, "host_memory_bytes": "x", "device_memory_source": "", "late": 0}},
      {"uuid": "GPU-3"}], "jobs": []})");
  const json nodes = {{{"node", "n1"}, {"top", top}}};
  EXPECT_THAT(ClusterTopTable(nodes, true),
              HasSubstr("\nNODE  GPU    SIGNALLERS  HOST MiB  CPU s  GPU MiB  OF        LATE\n"
                        "n1    GPU-1           2         9    1.2        2  exported     3\n"
                        "n1    GPU-2           0         -      -        -  -            0\n"));
  EXPECT_THAT(ClusterTopTable(nodes, false), Not(HasSubstr("SIGNALLERS")));
  const json without = {{{"node", "n1"}, {"top", {{"gpus", {{{"uuid", "GPU-3"}}}}}}}};
  EXPECT_THAT(ClusterTopTable(without, true), Not(HasSubstr("SIGNALLERS")))
      << "an older daemon, or no signals";
}

}  // namespace
}  // namespace crossover::cli
