// What the cluster can see of a node: the object GPUNode that its daemon keeps up to date. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crossover::deviceplugin {

struct GpuNode {
  struct Holder {
    std::string name_space, pod, container, gang;
    std::vector<std::string> slots;  // IDs
  };
  struct Gpu {
    std::string uuid;
    std::string model;
    std::uint64_t memory_bytes = 0;
    std::uint32_t slots = 0;
    std::string withheld;  // why it is not given out; empty: it is
    std::string no_turns;  // why turns are kept off it; empty: they are not
    std::vector<Holder> holders;
  };

  std::string name;      // of the node
  std::string node_uid;  // of its object; empty: not known
  std::string version;   // of the daemon
  std::string mode;      // in force
  std::string mode_limited_by;
  std::string configuration;  // which of the named ones; empty: none
  bool maintenance = false;
  std::string sharing;  // mps, timeslice or exclusive
  std::string sharing_reason;
  bool mps_multi_user = false;
  std::optional<std::uint32_t> mps_served;  // the user whom MPS serves now
  std::vector<Gpu> gpus;
};

// As a server-side apply has it.
std::string BodyOf(const GpuNode& node);
// What somebody who places jobs has to know at once: who holds what, and what can be given out.
std::string UrgentPartOf(const GpuNode& node);

}  // namespace crossover::deviceplugin
