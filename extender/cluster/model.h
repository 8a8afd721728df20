// What the extender knows of a cluster's objects: the little of each that it decides by.
//
// Plain values, read from what the API server says; nothing in them is trusted to fit together. Instants are
// seconds since 1970, memory is in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/kube/node_selection.h"
#include "common/kube/pod_requests.h"

namespace crossover::extender {

using kube::Labels;

// What a pod asks for, or a node has; slots are among the others.
using Resources = kube::Requests;

struct Toleration {
  std::string key;     // empty: any
  std::string effect;  // empty: any
  std::string value;
  bool exists = false;  // whatever the value

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Taint {
  std::string key, value, effect;

  friend bool operator==(const Taint&, const Taint&) = default;
};

// Who made a pod and makes another when it goes.
struct Owner {
  std::string api_version, kind, name, uid;

  friend bool operator==(const Owner&, const Owner&) = default;
};

struct Container {
  std::string name;
  int slots = 0;
  bool init = false;
  bool sidecar = false;  // initialises, and stays

  friend bool operator==(const Container&, const Container&) = default;
};

// Whether a scheduler found a node, in its own words: the condition PodScheduled.
struct Scheduled {
  bool yes = false;
  std::string reason;  // Unschedulable, SchedulingGated, ..
  std::string message;
  double at_s = 0;

  friend bool operator==(const Scheduled&, const Scheduled&) = default;
};

struct Pod {
  std::string uid, name_space, name;
  std::string version;  // resourceVersion
  double created_s = 0;
  Labels labels;
  Labels annotations;
  std::optional<Owner> owner;
  std::string node;  // where it is bound to; empty: nowhere
  std::string scheduler;
  std::string pod_group;  // of Kubernetes' own gang scheduling: spec.schedulingGroup or spec.workloadRef
  std::vector<std::string> gates;
  bool over = false;  // Succeeded or Failed
  bool failed = false;
  bool running = false;   // its phase is Running
  bool deleting = false;  // has a deletionTimestamp
  Scheduled scheduled;
  std::vector<Container> containers;  // those that initialise first
  Resources requests;                 // of the whole pod, as a scheduler counts them
  kube::NodeSelection selection;
  std::vector<Toleration> tolerations;
  std::optional<std::uint32_t> user;  // runAsUser of the containers that ask for slots; nothing: the image's
  std::int32_t priority = 0;          // spec.priority
  std::string profile_key;            // of its job, in its namespace (kube::ProfileKeyOf)

  // Of all containers that are there at once: GPUs it gets.
  int slots() const;

  friend bool operator==(const Pod&, const Pod&) = default;
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

// A node's GPUs, as its daemon publishes them.
struct GpuNode {
  struct Holder {
    std::string name_space, pod, container;
    std::set<std::string> slots;  // an init container leaves its own to those after it: both have them

    friend bool operator==(const Holder&, const Holder&) = default;
  };
  struct Gpu {
    std::string uuid;
    std::uint64_t memory = 0;
    int slots = 0;
    bool healthy = false;
    std::string withheld;  // why not
    std::vector<Holder> holders;

    friend bool operator==(const Gpu&, const Gpu&) = default;
  };

  // What a job gained beside others, over one after the other.
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
  // A job with ranks here, now or not long ago. Seconds of one iteration, means over its ranks here; 0: not
  // known.
  struct Job {
    std::string name_space, gang, key;
    int gpus = 0;  // of this node
    double compute_s = 0, exposed_s = 0, step_alone_s = 0;
    double jitter = 0;
    std::uint64_t peak_memory = 0;  // the most on one GPU
    bool estimated = false;         // the step alone; else measured
    int iterations = 0;             // that figures are from
    double began_s = 0, at_s = 0;   // it was here first, and last
    double disturbed_s = 0;         // when somebody who takes no part was beside it last; 0: never
    bool ended = false;
    std::vector<Meeting> meetings;

    friend bool operator==(const Job&, const Job&) = default;
  };

  std::string name;
  std::string mode;
  bool maintenance = false;
  std::string sharing;  // mps, timeslice or exclusive
  bool multi_user = false;
  std::vector<Gpu> gpus;
  Resources requested;  // by its pods that are not ours, as the daemon sees them
  std::vector<Job> jobs;

  friend bool operator==(const GpuNode&, const GpuNode&) = default;
};

// What is known of the jobs with one key in one namespace. Seconds of one iteration alone, means over ranks.
struct JobProfile {
  struct Meeting {
    std::string name_space, key;
    double gain = 0;

    friend bool operator==(const Meeting&, const Meeting&) = default;
  };
  std::string name_space, name;
  std::string key;
  bool hinted = false;     // what is below is a user's; else measured
  bool has_hints = false;  // a user wrote figures into it, whatever was measured since
  double compute_s = 0, exposed_s = 0;
  double jitter = 0;
  std::uint64_t peak_memory = 0;
  int gpus = 0;  // that its gang had
  std::vector<Meeting> meetings;

  friend bool operator==(const JobProfile&, const JobProfile&) = default;
};

}  // namespace crossover::extender
