// Exports to Prometheus the state of the slots that a node's daemon gives out, and of the services that it
// needs for that.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/mode_rule.h"
#include "deviceplugin/inventory/health.h"
#include "deviceplugin/mps/news.h"

namespace crossover::deviceplugin {

// A NodeState is the state of a node at one instant.
struct NodeState {
  struct Gpu {
    std::uint32_t slots = 0;
    std::optional<std::uint64_t> used{};  // slots that pods hold which have not ended; unset: not known
    bool healthy = true;
    bool used_by_others = false;            // a process without a slot of the GPU is on it
    std::uint32_t unhooked = 0;             // processes that have a slot of it and take no part in turns
    std::uint32_t silent = 0;               // processes among `unhooked` that have loaded the library
    bool held = false;                      // its clients take no turns for now
    std::uint64_t pods_of_competitors = 0;  // pods that have it from another device plugin
  };
  std::map<std::string, Gpu> gpus;  // GPUs that are advertised
  Health::Xids xids;
  bool registered = false;  // the kubelet knows the slots, and it listens
  std::uint64_t registrations = 0;
  std::uint64_t registration_failures = 0;
  std::uint64_t allocations = 0;        // containers that got slots
  std::uint64_t refusals = 0;           // containers that were refused slots
  bool pods_known = false;              // the API server is being watched
  bool namespaces_known = false;        // namespaces are being watched
  bool node_known = false;              // this node's object is being watched
  std::uint64_t pods = 0;               // pods of this node
  std::uint64_t drifts = 0;             // containers with other GPUs than they were assigned
  std::uint64_t collisions = 0;         // GPUs with two ranks of a gang
  std::uint64_t doubles = 0;            // slots that two pods have
  std::uint64_t evictions = 0;          // pods that were evicted because they were misplaced
  std::uint64_t refused_evictions = 0;  // evictions that the API server did not accept
  std::map<std::string, std::uint64_t> mistyped_switches;  // by kind of the object
  arbiter::Policy mode = arbiter::Policy::kEnforce;        // the mode in force
  std::string sharing;                                     // mps, timeslice or exclusive
  bool mps_alive = false;
  bool mps_accepts = false;          // its control daemon runs, and nothing shows that it refuses new clients
  std::uint64_t mps_terminated = 0;  // clients ended through MPS
  std::optional<ShmRoom>
      mps_shm{};  // the file system that pods under MPS have as /dev/shm; unset: there is none
  bool maintenance = false;
  bool config_valid = true;
  std::string configuration;  // name of the configuration in use
  std::uint64_t events_lost = 0;
  std::uint64_t publish_failures = 0;
};

// Returns the services that the node needs and cannot reach, one line each, with what follows from that.
std::vector<std::string> Missing(const NodeState& state);

class NodeMetrics : public prometheus::Collectable {
 public:
  // The threads that serve metrics call `look`.
  explicit NodeMetrics(std::function<NodeState()> look) : look_(std::move(look)) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<NodeState()> look_;
};

}  // namespace crossover::deviceplugin
