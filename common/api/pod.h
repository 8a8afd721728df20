// Defines the part of a pod that this product reads, and reads it. The extender, the node daemon and the CLI
// read pods by this function alone; each keeps of the result what it needs.
//
// Pods are plain values. Instants are seconds since 1970, memory is in bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/node_selection.h"
#include "common/kube/pod_constraints.h"
#include "common/kube/pod_requests.h"

namespace crossover::api {

using kube::Labels;

struct Toleration {
  std::string key;     // empty: any key
  std::string effect;  // empty: any effect
  std::string value;
  bool exists = false;  // operator Exists: any value

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// An Owner is the controller that made a pod and makes another one when the pod goes.
struct Owner {
  std::string api_version, kind, name, uid;

  friend bool operator==(const Owner&, const Owner&) = default;
};

// A Shm says what a container has at /dev/shm: what the container runtime puts there, a volume of its own, or
// a volume of its own that the webhook mounted elsewhere.
enum class Shm : std::uint8_t { kUsual, kOwn, kMoved };

struct Container {
  std::string name;
  int slots = 0;
  bool init = false;
  bool sidecar = false;   // an init container that keeps running (restartPolicy Always)
  Shm shm = Shm::kUsual;  // kUsual also if it asks for no slots

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
  bool running = false;      // its phase is Running
  bool deleting = false;     // has a deletionTimestamp
  std::int64_t grace_s = 0;  // deletionGracePeriodSeconds, if it is being deleted
  Scheduled scheduled;
  std::vector<Container> containers;  // init containers first
  kube::Requests requests;            // of the whole pod, as a scheduler counts them
  kube::NodeSelection selection;
  std::string preferences;  // its preferred node affinity, as JSON, while our gate is on it; empty: none
  std::vector<Toleration> tolerations;
  kube::PodConstraints constraints;   // what it demands of the pods around it
  std::optional<std::uint32_t> user;  // runAsUser if slots are asked for; none: the image's, or several
  bool several_users = false;         // its containers with slots are of several users
  bool own_users = false;     // on the node they are of a user that no other pod has (hostUsers: false)
  Shm shm = Shm::kUsual;      // kOwn if a container with slots has it, else kMoved if one has it
  std::int32_t priority = 0;  // spec.priority
  bool preempts = true;       // spec.preemptionPolicy is not Never
  std::string profile_key;    // profile of its job, in its namespace (kube::ProfileKeyOf)

  // Returns the most slots that its containers hold at one time, which is the number of GPUs that it gets.
  int slots() const;

  friend bool operator==(const Pod&, const Pod&) = default;
};

// ParsePod() drops an annotation of another domain whose value has more bytes. Controllers write a pod's
// place in its job as a short text; other tools store long ones.
inline constexpr std::size_t kLongestOthersAnnotation = 256;
inline constexpr std::size_t kLongestMessage = 1024;  // bytes of a condition's message; longer ones are cut

// Reads a pod as an API server has it. Returns nothing if its UID, namespace or name is missing. Any other
// field that is missing or malformed counts as not set, and numbers are limited to what a machine could have.
// Does not throw.
std::optional<Pod> ParsePod(const nlohmann::json& object);

}  // namespace crossover::api
