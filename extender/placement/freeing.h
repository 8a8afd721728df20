// Counts how many GPUs are free once some gangs have left, and guesses which gangs have to leave so that
// enough are. Pure.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "extender/placement/join_rules.h"

namespace crossover::placement {

// A Candidate is a gang that may be made to leave.
struct Candidate {
  const Gang* gang = nullptr;
  double cost = 0;  // its GPUs times the seconds that it has had them
};

using Who = std::vector<std::size_t>;  // indices of candidates

// A Counting counts for how many pods of one gang nodes have free GPUs. Other limits of nodes count as if the
// nodes were empty.
class Counting {
 public:
  // REQUIRES: the arguments outlive this object.
  Counting(const Occupancy& occupancy, const Gang& gang, std::span<const Candidate> candidates,
           const Context& context);

  // Returns an upper bound of the number of pods for which GPUs are free once the candidates `who` have left.
  int PodsAtMost(const Who& who) const;
  // Returns who leaves so that the free GPUs suffice for all pods of the gang: the fewest, and of these the
  // cheapest. Returns nothing if all of them give too little, or if GPUs are not what it lacks.
  //
  // The answer has to be tried, because it is only counted. Of gangs on several nodes it knows what each
  // gives by itself. Returns ascending indices. Takes time in proportion to the gang's pods times the number
  // of candidates.
  std::optional<Who> Cheapest() const;

 private:
  // A Bundle is all gangs of a group: its GPUs are free once all of them have left.
  struct Bundle {
    Who who;
    double cost = 0;
    std::vector<OnNode> gives{};  // suitable GPUs by node

    bool GoesBefore(const Bundle& other) const {
      return std::pair(who.size(), cost) < std::pair(other.who.size(), other.cost);
    }
  };
  struct Class;

  bool Suits(GpuRef ref) const;
  int PodsOn(int node, int more) const;
  int GainOn(int node, int more) const { return PodsOn(node, more) - PodsOn(node, 0); }
  void AddBundle(const Group& group);
  std::vector<Class> Classes() const;
  Class ClassOf(int node, std::vector<const Bundle*> bundles) const;

  const Occupancy& occupancy_;
  const Gang& gang_;
  std::span<const Candidate> candidates_;
  Bytes memory_ = 0;  // memory that each GPU must have
  std::map<const Gang*, std::size_t> index_;
  std::vector<int> free_;        // suitable GPUs that are free, by node
  std::vector<int> most_;        // pods that the node would take if it were empty, by node
  std::vector<Bundle> bundles_;  // of groups in which all gangs are candidates
};

}  // namespace crossover::placement
