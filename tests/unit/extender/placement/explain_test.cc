// Tests every reason for a refusal, and the words of every rule.
#include "extender/placement/explain.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class ExplainTest : public ::testing::Test {
 protected:
  // Returns the engine's refusal of `gang`, which must not be placed.
  Refusal Refused(const Gang& gang, const Fitness& fitness = FitsAnywhere) {
    const Decision decision = Decide(state_, {gang}, 0, settings_, fitness);
    EXPECT_TRUE(decision.plans.empty());
    if (decision.refusals.size() != 1) return {};
    return decision.refusals[0];
  }
  // Places `gang` on all GPUs.
  void Run(Gang gang) {
    gang.pods = 4;
    state_.placed = {OnAll(gang, state_.nodes)};
  }
  // Expects that `newcomer` is refused with these words while `running` has all GPUs.
  void Expect(const Gang& running, const Gang& newcomer, const std::string& words) {
    Run(running);
    const Refusal refusal = Refused(newcomer);
    EXPECT_EQ(refusal.reason, Reason::kFull);
    EXPECT_NE(refusal.text.find(words), std::string::npos) << refusal.text;
  }
  State state_{.nodes = Nodes(2, 2), .placed = {}, .observed = {}};
  Settings settings_;
  Gang a_ = Job("a"), b_ = Job("b");
};

TEST_F(ExplainTest, Malformed) {
  a_.pods = 0;
  EXPECT_EQ(Refused(a_).text, "it has 0 pods; at least 1 is needed");
  EXPECT_EQ(Refused(a_).reason, Reason::kMalformed);
  b_.gpus_per_pod = -1;
  EXPECT_EQ(Refused(b_).text, "its pods ask for -1 GPUs; at least 1 is needed");
  Gang c = Job("c");
  c.max_slowdown = 0.5;
  EXPECT_EQ(Refused(c).text, "its max-slowdown is 0.5; at least 1 is needed");
  Gang d = Job("d");
  d.profile.exposed_s = -1;
  EXPECT_EQ(Refused(d).text,
            "the time of exposed communication in its profile is -1 s; at least 0 is needed");
  d.profile.exposed_s = 0;
  d.profile.spinning = 2;
  EXPECT_EQ(Refused(d).text,
            "the part of the GPU that collectives take in its profile is 2; 0 to 1 is needed");
  EXPECT_EQ(Refused(Job("")).text, "it has no identity");
}

TEST_F(ExplainTest, TooMuch) {
  EXPECT_EQ(Refused(Job("a", 5)).text, "needs 5 GPUs; the cluster has 4");
  EXPECT_EQ(Refused(Job("a", 5)).reason, Reason::kTooMuch);
}

TEST_F(ExplainTest, TooMuchMemory) {
  a_.memory_cap = 80 * kGib;
  EXPECT_EQ(
      Refused(a_).text,
      "needs 80.5 GiB of GPU memory, 0.5 GiB of it for its CUDA context; the largest GPU has 80 GiB: set "
      "a lower crossover.dev/gpu-memory");
  EXPECT_EQ(Refused(a_).reason, Reason::kMemory);
}

TEST_F(ExplainTest, OneDomainIsTooSmall) {
  state_.levels = {"zone", "rack"};
  for (std::size_t n = 0; n < 2; ++n) state_.nodes[n].domains = {"east", "rack" + std::to_string(n)};
  a_.within = "rack";
  EXPECT_EQ(Refused(a_).reason, Reason::kApart);
  EXPECT_EQ(Refused(a_).text,
            "needs 4 GPUs; even on empty nodes its pods could not keep to crossover.dev/within: rack");
  a_.within = "row";
  EXPECT_EQ(Refused(a_).text,
            "crossover.dev/within: expected a label that gangs.topology of the extender names (zone, rack), "
            "got row");
  state_.levels.clear();
  EXPECT_EQ(
      Refused(a_).text,
      "crossover.dev/within: expected no such annotation, because gangs.topology of the extender names no "
      "label, got row");
}

