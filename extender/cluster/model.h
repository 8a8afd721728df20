// Defines what the extender keeps of a cluster's objects: only the fields that it decides by.
//
// They are plain values, read from what the API server says. No code relies on two objects agreeing with each
// other: each comes by a watch of its own. Instants are seconds since 1970, memory is in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/kube/label_selector.h"
#include "common/kube/node_selection.h"
#include "common/kube/pod_constraints.h"
#include "common/kube/pod_requests.h"
#include "extender/cluster/communication.h"

namespace crossover::extender {

using kube::Labels;

// Resources are what a pod asks for, or what a node has. GPU slots are among `others`.
using Resources = kube::Requests;

struct Toleration {
  std::string key;     // empty: any key
  std::string effect;  // empty: any effect
  std::string value;
  bool exists = false;  // operator Exists: any value

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Taint {
  std::string key, value, effect;

  friend bool operator==(const Taint&, const Taint&) = default;
};

// An Owner is the controller that made a pod and makes another one when the pod goes.
struct Owner {
  std::string api_version, kind, name, uid;

  friend bool operator==(const Owner&, const Owner&) = default;
};

struct Container {
  std::string name;
  int slots = 0;
  bool init = false;
  bool sidecar = false;  // an init container that keeps running (restartPolicy Always)

  friend bool operator==(const Container&, const Container&) = default;
};

// Holds a pod's condition PodScheduled: whether a scheduler found a node, in the scheduler's own words.
struct Scheduled {
  bool yes = false;
  std::string reason;  // Unschedulable, SchedulingGated, ..
  std::string message;
  double at_s = 0;

  friend bool operator==(const Scheduled&, const Scheduled&) = default;
};

// A Shm says what the containers of a pod with slots have at /dev/shm. kMoved: they brought a volume for it,
// and the webhook mounted it elsewhere.
enum class Shm : std::uint8_t { kUsual, kOwn, kMoved };

struct Pod {
  std::string uid, name_space, name;
  std::string version;  // resourceVersion
  double created_s = 0;
  Labels labels;
  Labels annotations;
  std::optional<Owner> owner;
  std::string node;  // the node that it is bound to; empty: not bound
  std::string scheduler;
  std::string pod_group;  // of Kubernetes' own gang scheduling: spec.schedulingGroup or spec.workloadRef
  std::vector<std::string> gates;
  bool over = false;  // Succeeded or Failed
  bool failed = false;
  bool running = false;   // its phase is Running
  bool deleting = false;  // has a deletionTimestamp
  Scheduled scheduled;
  std::vector<Container> containers;  // init containers first
  Resources requests;                 // of the whole pod, as a scheduler counts them
  kube::NodeSelection selection;
  std::string preferences;  // its preferred node affinity, as JSON, while our gate is on it; empty: none
  std::vector<Toleration> tolerations;
  kube::PodConstraints constraints;   // what it demands of the pods around it
  std::optional<std::uint32_t> user;  // runAsUser where slots are asked for; none: the image's, or several
  bool several_users = false;         // its containers with slots are of several users
  bool own_users = false;  // on the node they are of a user that no other pod has (hostUsers: false)
  Shm shm = Shm::kUsual;
  std::int32_t priority = 0;  // spec.priority
  bool preempts = true;       // spec.preemptionPolicy is not Never
  std::string profile_key;    // profile of its job, in its namespace (kube::ProfileKeyOf)

  // Returns the most slots that its containers hold at one time, which is the number of GPUs that it gets.
  int slots() const;

  friend bool operator==(const Pod&, const Pod&) = default;
};

// A Budget is a PodDisruptionBudget: it limits how many of the pods that it selects may be evicted.
struct Budget {
  std::string name_space, name;
  kube::LabelSelector selector;
  int allowed = 0;  // pods that may be evicted now (status.disruptionsAllowed)

  friend bool operator==(const Budget&, const Budget&) = default;
};

struct Node {
  std::string name;
  std::string uid;
  Labels labels;
  std::vector<Taint> taints;
  Resources allocatable;
  bool cordoned = false;
  bool ready = false;

  friend bool operator==(const Node&, const Node&) = default;
};

// A GpuNode holds a node's GPUs and jobs, as the node daemon publishes them.
struct GpuNode {
  struct Holder {
    std::string name_space, pod, container;
    std::set<std::string> slots;  // an init container passes its slots on: both containers list them

    friend bool operator==(const Holder&, const Holder&) = default;
  };
  struct Gpu {
    std::string uuid;
    std::string model{};
    std::uint64_t memory = 0;
    int slots = 0;
    bool healthy = false;
    std::string withheld;  // why the daemon does not offer it
    std::vector<Holder> holders;

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
    std::string model{};  // of its GPU; empty: not known

