// What the cluster can see of a node: the object GPUNode that its daemon keeps up to date. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/pod_requests.h"

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

  // What its pods without the label crossover.dev/managed, that are not over, ask of the node.
  struct Requested {
    kube::Requests requests;
    std::uint32_t pods = 0;
  };
  struct Peer {
    std::string name_space, gang, profile_key;
  };
  // What a job gained beside others, over one after the other.
  struct Meeting {
    std::vector<Peer> beside;
    double gain = 0;
    std::int64_t at_s = 0;
  };
  // A job with ranks on this node, now or not long ago. Seconds are of one iteration, means over its ranks
  // here; instants are seconds since 1970.
  struct Job {
    std::string name_space, gang, profile_key;
    std::uint32_t gang_size = 0;  // 0: not known
    std::uint32_t gpus = 0;       // of this node
    std::optional<double> compute_s, exposed_s, step_alone_s;
    std::optional<double> jitter;             // of compute, over compute
    std::optional<std::uint64_t> memory;      // the most it had on one GPU, bytes
    std::string source;                       // of the step alone: measured, remembered or estimated
    std::uint64_t iterations = 0;             // of the rank that has fewest; at most kMostIterations
    std::int64_t began_s = 0, at_s = 0;       // it was here first, and last
    std::optional<std::int64_t> disturbed_s;  // when somebody who takes no part was beside it last
    bool ended = false;
    std::vector<Meeting> meetings;
  };
  static constexpr std::uint64_t kMostIterations = 1000;  // more say no more

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
  Requested requested;
  std::vector<Job> jobs;
};

// How many slots of a GPU they have: one that an init container left to those after it has several holders.
std::size_t UsedSlots(const std::vector<GpuNode::Holder>& holders);

// As a server-side apply has it.
std::string BodyOf(const GpuNode& node);
// What somebody who places jobs has to know at once: who holds what, and what can be given out.
std::string UrgentPartOf(const GpuNode& node);

}  // namespace crossover::deviceplugin