TEST_F(ExplainTest, NotBesideAJobInSeveralDomains) {
  state_.levels = {"rack"};
  for (std::size_t n = 0; n < 2; ++n) state_.nodes[n].domains = {"rack" + std::to_string(n)};
  state_.nodes.push_back(Nodes(3, 4)[2]);
  state_.nodes.back().domains = {"rack2"};
  Gang other = Job("other", 4);
  other.exclusive = true;
  state_.placed = {On(a_, {{"n0", {"n0-0", "n0-1"}}, {"n1", {"n1-0", "n1-1"}}}),
                   OnAll(other, {state_.nodes.back()})};
  EXPECT_EQ(Decide(state_, {b_}, 0, settings_).plans.size(), 1u) << "the control";
  b_.within = "rack";
  EXPECT_NE(Refused(b_).text.find("not all nodes of that job have the same value of rack, which "
                                  "crossover.dev/within of this job asks for"),
            std::string::npos)
      << Refused(b_).text;
}

TEST_F(ExplainTest, NoNodes) {
  const Fitness never = [](const Gang&, int node, std::span<const Planned>) {
    return Fit{.pods = 0, .ever = 0, .why = node == 0 ? "tainted gpu=broken" : "too little CPU"};
  };
  const Refusal refusal = Refused(a_, never);
  EXPECT_EQ(refusal.reason, Reason::kNodes);
  EXPECT_EQ(
      refusal.text,
      "needs 4 GPUs; even empty nodes would not fit its pods; 1 node: tainted gpu=broken; 1 node: too little "
      "CPU");
  Gang wide = Job("w", 1);
  wide.gpus_per_pod = 3;
  EXPECT_EQ(
      Refused(wide).text,
      "needs 3 GPUs; even empty nodes would not fit its pods; 2 nodes: fewer than 3 GPUs, which one pod "
      "needs");
  state_.nodes[0].open = false;
  EXPECT_NE(Refused(a_).text.find("1 node: closed to new pods"), std::string::npos);
}

TEST_F(ExplainTest, Scattered) {
  state_.placed = {On(Job("r", 2), {{"n0", {"n0-0"}}, {"n1", {"n1-0"}}})};
  Gang wide = Job("w", 1);
  wide.gpus_per_pod = 2;
  const Refusal refusal = Refused(wide);
  EXPECT_EQ(refusal.reason, Reason::kScattered);
  EXPECT_EQ(refusal.text,
            "needs 2 GPUs; 2 are free, but not where its pods fit; not beside name-of-r: that job's GPUs are "
            "not on nodes in multiples of 2, which one pod needs");
}

TEST_F(ExplainTest, Reserved) {
  state_.placed = {On(Job("r", 1), {{"n0", {"n0-0"}}})};
  state_.placed[0].gang.exclusive = true;
  Gang small = Job("s", 1);
  small.arrived_s = 3000;
  const Decision decision = Decide(state_, {a_, small}, 3000, settings_);
  const Refusal* refusal = RefusalOf(decision, "s");
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->reason, Reason::kKept);
  EXPECT_EQ(
      refusal->text,
      "needs 1 GPU; 0 are free, and 3 are kept for a job that has waited for longer or has a higher "
      "priority; not beside name-of-r: that job has whole GPUs: it asks for them, it begins, ends or lacks "
      "pods now, its annotations are invalid, or it is a pod of no job that Crossover knows");
}

TEST_F(ExplainTest, Full) {
  Run(a_);
  EXPECT_EQ(Refused(Job("b", 2)).text, "needs 2 GPUs; 0 are free");
}

TEST_F(ExplainTest, WholeGpus) {
  b_.exclusive = true;
  Expect(a_, b_, "not beside name-of-a: this job gets whole GPUs only");
  Expect(b_, a_, "not beside name-of-b: that job has whole GPUs: it asks for them, ");
}

TEST_F(ExplainTest, ConsentWithoutANameThatIsNotTheirsToKnow) {
  b_.space = "others";
  Expect(a_, b_, "not beside another job: both jobs must set crossover.dev/share-with: cluster");
  a_.consent = Consent::kCluster;
  Expect(a_, b_, "not beside another job: both jobs must set crossover.dev/share-with: cluster");
  b_.consent = Consent::kCluster;
  settings_.namespace_groups = {{a_.space}, {b_.space}};
  Expect(a_, b_,
         "not beside another job: no group of placement.namespace_groups has the namespaces of both jobs");
}