    friend bool operator==(const Rank&, const Rank&) = default;
  };
  // A Job has ranks on this node, now or not long ago. Times are seconds of one iteration, as the mean over
  // the ranks on this node; 0 means not known.
  struct Job {
    std::string name_space, gang, key;
    std::string node{};
    int gpus = 0;  // that it has on this node
    double compute_s = 0, exposed_s = 0, step_alone_s = 0;
    double jitter = 0;
    std::uint64_t peak_memory = 0;  // the most on one GPU
    bool estimated = false;         // step_alone_s is an estimate, not a measurement
    int iterations = 0;             // that the figures come from
    double began_s = 0, at_s = 0;   // when the job was first and last seen here
    double disturbed_s = 0;         // when an unregistered process was last beside it; 0: never
    bool ended = false;
    std::vector<Rank> ranks{};              // on this node, as far as their compute is known
    std::vector<NcclCall> communication{};  // of its ranks on this node
    std::vector<Meeting> meetings;

    friend bool operator==(const Job&, const Job&) = default;
  };

  std::string name;
  std::string mode;
  bool maintenance = false;
  std::string sharing;  // mps, timeslice or exclusive
  bool multi_user = false;
  double link_bytes_per_s = 0;  // what its network carries in one direction; 0: not known
  std::vector<Gpu> gpus;
  Resources requested;  // by pods that this product does not manage, as the daemon sees them
  std::vector<Job> jobs;

  friend bool operator==(const GpuNode&, const GpuNode&) = default;
};

// A JobProfile holds what is known about the jobs with one key in one namespace. Times are seconds of one
// iteration of a job that runs alone, as the mean over its ranks; `at_s` and `began_s` are seconds since
// 1970. The extender computes the figures of the status, and the `gain` of each meeting, from the history,
// which is `runs` and the `gains` of all meetings. Only ProfileKeeper reads the history; the ClusterCache
// drops it.
struct JobProfile {
  // A Slowest is the rank of a run whose compute is the longest. `since_s` is when it began to be slow, which
  // is kSlow times the median or more; 0: it is not.
  struct Slowest {
    std::string pod, node;
    double compute_s = 0;
    double since_s = 0;

    friend bool operator==(const Slowest&, const Slowest&) = default;
  };
  static constexpr double kSlow = 1.05;
  // An InputWait is of the rank of a run that waits longest for its input. All ranks of a data-parallel job
  // wait as long.
  struct InputWait {
    std::string pod, node;
    double seconds = 0;

    friend bool operator==(const InputWait&, const InputWait&) = default;
  };
  // A Run is one run of such a job, over all nodes.
  struct Run {
    std::string gang;
    double began_s = 0, at_s = 0;  // when it was first and last seen
    int gpus = 0;
    int nodes = 0;  // that these are on; 0: not known
    int iterations = 0;
    bool estimated = false;
    bool disturbed = false;  // it ran beside a process that took no part
    // It shared at least one GPU with another job for long enough to be measured.
    bool shared = false;
    double compute_s = 0, exposed_s = 0, jitter = 0;
    std::uint64_t peak_memory = 0;
    // Compute of the rank in the middle, and of the slowest one; 0 and nothing where fewer than two ranks are
    // known.
    double median_s = 0;
    Slowest slowest{};
    InputWait input{};  // nothing where no rank waits for input
    // For how long of an iteration the busiest uplink of a node carries what its pods send to each other: as
    // they are placed, and as they would be by what they send. Both are 0 where that is not known.
    double uplink_s = 0, least_uplink_s = 0;

    friend bool operator==(const Run&, const Run&) = default;
  };
  // A Gain says how much faster two runs were side by side than one after the other.
  struct Gain {
    std::string gang, other;
    double gain = 0;
    double at_s = 0;

    friend bool operator==(const Gain&, const Gain&) = default;
  };
  // A Meeting has the gains beside the jobs of one other profile, and their weighted mean.
  struct Meeting {
    std::string name_space, key;  // of the other profile
    std::vector<Gain> gains{};
    double gain = 0;

    friend bool operator==(const Meeting&, const Meeting&) = default;
  };
  std::string name_space, name;
  std::string key;
  bool hinted = false;     // the times below come from a user; else they were measured
  bool has_hints = false;  // a user wrote figures into its spec, even if others were measured since
  double compute_s = 0, exposed_s = 0;
  double jitter = 0;
  std::uint64_t peak_memory = 0;
  // The busiest pod sends other pods, or gets from them, so many bytes in an iteration; 0: not known.
  double link_bytes = 0;
  int gpus = 0;  // number of GPUs that its gang had
  std::vector<Run> runs;
  std::vector<Meeting> meetings;
  Communication communication{};

  friend bool operator==(const JobProfile&, const JobProfile&) = default;
};

// These are the limits of a JobProfile's history. The writer drops the oldest first.
inline constexpr std::size_t kMostRuns = 8;
inline constexpr std::size_t kMostMeetings = 32;
inline constexpr std::size_t kMostGains = 4;  // of a meeting

}  // namespace crossover::extender
