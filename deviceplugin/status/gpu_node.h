// Defines what the daemon publishes about its node in the GPUNode object. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/withheld.h"
#include "common/kube/pod_requests.h"
#include "deviceplugin/signals/figures.h"

namespace crossover::deviceplugin {

struct GpuNode {
  struct Holder {
    std::string name_space, pod, container, gang;
    std::vector<std::string> slots;  // device IDs
  };
  struct Gpu {
    std::string uuid;
    std::string model;
    std::uint64_t memory_bytes = 0;  // 0: not known
    bool memory_unknown = false;     // it has one slot for that reason alone
    std::uint32_t slots = 0;
    std::optional<base::WithheldReason> withheld;  // why its slots are not given out; unset: they are
    std::string no_turns;                          // why turns are held off it; empty: they are not
    std::vector<Holder> holders;
    std::optional<signals::Figures> signals{};  // unset: the daemon has no signals
  };

  // Sums up what pods without the label crossover.dev/managed request from the node. Pods that have ended
  // do not count.
  struct Requested {
    kube::Requests requests;
    std::uint32_t pods = 0;
  };
  struct Peer {
    std::string name_space, gang, profile_key;
  };
  // Describes what a job gained from sharing a GPU with other jobs, compared with running one after the
  // other.
  struct Meeting {
    std::vector<Peer> beside;
    double gain = 0;
    std::int64_t at_s = 0;
  };
  // Describes one rank of a job: how long its turns take in an iteration, how long it waits for a turn, and
  // for how long its host launches nothing, as it waits for input. In seconds.
  struct Rank {
    std::string pod, gpu;    // name and UUID
    std::uint32_t rank = 0;  // its number, as its process says
    double compute_s = 0;
    double wait_s = 0;
    double input_s = 0;

    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  // Describes what one rank of a job calls in an iteration: the calls of one function on one communicator
  // with one peer, and the bytes of all of them (crossover_call).
  struct Call {
    std::string pod;
    std::uint64_t communicator = 0;
    std::uint32_t size = 0;             // of the communicator
    std::uint32_t rank = 0;             // in it
    std::uint32_t function = 0;         // enum crossover_function
    std::optional<std::uint32_t> peer;  // or root
    std::uint64_t bytes = 0;

    friend auto operator<=>(const Call&, const Call&) = default;
  };
  // Describes a job that has ranks on this node, or had some a short time ago. Durations are seconds per
  // iteration, as means over the job's ranks on this node. Times are seconds since 1970.
  struct Job {
    std::string name_space, gang, profile_key;
    std::uint32_t gang_size = 0;  // 0: not known
    std::uint32_t gpus = 0;       // on this node
    std::optional<double> compute_s, exposed_s, step_alone_s;
    std::vector<Rank> ranks;              // those whose compute is known, ascending; at most kMostRanks
    std::vector<Call> communication;      // all calls of all ranks here; none where they are too many
    std::optional<double> jitter;         // jitter of compute_s, relative to compute_s
    std::optional<std::uint64_t> memory;  // most memory on one GPU, in bytes
    std::string source;                   // source of step_alone_s: measured, remembered or estimated
    std::uint64_t iterations = 0;         // of the rank with the fewest; at most kMostIterations
    std::int64_t began_s = 0, at_s = 0;   // first and last time on this node
    // Holds the last time that a process without part in turns was on one of its GPUs.
    std::optional<std::int64_t> disturbed_s;
    bool ended = false;
    std::vector<Meeting> meetings;
  };
  // Counts above this are published as this: they tell nothing more.
  static constexpr std::uint64_t kMostIterations = 1000;
  static constexpr std::size_t kMostRanks = 16;
  static constexpr std::size_t kMostCalls = 64;

  std::string name;      // name of the node
  std::string node_uid;  // UID of the Node object; empty: not known
  std::string version;   // version of the daemon
  std::string mode;      // mode in force
  std::string mode_limited_by;
  std::string configuration;  // name of the chosen configuration; empty: none
  bool maintenance = false;
  std::string sharing;  // mps, timeslice or exclusive
  std::string sharing_reason;
  bool mps_multi_user = false;
  std::optional<std::uint32_t> mps_served;  // UID of the user that MPS serves now
  std::uint64_t link_bytes_per_s = 0;       // what its network carries in one direction; 0: not known
  std::vector<Gpu> gpus;
  Requested requested;
  std::vector<Job> jobs;
};

// Returns how many slots of a GPU the holders have together. A slot that an init container leaves to a
// later container has several holders and counts once.
std::size_t UsedSlots(const std::vector<GpuNode::Holder>& holders);

// Returns the body of a server-side apply request.
std::string BodyOf(const GpuNode& node);
// Returns the part that a scheduler must know at once, as text: which containers hold which slots, and which
// slots can be given out. A change of this text makes the publisher publish at once.
std::string UrgentPartOf(const GpuNode& node);

}  // namespace crossover::deviceplugin
