// What the placement engine is told: nodes, the gangs on them, the gangs that wait.
//
// Plain values. Times are seconds; instants count from any fixed one. Memory is in bytes, of one GPU. Nothing
// here is trusted to fit together: a gang may be said to hold GPUs that are not there any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crossover::placement {

using Bytes = std::uint64_t;

// How much is known about a job. Hinted: by its user, or from a job much like it.
enum class Source : std::uint8_t { kUnknown, kHinted, kMeasured };

// One iteration of a job that runs alone. Means over its ranks.
struct Profile {
  Source source = Source::kUnknown;
  double compute_s = 0;  // c: busy on the GPU
  double exposed_s = 0;  // m: off the GPU, waiting
  double link_s = 0;     // l: what the link alone needs for all of the iteration's bytes
  double host_s = 0;     // what its node's CPUs alone need, where jobs have no CPUs of their own; else 0
  double spinning = 0;   // part of the GPU that collectives hold while they are exposed, 0 to 1
  Bytes peak_memory = 0;

  bool known() const { return source != Source::kUnknown && compute_s > 0; }
  double alone_s() const { return compute_s + exposed_s; }
};

enum class Consent : std::uint8_t { kNamespace, kCluster };
enum class Priority : std::uint8_t { kLow, kNormal, kHigh };

// All pods of one training run: placed together or not at all.
struct Gang {
  std::string id;     // one incarnation of one job, in the whole cluster
  std::string job;    // of which it is a stage among others; empty: it is all of its job
  std::string name;   // as its user knows it
  std::string space;  // its namespace
  std::string key;    // of its profile; runs of one job have the same. Empty: none
  int pods = 0;
  int gpus_per_pod = 0;
  bool exclusive = false;  // wants whole GPUs
  Consent consent = Consent::kNamespace;
  Priority priority = Priority::kNormal;
  double max_slowdown = 0;  // step together over step alone; 0: any
  Bytes memory_cap = 0;     // of each of its GPUs; 0: not declared
  std::uint32_t uid = 0;    // that its processes run as
  Profile profile;
  double arrived_s = 0;

  int gpus() const { return pods * gpus_per_pod; }
};

struct Gpu {
  std::string uuid;
  Bytes memory = 0;
  int slots = 2;
  bool healthy = true;
};

struct Node {
  std::string name;
  std::vector<std::string> domains;  // topology labels, the widest first: zone, block, rack
  std::vector<Gpu> gpus;
  bool open = true;       // takes new pods
  bool one_user = false;  // its GPUs are shared by processes of one user ID alone (MPS)
};

// Where one pod is, or is to be.
struct Seat {
  std::string node;
  std::vector<std::string> gpus;
};

// A gang that has GPUs: running, or with a reservation. A gang that is partly bound has the seats of its
// bound pods and of its reservations alike; a seat whose pod is gone is its own for as long as it is told
// here. With fewer seats than pods nobody new comes beside it.
struct Placed {
  Gang gang;
  std::vector<Seat> seats;
  std::optional<double> started_s{};  // when it got them, where that is known
};

// GPUs that nobody else gets until this gang has them.
struct Kept {
  std::string gang;
  std::vector<Seat> gpus;  // by node
};

// What two jobs gained when they last met, by keys of their profiles.
struct Observed {
  std::string key;
  std::string other;
  double gain = 0;  // over one after the other
};

struct State {
  std::vector<Node> nodes;
  std::vector<Placed> placed;
  std::vector<Observed> observed;
  std::optional<Kept> kept{};  // as the last decision had it: the same GPUs are kept on
};

}  // namespace crossover::placement
