// placement_preempt scenes COUNT
// placement_preempt by_pod COUNT
// placement_preempt plan GANGS GPUS GPUS_PER_POD SEED
//
// Plays preemption in the engine. `scenes` counts, in COUNT small clusters, what is wrong with who leaves, by
// a referee that tries everything. `by_pod` counts the same if victims are chosen pod by pod. `plan` measures
// one decision about a gang of GPUS GPUs in a cluster that is full of GANGS gangs. The output is one JSON
// line.
#include <chrono>
#include <cstdio>
#include <string>

#include "tests/unit/extender/placement/by_pod.h"

namespace crossover::placement {
namespace {

struct Counts {
  int fits = 0, possible = 0, not_possible = 0, halves = 0, in_vain = 0, inversions = 0, other = 0;
};

void Print(int scenes, const Counts& counts) {
  std::printf(
      "{\"scenes\": %d, \"fits\": %d, \"possible\": %d, \"not_possible\": %d, \"halves\": %d, "
      "\"in_vain\": %d, \"inversions\": %d, \"other\": %d}\n",
      scenes, counts.fits, counts.possible, counts.not_possible, counts.halves, counts.in_vain,
      counts.inversions, counts.other);
}

int PlayScenes(int scenes, bool by_pod) {
  Counts counts;
  for (int seed = 0; seed < scenes; ++seed) {
    const Scene scene = SceneOf(static_cast<std::uint64_t>(seed));
    const Answer answer = AnswerOf(scene);
    counts.fits += answer.fits;
    counts.possible += answer.possible;
    counts.not_possible += !answer.fits && !answer.possible;
    if (by_pod) {
      const ByPod outcome = MakeRoomByPod(scene);
      counts.halves += outcome.halves;
      counts.in_vain += outcome.in_vain;
      continue;
    }
    const std::string fault = FaultOfAnswer(scene, answer, scene.Decide());
    const auto is = [&fault](const char* kind) { return fault.find(kind) != std::string::npos; };
    if (fault.empty()) continue;
    ++(is("half")        ? counts.halves
       : is("in vain")   ? counts.in_vain
       : is("inversion") ? counts.inversions
                         : counts.other);
  }
  Print(scenes, counts);
  return 0;
}

int Plan(int gangs, int gpus, int gpus_per_pod, std::uint64_t seed) {
  const Scene scene = LargeScene(seed, gangs, gpus, gpus_per_pod);
  const auto began = std::chrono::steady_clock::now();
  const Decision decision = scene.Decide();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  constexpr int kMostJudged = 4000;  // the referee takes minutes for more
  std::string fault = decision.preemption ? "" : "no victims";
  if (decision.preemption && gangs <= kMostJudged) fault = FaultOfPreemption(scene, *decision.preemption);
  std::printf("{\"gangs\": %d, \"gpus\": %d, \"victims\": %zu, \"fault\": \"%s\", \"plan_ms\": %.3f}\n",
              gangs, gpus, decision.preemption ? decision.preemption->victims.size() : 0, fault.c_str(),
              took.count());
  return 0;
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (argc == 3 && (what == "scenes" || what == "by_pod"))
    return PlayScenes(std::stoi(argv[2]), what == "by_pod");
  if (argc == 6 && what == "plan") {
    return Plan(std::stoi(argv[2]), std::stoi(argv[3]), std::stoi(argv[4]), std::stoull(argv[5]));
  }
  std::fputs(
      "usage: placement_preempt scenes|by_pod COUNT\n"
      "       placement_preempt plan GANGS GPUS GPUS_PER_POD SEED\n",
      stderr);
  return 2;
}

}  // namespace
}  // namespace crossover::placement

int main(int argc, char** argv) { return crossover::placement::Main(argc, argv); }
