// Runs 100,000 random interleavings of arrivals, ends, lost and returning nodes, failing GPUs, lost pods,
// failed binds and decisions. None of them may end in what the rules forbid. Then faults are planted, and
// the referee must see them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iostream>

#include "tests/unit/extender/placement/world.h"
#include "tests/unit/sanitized.h"

namespace crossover::placement {
namespace {

constexpr int kWorlds = 10;
constexpr int kEach = crossover::testing::kSanitized ? 300 : 10'000;
constexpr int kSteps = 40;

struct Outcome {
  std::string fault;
  std::uint64_t seed = 0;
  int met = 0;
  int made_room = 0;
  std::set<Reason> reasons;
};

// Runs `count` worlds, from seed `first` on, until the first fault.
Outcome Interleave(std::uint64_t first, int count, const Lies& lies) {
  Outcome outcome;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    World world(seed, lies);
    for (int step = 0; step < kSteps && outcome.fault.empty(); ++step) outcome.fault = world.Step();
    outcome.met += world.met();
    outcome.made_room += world.made_room();
    outcome.reasons.insert(world.reasons().begin(), world.reasons().end());
    outcome.seed = seed;
    if (!outcome.fault.empty()) break;
  }
  return outcome;
}

class InterleavingsTest : public ::testing::TestWithParam<int> {};

TEST_P(InterleavingsTest, KeepAllRules) {
  const std::uint64_t first = static_cast<std::uint64_t>(GetParam()) * kEach;
  RecordProperty("first_seed", std::to_string(first));
  std::cout << "seeds " << first << " to " << first + kEach - 1 << "\n";
  const Outcome outcome = Interleave(first, kEach, {});
  EXPECT_EQ(outcome.fault, "") << "seed " << outcome.seed;
  EXPECT_GT(outcome.met, kEach / 10) << "jobs hardly ever met: this shows nothing";
  EXPECT_GT(outcome.made_room, kEach / 10) << "jobs hardly ever made room: this shows nothing";
  EXPECT_GE(outcome.reasons.size(), 5u);
}
INSTANTIATE_TEST_SUITE_P(All, InterleavingsTest, ::testing::Range(0, kWorlds));

// The input or the output of the engine is falsified, so that a rule is broken. The referee knows the truth
// and must name that rule.
struct Planted {
  std::string fault;
  Lies lies;
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.fault; }

class PlantedTest : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedTest, IsSeen) {
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string fault = Interleave(seed, 1, GetParam().lies).fault;
    if (fault.find(GetParam().fault) != std::string::npos) return;
    found.insert(fault);
  }
  FAIL() << "in 2000 worlds, but for example \"" << *found.rbegin() << "\"";
}

Planted OfGang(const std::string& fault, std::function<void(Gang&)> lie) {
  Planted planted{.fault = fault, .lies = {}};
  planted.lies.about_gang = std::move(lie);
  return planted;
}
Planted OfPlaced(const std::string& fault, std::function<void(Placed&)> lie) {
  Planted planted{.fault = fault, .lies = {}};
  planted.lies.about_placed = std::move(lie);
  return planted;
}
Planted OfNode(const std::string& fault, std::function<void(Node&)> lie) {
  Planted planted{.fault = fault, .lies = {}};
  planted.lies.about_node = std::move(lie);
  return planted;
}
Planted InDecision(const std::string& fault, std::function<void(Decision&)> lie) {
  Planted planted{.fault = fault, .lies = {}};
  planted.lies.in_decision = std::move(lie);
  return planted;
}

void RepeatGpu(Decision& decision) {
  for (Plan& plan : decision.plans) {
    if (plan.seats.size() > 1) plan.seats[1] = plan.seats[0];
  }
}
// Changes who leaves.
Planted InRoom(const std::string& fault, std::function<void(Preemption&)> lie) {
  return InDecision(fault, [lie = std::move(lie)](Decision& decision) {
    if (decision.preemption) lie(*decision.preemption);
  });
}
void LoseSeat(Decision& decision) {
  for (Plan& plan : decision.plans) plan.seats.pop_back();
}
// Replaces one GPU of a gang that shares GPUs by another GPU of the same node.
void LeaveSet(Decision& decision) {
  for (Plan& plan : decision.plans) {
    if (plan.beside.empty() || plan.seats.front().gpus.size() != 1) continue;
    std::set<std::string> had;
    for (const Seat& seat : plan.seats) had.insert(seat.gpus.front());
    for (const char* gpu : {"-0", "-1"}) {
      const std::string other = plan.seats.front().node + gpu;
      if (!had.contains(other)) plan.seats.front().gpus.front() = other;
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<Planted>& planted) {
  std::string name = std::to_string(planted.index) + " " + planted.param.fault;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedTest,
    ::testing::Values(OfGang("no consent", [](Gang& g) { g.consent = Consent::kCluster; }),
                      OfGang("two users", [](Gang& g) { g.uid = 0; }),
                      OfGang("several users on a node",
                             [](Gang& g) {
                               if (g.users != Users::kMixed) g.users = Users::kOne;
                             }),
                      OfGang("several users in one pod",
                             [](Gang& g) {
                               if (g.users == Users::kMixed) g.users = Users::kOwn;
                             }),
                      OfGang("exclusive", [](Gang& g) { g.exclusive = false; }),
                      OfGang("more memory", [](Gang& g) { g.memory_cap = g.memory_cap > 0 ? kGib : 0; }),
                      OfGang("without a limit", [](Gang& g) { g.memory_cap = std::max(g.memory_cap, kGib); }),
                      OfGang("slowdown", [](Gang& g) { g.max_slowdown = 0; }),
                      OfGang("passed over", [](Gang& g) { g.rank = 0; }),
                      OfGang("a lower rank", [](Gang& g) { g.rank = -g.rank; }),
                      OfGang("policy is Never", [](Gang& g) { g.preempts = true; }),
                      OfPlaced("inversion", [](Placed& p) { p.gang.rank = -1000; }),
                      OfPlaced("a gang leaves that may not", [](Placed& p) { p.leave = Leave::kMay; }),
                      InRoom("where room is made", [](Preemption& r) { r.victims.pop_back(); }),
                      InRoom("no victims", [](Preemption& r) { r.victims.clear(); }),
                      OfNode("more clients",
                             [](Node& n) {
                               for (Gpu& gpu : n.gpus) gpu.slots = 8;
                             }),
                      OfNode("takes none", [](Node& n) { n.open = true; }),
                      OfNode("not there",
                             [](Node& n) {
                               for (Gpu& gpu : n.gpus) gpu.healthy = true;
                             }),
                      InDecision("two ranks", RepeatGpu), InDecision("half a gang", LoseSeat),
                      InDecision("not identical", LeaveSet),
                      InDecision("0 answers", [](Decision& d) { d.refusals.clear(); }),
                      InDecision("2 answers",
                                 [](Decision& d) {
                                   if (!d.plans.empty()) d.plans.push_back(d.plans.back());
                                 }),
                      InDecision("foreign",
                                 [](Decision& d) {
                                   for (Refusal& r : d.refusals) r.text = "alpha beta gamma";
                                 })),
    NameOf);

}  // namespace
}  // namespace crossover::placement
