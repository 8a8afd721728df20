// Makes small clusters, full of gangs, in which one more gang waits. Finds out by trying everything, with the
// referee and without the engine, which gangs have to leave for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "extender/placement/engine.h"
#include "extender/placement/fitness.h"

namespace crossover::placement {

// A Scene is a cluster and the gang that waits. All gangs have the same profile.
struct Scene {
  State state;
  Gang gang;
  Settings settings;
  double now_s = 1000;
  int most_pods = 1'000'000;  // that a node takes

  // Returns how many pods of a gang fit on a node of `state`, as the engine asks. REQUIRES: the scene stays
  // where it is while the result is in use.
  Fitness Fits() const;
  // Returns what the engine decides.
  Decision Decide() const;
  // Returns whether the gang has a place once these gangs have left, as the referee sees it.
  bool HasPlaceWithout(const std::vector<std::string>& victims) const;
};

// Makes one of many scenes. It is the same for the same seed.
Scene SceneOf(std::uint64_t seed);

// An Answer holds the best victims: the fewest, of these the cheapest, of these the first by id.
struct Answer {
  bool fits = false;                 // the gang needs none
  bool possible = false;             // some victims make room
  bool forbidden = false;            // some would, if all gangs of lower rank could be made to leave
  std::vector<std::string> victims;  // ascending
};
Answer AnswerOf(const Scene& scene);

// Returns what is wrong with a preemption, or "": what FaultOfRoom() finds, no place, or a victim in vain.
std::string FaultOfPreemption(const Scene& scene, const Preemption& preemption);

// Returns what is wrong with a decision of the scene, or "": what FaultOfPreemption() finds, or others than
// the best victims. `answer` is that of the scene.
std::string FaultOfAnswer(const Scene& scene, const Answer& answer, const Decision& decision);

// Makes a scene of so many gangs, two on each set of GPUs, on nodes of 8 GPUs that are full. GPU counts are
// from 1 to 32. The gang that waits needs `gpus` GPUs.
Scene LargeScene(std::uint64_t seed, int gangs, int gpus, int gpus_per_pod);

}  // namespace crossover::placement
