// What the daemon of a node says of the slots that it gives out, and of those whom it needs for that.
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

namespace crossover::deviceplugin {

// As it stands.
struct NodeState {
  struct Gpu {
    std::uint32_t slots = 0;
    std::optional<std::uint64_t> used{};  // of them, by pods that are not over; nothing: not known
    bool healthy = true;
    bool used_by_others = false;       // somebody is on it who does not have it from us
    std::uint32_t unhooked = 0;        // processes that have it from us, and take no part
    std::uint32_t silent = 0;          // those of them that have the library
    bool held = false;                 // no turns are taken on it, for now
    std::uint64_t pods_of_rivals = 0;  // that have it from another device plugin
  };
  std::map<std::string, Gpu> gpus;  // that are advertised
  Health::Xids xids;
  bool registered = false;  // with the kubelet, and it listens
  std::uint64_t registrations = 0;
  std::uint64_t registration_failures = 0;
  std::uint64_t allocations = 0;        // containers that got slots
  std::uint64_t refusals = 0;           // that were refused
  bool pods_known = false;              // the API server is being watched
  bool namespaces_known = false;        // likewise
  bool node_known = false;              // likewise, this node's object
  std::uint64_t pods = 0;               // of this node
  std::uint64_t drifts = 0;             // containers with other GPUs than they were assigned
  std::uint64_t collisions = 0;         // GPUs with two ranks of a gang
  std::uint64_t doubles = 0;            // slots that two pods have
  std::uint64_t evictions = 0;          // of pods that were made anew for that
  std::uint64_t refused_evictions = 0;  // that the API server did not accept
  std::map<std::string, std::uint64_t> mistyped_switches;  // by kind of the object
  arbiter::Policy mode = arbiter::Policy::kEnforce;        // in force
  std::string sharing;                                     // mps, timeslice or exclusive
  bool mps_alive = false;
  std::uint64_t mps_terminated = 0;  // clients
  bool maintenance = false;
  bool config_valid = true;
  std::string configuration;  // which of the named ones
  std::uint64_t events_lost = 0;
  std::uint64_t publish_failures = 0;
};

// What is missing of what the node needs, a line each: see NodeState.
std::vector<std::string> Missing(const NodeState& state);

class NodeMetrics : public prometheus::Collectable {
 public:
  // `look` is called on threads that serve metrics.
  explicit NodeMetrics(std::function<NodeState()> look) : look_(std::move(look)) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<NodeState()> look_;
};

}  // namespace crossover::deviceplugin