TEST_F(ExplainTest, Users) {
  for (Node& node : state_.nodes) node.one_user = true;
  b_.uid = 1000;
  Expect(a_, b_, "that job runs as another user ID, and MPS serves one at a time: use the same runAsUser");
  b_.uid = a_.uid;
  b_.users = Users::kUnlike;
  Expect(a_, b_,
         "MPS serves one user ID at a time on these nodes, and this job has several user IDs: use the same");
  Expect(b_, a_,
         "MPS serves one user ID at a time on these nodes, and that job has several user IDs: use the same");
  b_.users = Users::kOwn;
  Expect(
      a_, b_,
      "MPS serves one user ID at a time on these nodes, and with hostUsers: false each pod of this job has "
      "a user ID of its own");
  Expect(b_, a_, "with hostUsers: false each pod of that job has a user ID of its own");
}

TEST_F(ExplainTest, Learning) {
  b_.memory_cap = 0;
  b_.profile.source = Source::kUnknown;
  Expect(a_, b_, "this job's need of GPU memory is not known: set crossover.dev/gpu-memory");
  Expect(b_, a_, "that job has no limit of GPU memory, because its need was not known when it was placed");
}

TEST_F(ExplainTest, Memory) {
  b_.memory_cap = 60 * kGib;
  Expect(
      a_, b_,
      "together the jobs need 81 GiB of GPU memory, and the GPU has 80 GiB: lower crossover.dev/gpu-memory");
}

TEST_F(ExplainTest, History) {
  a_.key = "x", b_.key = "y";
  state_.observed = {{"x", "y", 0.9}};
  Expect(a_, b_, "these jobs lost time on average when they shared a GPU before");
}

TEST_F(ExplainTest, Slowdown) {
  a_.max_slowdown = b_.max_slowdown = 1.02;
  Expect(a_, b_, "the crossover.dev/max-slowdown of one of the jobs could not be kept: set a higher one");
}

TEST_F(ExplainTest, Gain) {
  a_.profile.exposed_s = b_.profile.exposed_s = 0;
  Expect(a_, b_,
         "the jobs would gain too little: 0.95 times one after the other, and 1.05 is the least "
         "(placement.min_gain)");
}

TEST_F(ExplainTest, GainOfAThird) {
  for (Node& node : state_.nodes) {
    for (Gpu& gpu : node.gpus) gpu.slots = 3;
  }
  Run(a_);
  state_.placed.push_back(OnAll(b_, state_.nodes));
  const Refusal refusal = Refused(Job("c"));
  EXPECT_NE(refusal.text.find("the jobs would gain too little: 1 times what they reach without this job, and "
                              "1.05 is the least (placement.min_gain)"),
            std::string::npos)
      << refusal.text;
}

TEST_F(ExplainTest, Slots) {
  Run(a_);
  state_.placed.push_back(OnAll(b_, state_.nodes));
  const Refusal refusal = Refused(Job("c"));
  EXPECT_NE(refusal.text.find("the GPUs of that job have no slot left: wait, or raise node.slots_per_gpu"),
            std::string::npos)
      << refusal.text;
  state_.nodes[0].gpus[0].slots = 1;
  Expect(a_, b_, "a GPU of that job has one slot: jobs do not share on its node, or node.slots_per_gpu is 1");
}

TEST_F(ExplainTest, Closed) {
  Run(a_);
  state_.nodes[0].gpus[0].healthy = false;
  state_.nodes.push_back(Nodes(3, 4)[2]);
  state_.placed.push_back(OnAll(Job("c"), {state_.nodes[2]}));
  state_.placed.back().gang.exclusive = true;
  EXPECT_NE(Refused(b_).text.find("the GPUs of that job take no further pod at present"), std::string::npos);
}

TEST_F(ExplainTest, Nodes) {
  Run(a_);
  const Fitness full = [](const Gang&, int, std::span<const Planned>) {
    return Fit{.pods = 0, .why = "too little CPU"};
  };
  const std::string text = Refused(b_, full).text;
  EXPECT_NE(text.find("a node of that job does not take the pods of this job: too little CPU"),
            std::string::npos)
      << text;
  const Fitness few = [](const Gang&, int, std::span<const Planned>) { return Fit{.pods = 1, .why = {}}; };
  const std::string less = Refused(b_, few).text;
  EXPECT_NE(less.find("a node of that job does not take the pods of this job: it takes 1 of 2 pods"),
            std::string::npos)
      << less;
}

