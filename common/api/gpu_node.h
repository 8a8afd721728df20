// Defines the GPUNode: what the node daemon publishes about its node. The daemon writes it, and the extender
// and the CLI read it, by the functions of this file alone.
//
// GPUNodes are plain values. Instants are seconds since 1970, memory is in bytes. A field that an older
// daemon does not write counts as not set, and a field that a later one adds is skipped.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/api/communication.h"
#include "common/base/boxed.h"
#include "common/kube/pod_requests.h"

namespace crossover::api {

struct GpuNode {
  struct Holder {
    std::string name_space, pod, container;
    std::set<std::string> slots;  // an init container passes its slots on: both containers list them
    std::string gang{};

    friend bool operator==(const Holder&, const Holder&) = default;
  };
  // Signals say what the signals of one GPU cost. The writer rounds memory of the host to a MiB, and seconds
  // to two significant figures, so that the object does not change all the time when nothing happens.
  struct Signals {
    int signallers = 0;      // connected signallers
    std::uint64_t late = 0;  // times that a signal was written again for a client at its open gate
    std::optional<std::uint64_t> host_memory{};
    std::optional<double> cpu_seconds{};
    std::uint64_t device_memory = 0;  // 0: not known
    std::string device_memory_source{};

    friend bool operator==(const Signals&, const Signals&) = default;
  };
  // Notes are what the daemon says of a GPU for people; nothing is decided by them.
  struct Notes {
    // Names `withheld`, or says why no jobs share the GPU (base::NameOf(base::Withheld)). A daemon of another
    // version may name what this version does not know.
    std::string reason{};
    std::string no_turns{};            // why turns are held off it; empty: they are not
    std::optional<Signals> signals{};  // unset: the daemon has no signals

    friend bool operator==(const Notes&, const Notes&) = default;
  };
  struct Gpu {
    std::string uuid;
    std::string model{};
    std::uint64_t memory = 0;  // 0: not known
    int slots = 0;
    bool healthy = false;
    std::string withheld{};  // why the daemon does not offer its slots; empty: it does
    std::vector<Holder> holders{};
    base::Boxed<Notes> notes{};

    friend bool operator==(const Gpu&, const Gpu&) = default;
  };

  // A Meeting says what a job gained while it shared GPUs with other jobs. `gain` is relative to running
  // the jobs one after the other.
  struct Meeting {
    struct Peer {
      std::string name_space, gang, key;

      friend bool operator==(const Peer&, const Peer&) = default;
    };
    std::vector<Peer> beside;
    double gain = 0;
    double at_s = 0;

    friend bool operator==(const Meeting&, const Meeting&) = default;
  };
  // A Rank of a job is in one process. Times are its own, seconds of one iteration: `wait_s` for its turn,
  // `input_s` for its input.
  struct Rank {
    std::string pod;
    double compute_s = 0, wait_s = 0;
    int number = -1;  // as its process says; -1: not known
    double input_s = 0;
    std::string gpu{};    // UUID; empty: not known
    std::string model{};  // of its GPU; empty: not known. The writer leaves it out: the GPU has it.

    friend bool operator==(const Rank&, const Rank&) = default;
  };
  // A Job has ranks on this node, now or not long ago. Times are seconds of one iteration, as the mean over
  // the ranks on this node. An unset figure is not known.
  struct Job {
    std::string name_space, gang, key;
    std::string node{};  // the writer leaves it out: it is the name of the object
    int gpus = 0;        // GPUs of the job on this node
    std::optional<double> compute_s{}, exposed_s{}, step_alone_s{};
    std::optional<double> jitter{};              // of compute_s, relative to compute_s
    std::optional<std::uint64_t> peak_memory{};  // the most on one GPU
    std::string source{};                        // of step_alone_s: measured, remembered or estimated
    int iterations = 0;            // iterations that the figures come from, at most kMostIterations
    double began_s = 0, at_s = 0;  // when the job was first and last seen here
    double disturbed_s = 0;        // when an unregistered process was last beside it; 0: never
    bool ended = false;
    std::vector<Rank> ranks{};              // on this node, as far as their compute is known
    std::vector<NcclCall> communication{};  // of its ranks on this node; none where they are too many
    std::vector<Meeting> meetings{};
    int gang_size = 0;  // 0: not known

    // Returns whether step_alone_s is an estimate, not a measurement.
    bool estimated() const { return source == "estimated"; }

    friend bool operator==(const Job&, const Job&) = default;
  };

  std::string name;
  std::string mode{};  // the mode that is in force
  bool maintenance = false;
  std::string sharing{};  // mps, timeslice or exclusive
  bool multi_user = false;
  double link_bytes_per_s = 0;  // what its network carries in one direction; 0: not known
  std::vector<Gpu> gpus{};
  kube::Requests
      requested{};  // by pods that this product does not manage; their number is "pods" of `others`
  std::vector<Job> jobs{};
  std::string node_uid{};  // of the Node object; empty: not known
  std::string version{};   // of the daemon
  std::string mode_limited_by{};
  std::string configuration{};  // name of the chosen configuration; empty: none
  std::string sharing_reason{};
  std::optional<std::uint32_t> mps_served{};  // user that MPS serves now

  friend bool operator==(const GpuNode&, const GpuNode&) = default;
};

// The writer keeps these limits, and the reader leaves out what exceeds them.
inline constexpr int kMostIterations = 1000;  // more tell nothing more
inline constexpr std::size_t kMostRanksOfJob = 16;

// Returns how many slots of a GPU the holders have together. A slot that an init container leaves to a
// later container has several holders and counts once.
std::size_t UsedSlots(std::span<const GpuNode::Holder> holders);

// Returns how many slots the GPUs have together, as the daemon publishes in status.slots.
std::int64_t SlotsOf(const GpuNode& node);

// Returns the object, for a server-side apply. Rounds figures, as more digits of them are noise. Does not
// throw.
nlohmann::json WriteGpuNode(const GpuNode& node);

// Reads a GPUNode as an API server has it. Returns nothing if its name is missing. Any other field that is
// missing or malformed counts as not set. Leaves out a GPU without a UUID, and one that was named before.
// Does not throw.
std::optional<GpuNode> ParseGpuNode(const nlohmann::json& object);

inline constexpr std::size_t kMostJobsOfNode = 256;
// Returns the jobs that a GPUNode names, at most kMostJobsOfNode. Leaves out jobs without namespace, gang or
// a plausible time, meetings without a plausible gain and time, and malformed calls. A figure that is out of
// range counts as not set. Does not throw.
std::vector<GpuNode::Job> JobsOf(const nlohmann::json& gpu_node);
// Returns the jobs in the form that they have in a GPUNode.
nlohmann::json WriteJobs(std::span<const GpuNode::Job> jobs);

}  // namespace crossover::api
