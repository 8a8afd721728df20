// Runs random interleavings of filter, bind, watch events (late, doubled, reordered across kinds),
// restarts, failed and lost writes, jobs that change their size, succeed pod by pod, are suspended or crash,
// lost nodes, straying kubelets, disruption budgets, and profiles of jobs that come and go. None of them may
// end in what the referee forbids. Then faults are planted, and the referee must see them.
//
// CROSSOVER_SEEDS=N runs N of them, from CROSSOVER_FIRST_SEED on. CROSSOVER_DESCRIBE=1 prints the history
// of each run with a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/extender/gang/fake_cluster.h"
#include "tests/unit/sanitized.h"

namespace crossover::extender {
namespace {

constexpr int kShards = 4;
constexpr int kSteps = 120;

int Told(const char* name, int otherwise) {
  const char* told = std::getenv(name);
  return told == nullptr ? otherwise : std::atoi(told);
}

struct Outcome {
  std::string fault;
  int placed = 0, shared = 0, restarts = 0, resumed = 0, kept = 0, left = 0, taken_over = 0;
};

Outcome Live(std::uint64_t seed, const Sabotage& sabotage) {
  FakeCluster cluster(seed, sabotage);
  for (int step = 0; step < kSteps && cluster.fault().empty(); ++step) cluster.Step();
  if (cluster.fault().empty()) cluster.Settle();
  const bool told = !cluster.fault().empty() && std::getenv("CROSSOVER_DESCRIBE") != nullptr;
  if (told) std::cout << "seed " << seed << ": " << cluster.fault() << "\n" << cluster.Describe();
  return {cluster.fault(),   cluster.placed(), cluster.shared(), cluster.restarts(),
          cluster.resumed(), cluster.kept(),   cluster.left(),   cluster.taken_over()};
}

constexpr int kSeeds = crossover::testing::kSanitized ? 60 : 1200;

class GangInterleavingsTest : public ::testing::TestWithParam<int> {};

TEST_P(GangInterleavingsTest, KeepAllRules) {
  const int each = std::max(1, Told("CROSSOVER_SEEDS", kSeeds) / kShards);
  const int begin = Told("CROSSOVER_FIRST_SEED", 0) + GetParam() * each;
  const auto first = static_cast<std::uint64_t>(begin);
  std::cout << "seeds " << begin << " to " << begin + each - 1 << "\n";
  Outcome sum;
  int faults = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(each) && faults < 5; ++seed) {
    const Outcome outcome = Live(seed, {});
    EXPECT_EQ(outcome.fault, "") << "seed " << seed;
    faults += outcome.fault.empty() ? 0 : 1;
    sum.placed += outcome.placed;
    sum.shared += outcome.shared;
    sum.restarts += outcome.restarts;
    sum.resumed += outcome.resumed;
    sum.kept += outcome.kept;
    sum.left += outcome.left;
    sum.taken_over += outcome.taken_over;
  }
  EXPECT_GT(sum.placed, each) << "hardly any gang was placed: this shows nothing";
  EXPECT_GT(sum.shared, each / 10) << "gangs hardly ever met: this shows nothing";
  EXPECT_GT(sum.restarts, each);
  std::cout << sum.resumed << " jobs resumed, " << sum.kept << " gangs kept by budgets, " << sum.left
            << " gangs left for others, " << sum.taken_over << " claims taken over\n";
  if (each >= 300) {
    EXPECT_GT(sum.kept, 0) << "no budget mattered: this shows nothing";
    EXPECT_GT(sum.left, 0) << "no gang made room for another: this shows nothing";
    EXPECT_GT(sum.resumed, each / 40) << "what was left of a job was hardly ever placed: this shows nothing";
  }
}
INSTANTIATE_TEST_SUITE_P(All, GangInterleavingsTest, ::testing::Range(0, kShards));

// Something is spoilt on purpose, and the referee must say what.
struct Planted {
  const char* name;
  const char* fault;
  Sabotage sabotage;
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

class GangPlantedTest : public ::testing::TestWithParam<Planted> {};

TEST_P(GangPlantedTest, IsSeen) {
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string fault = Live(seed, GetParam().sabotage).fault;
    if (fault == GetParam().fault) return;
    found.insert(fault);
  }
  FAIL() << "in 500 lives, but for example \"" << *found.rbegin() << "\"";
}

Sabotage InAction(std::function<void(Action&)> spoil) {
  Sabotage sabotage;
  sabotage.action = std::move(spoil);
  return sabotage;
}
Sabotage InDrop(std::function<bool(const Action&)> drop) {
  Sabotage sabotage;
  sabotage.drop = std::move(drop);
  return sabotage;
}

// Makes every Binding name the first GPU of its node.
void FirstGpu(Action& action) {
  if (action.kind != Action::Kind::kBind) return;
  action.text = WriteAssignment({{"main", {"GPU-" + action.node.substr(1) + "0"}}});
}
void OtherNode(Action& action) {
  if (action.kind == Action::Kind::kBind) action.node = "n0";
}
void NoGpu(Action& action) {
  if (action.kind == Action::Kind::kBind) action.text = "{}";
}
void AnswerEarly(Action& action) {
  if (action.kind == Action::Kind::kAnswer) action.text.clear();
}

void GrantNothing(Action& action) { action.memory = 0; }

// Drops every read of an owner after the first.
std::function<bool(const Action&)> ReadOnce() {
  return [read = std::set<OwnerRef>()](const Action& action) mutable {
    return action.kind == Action::Kind::kReadOwner && !read.insert(action.owner).second;
  };
}

const Action::Kind kBind = Action::Kind::kBind;

INSTANTIATE_TEST_SUITE_P(
    All, GangPlantedTest,
    ::testing::Values(
        Planted{"TwoRanks", "two ranks of a gang on one GPU", InAction(FirstGpu)},
        Planted{"OverSlots", "more clients than slots", InAction(FirstGpu)},
        Planted{"ForeignGpu", "a GPU of another node", InAction(OtherNode)},
        Planted{"NoGpu", "it got another number of GPUs", InAction(NoGpu)},
        Planted{"NoGrant", "beside another without a bound of its memory", InAction(GrantNothing)},
        Planted{"FalseAnswer", "a bind is said to be done, and is not", InAction(AnswerEarly)},
        Planted{"WholeGangDeleted", "a pod of a gang that ran is deleted",
                [] {
                  Sabotage sabotage;  // half of the bound pods look unbound
                  sabotage.view = [](Pod& pod) {
                    if (pod.uid.back() % 2 == 0) pod.node.clear();
                  };
                  return sabotage;
                }()},
        Planted{"LostBinding", "a half gang past its deadline", InDrop([](const Action& action) {
                  return action.kind == kBind && action.pod.name.ends_with("-1");
                })},
        Planted{"NeverCleared", "a reservation is left over",
                InDrop([](const Action& action) { return action.kind == Action::Kind::kClear; })},
        Planted{"NeverReleased", "there is room, and it is not placed",
                InDrop([](const Action& action) { return action.kind == Action::Kind::kRelease; })},
        Planted{"SizeReadOnce", "there is room, and it is not placed", InDrop(ReadOnce())},
        // The extender does not see that pods have succeeded.
        Planted{"SuccessUnseen", "there is room, and it is not placed",
                [] {
                  Sabotage sabotage;
                  sabotage.view = [](Pod& pod) { pod.failed = pod.over; };
                  sabotage.owner = [](nlohmann::json& owner) { owner["status"] = nullptr; };
                  return sabotage;
                }()},
        Planted{"BudgetsUnseen", "pods are evicted against their budget",
                [] {
                  Sabotage sabotage;
                  sabotage.budget = [](Budget& budget) { budget.allowed = 1000; };
                  return sabotage;
                }()},
        Planted{"GrowthUnseen", "there is room, and it is not made whole", InDrop(ReadOnce())},
        Planted{"NeverUnseen", "a gang leaves for one that says Never",
                [] {
                  Sabotage sabotage;
                  sabotage.view = [](Pod& pod) { pod.preempts = true; };
                  return sabotage;
                }()},
        // The extender does not see what is taken.
        Planted{"BlindToBound", "more clients than slots",
                [] {
                  Sabotage sabotage;
                  sabotage.view = [](Pod& pod) {
                    if (!pod.node.empty()) pod.over = true;
                  };
                  sabotage.gpus = [](GpuNode& node) {
                    for (GpuNode::Gpu& gpu : node.gpus) gpu.holders.clear();
                  };
                  return sabotage;
                }()},
        Planted{"ManySlots", "more clients than slots",
                [] {
                  Sabotage sabotage;
                  sabotage.gpus = [](GpuNode& node) {
                    for (GpuNode::Gpu& gpu : node.gpus) gpu.slots = 8;
                  };
                  return sabotage;
                }()}),
    [](const ::testing::TestParamInfo<Planted>& planted) { return std::string(planted.param.name); });

}  // namespace
}  // namespace crossover::extender