// Two nodes hardly ever have the same amounts of anything, so the text gives the figures of one node as an
// example.
TEST_F(ExplainTest, FiguresOfNodesAreAnExample) {
  state_.nodes = Nodes(50, 2);
  state_.placed = {On(Job("r", 2), {{"n0", {"n0-0"}}, {"n0", {"n0-1"}}})};
  const Fitness full = [](const Gang&, int node, std::span<const Planned>) {
    if (node == 49) return Fit{.pods = 0, .why = "the node takes no more pods", .figures = "9 of 9"};
    const std::string figures = node == 0 ? "" : std::to_string(node) + " of 50";  // may be unknown
    return Fit{.pods = 0, .why = "its CPU is taken", .figures = figures};
  };
  EXPECT_EQ(Refused(Job("b", 2), full).text,
            "needs 2 GPUs; 98 are free, but not where its pods fit; 49 nodes: its CPU is taken, for example: "
            "1 of 50; 1 node: the node takes no more pods: 9 of 9; not beside name-of-r: a node of that job "
            "does not take the pods of this job: its CPU is taken");
}

TEST_F(ExplainTest, ManyReasonsAreNotAllSaid) {
  state_.nodes = Nodes(50, 2);
  const Fitness full = [](const Gang&, int node, std::span<const Planned>) {
    return Fit{.pods = 0, .why = "reason " + std::to_string(100 + node)};
  };
  EXPECT_EQ(Refused(Job("b", 2), full).text,
            "needs 2 GPUs; 100 are free, but not where its pods fit; 1 node: reason 100; 1 node: reason 101; "
            "1 node: "
            "reason 102; 1 node: reason 103; 46 nodes: other reasons");
  const Fitness wordy = [](const Gang&, int node, std::span<const Planned>) {
    return Fit{.pods = 0, .why = std::string(500, static_cast<char>('a' + node % 26))};
  };
  EXPECT_EQ(Refused(Job("b", 2), wordy).text.size(), 900u);
}

TEST_F(ExplainTest, EachReasonOnceWithAnExample) {
  state_.placed = {On(Job("r", 1), {{"n0", {"n0-0"}}}), On(Job("s", 1), {{"n0", {"n0-1"}}}),
                   On(Job("t", 2), {{"n1", {"n1-0"}}, {"n1", {"n1-1"}}})};
  for (Placed& placed : state_.placed) placed.gang.exclusive = true;
  EXPECT_EQ(
      Refused(Job("b", 1)).text,
      "needs 1 GPU; 0 are free; not beside name-of-r: that job has whole GPUs: it asks for them, it "
      "begins, ends or lacks pods now, its annotations are invalid, or it is a pod of no job that Crossover "
      "knows (and 1 more)");
}

TEST_F(ExplainTest, UnknownMemory) {
  for (Node& node : state_.nodes) {
    for (Gpu& gpu : node.gpus) gpu = {.uuid = gpu.uuid, .memory = 0, .slots = 1};
  }
  a_.memory_cap = b_.memory_cap = 20 * kGib;
  const Decision decision = Decide(state_, {a_}, 0, settings_, FitsAnywhere);
  EXPECT_EQ(decision.plans.size(), 1u) << "a job that is alone gets them, whatever memory it names";
  Expect(a_, b_,
         "the memory of the GPUs of that job is not known: an administrator must set node.gpu_memory");
}

TEST_F(ExplainTest, PodsOfOneControllerAreToldHowToBeOneJob) {
  b_.job = a_.job = "team/owner/1";
  b_.maker = a_.maker = "StatefulSet";
  const Group group{.gangs = {&a_}, .gpus = {}, .site = {}, .shut = false};
  EXPECT_EQ(
      Words({.rule = Rule::kTwoRanks, .peer = &a_}, group, b_, {}),
      "it and this pod are of the same StatefulSet, and no two of its pods are on one GPU: if they are one "
      "job, set crossover.dev/gang and crossover.dev/gang-size; if each pod is a job, give each a "
      "crossover.dev/gang of its own");
}

// The tests above reach neither of these two rules.
TEST_F(ExplainTest, WordsForTheRest) {
  const Group group{.gangs = {&a_}, .gpus = {}, .site = {}, .shut = false};
  for (const Rule rule : {Rule::kTwoRanks, Rule::kSameCount}) EXPECT_NE(Words({rule}, group, b_, {}), "");
}

}  // namespace
}  // namespace crossover::placement
