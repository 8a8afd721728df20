// Defines the input of the placement engine: nodes, the gangs on them, the gangs that wait.
//
// They are plain values. Times are in seconds; instants count from any fixed instant. Memory is in bytes
// and for one GPU. The engine does not rely on values fitting together: a gang may hold GPUs that are gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "extender/placement/division.h"

namespace crossover::placement {

using Bytes = std::uint64_t;

// A Source says how a profile is known. kHinted: from the job's user, or from a similar job.
enum class Source : std::uint8_t { kUnknown, kHinted, kMeasured };

// A Profile describes one iteration of a job that runs alone. Values are means over its ranks.
struct Profile {
  Source source = Source::kUnknown;
  double compute_s = 0;   // c: time busy on the GPU
  double exposed_s = 0;   // m: time off the GPU, waiting
  double link_s = 0;      // l: time that the link needs for all bytes of the iteration
  double host_s = 0;      // h: CPU time of its node, if jobs have no CPUs of their own; else 0
  double spinning = 0;    // part of the GPU (0 to 1) that collectives occupy during exposed_s
  Bytes peak_memory = 0;  // 0: not known

  // Returns whether predictions can use the times.
  bool known() const { return source != Source::kUnknown && compute_s > 0; }
  // Returns the time of one iteration alone.
  double alone_s() const { return compute_s + exposed_s; }
};

// Users says which users a gang's processes run as. MPS distinguishes users in this way. A later value is
// worse.
enum class Users : std::uint8_t {
  kOne,     // all are of one user
  kUnlike,  // its pods are of different users
  kOwn,     // each pod is of a user that no other pod has (hostUsers: false)
  kMixed    // a single pod has processes of several users
};
enum class Consent : std::uint8_t { kNamespace, kCluster };
enum class Priority : std::uint8_t { kLow, kNormal, kHigh };

// A Gang is all pods of one training run. The engine places all of them or none.
struct Gang {
  std::string id;     // of one incarnation of one job, unique in the cluster
  std::string job;    // the job that it is one stage of, or its maker's id; empty: it is the whole job
  std::string maker;  // kind of the controller that `job` stands for; empty: `job` is a job of stages
  std::string name;   // as its user knows it
  std::string space;  // its namespace
  std::string key;    // of its profile, equal for all runs of one job; empty: none
  int pods = 0;
  int gpus_per_pod = 0;
  bool exclusive = false;  // wants whole GPUs
  Consent consent = Consent::kNamespace;
  Priority priority = Priority::kNormal;  // orders gangs of one rank
  // `rank` is the priority of its PriorityClass. A gang of higher rank is served as if those of lower rank
  // did not wait.
  std::int32_t rank = 0;
  bool preempts = true;     // the gang may make gangs of lower rank leave (preemptionPolicy)
  double max_slowdown = 0;  // step together over step alone; 0: any
  Bytes memory_cap = 0;     // on each of its GPUs; 0: not declared
  Users users = Users::kOne;
  std::uint32_t uid = 0;  // user ID of its processes, if `users` is kOne
  Profile profile;
  double arrived_s = 0;
  std::vector<Division> divisions{};  // its own constraints over several nodes
  // The topology label that has one value on all of its nodes (crossover.dev/within); empty: none has to.
  std::string within{};

  int gpus() const { return pods * gpus_per_pod; }
};

struct Gpu {
  std::string uuid;
  Bytes memory = 0;
  int slots = 2;
  bool healthy = true;
  std::string model{};  // empty: not known
};

struct Node {
  std::string name;
  // These are the values of its topology labels, the widest first: zone, block, rack. A label that it lacks
  // has the value "" if it has a narrower one.
  std::vector<std::string> domains;
  std::vector<Gpu> gpus;
  bool open = true;       // takes new pods
  bool one_user = false;  // only processes of one user ID can share its GPUs (MPS)
  double link = 0;        // bytes per second that its uplink carries in each direction; 0: not known
};

// A Seat is the node and the GPUs that one pod has, or will have.
struct Seat {
  std::string node;
  std::vector<std::string> gpus;

  friend bool operator==(const Seat&, const Seat&) = default;
};

// A Leave says whether a gang that has GPUs may be made to leave, for one of higher rank.
enum class Leave : std::uint8_t {
  kNever,      // the entry is no gang, or the gang leaves already, or its size is not known
  kMay,        // the gang may leave
  kSpared,     // not yet, because it was made to leave not long ago
  kForbidden,  // a disruption budget of its pods does not permit it
};

// A Placed gang has GPUs: it runs, or it has a reservation. `seats` holds the seats of bound pods, reserved
// seats, and seats that are still kept for a pod that is gone. While it has fewer seats than pods, no gang
// may join it.
struct Placed {
  Gang gang;
  std::vector<Seat> seats;
  std::optional<double> started_s{};  // when it got its GPUs, if that is known
  Leave leave = Leave::kNever;
};

// Reserved names GPUs that no other gang gets until this gang has them.
struct Reserved {
  std::string gang;
  std::vector<Seat> gpus;  // by node
};

// An Observed holds what two jobs gained when they last met, by the keys of their profiles.
struct Observed {
  std::string key;
  std::string other;
  double gain = 0;  // relative to running one after the other
};

struct State {
  std::vector<Node> nodes;
  std::vector<Placed> placed;
  std::vector<Observed> observed;
  std::optional<Reserved> kept{};     // from the last decision, so that it keeps the same GPUs
  std::vector<std::string> levels{};  // keys of the topology labels, in the order of Node::domains
};

}  // namespace crossover::placement
