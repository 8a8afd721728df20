#include "extender/gang/gangs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/names.h"
#include "extender/gang/gang_stats.h"
#include "extender/gang/reconcile.h"
#include "tests/unit/extender/gang/by_hand.h"
#include "tests/unit/extender/gang/made_node.h"
#include "tests/unit/extender/gang/made_profile.h"
#include "tests/unit/extender/gang/made_term.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Tests a ClusterCache of one node with two GPUs. The test carries out the writes by hand.
class GangsTest : public ByHand {
 protected:
  GangsTest() { PutNode(&cache_); }

  void Add(const std::string& uid, Labels annotations = {}) {
    Pod pod;
    pod.uid = uid;
    pod.name_space = "team";
    pod.name = "pod-" + uid;
    pod.created_s = 1000;
    pod.version = std::to_string(version_++);
    pod.gates = {base::kGangGate};
    pod.scheduler = base::kSchedulerName;
    pod.annotations = std::move(annotations);
    pod.annotations[base::kGangAnnotation] = "g";
    pod.annotations[base::kGangSizeAnnotation] = "2";
    Container container;
    container.name = "main";
    container.slots = 1;
    pod.containers = {container};
    cache_.Put(pod);
  }
  // Gives a pod a reservation of one GPU, as an earlier leader left it.
  void Reserved(const std::string& uid, const std::string& plan, const std::string& gpu, bool again = false) {
    Change(uid, [&](Pod& pod) {
      pod.gates.clear();
      pod.annotations[base::kReservationAnnotation] = WriteReservation(
          {.plan = plan, .seat = {"n0", {{"main", {gpu}}}}, .until_s = now_s_ + 20, .again = again});
    });
  }
  void Lead(GangSettings settings = {}) { Begin(std::move(settings)); }

  // Binds a pod to a GPU of n0. An empty `gpu` leaves unknown which GPU it has.
  void BindTo(const std::string& uid, const std::string& gpu) {
    Change(uid, [&gpu](Pod& pod) {
      pod.gates.clear();
      pod.node = "n0";
      if (!gpu.empty()) pod.annotations[base::kAssignmentAnnotation] = WriteAssignment({{"main", {gpu}}});
    });
  }
  // Adds a pod of `gang` that is bound to a GPU of n0. An empty `gpu` leaves unknown which GPU it has.
  void AddBound(const std::string& uid, const std::string& gang, int size, const std::string& gpu) {
    Add(uid);
    Change(uid, [&](Pod& pod) {
      pod.annotations[base::kGangAnnotation] = gang;
      pod.annotations[base::kGangSizeAnnotation] = std::to_string(size);
    });
    BindTo(uid, gpu);
  }

  // Adds a gang of one pod that shares GPUs with no other gang.
  void AddExclusive(const std::string& uid) {
    Add(uid);
    Change(uid, [&](Pod& pod) {
      pod.annotations[base::kGangAnnotation] = uid;
      pod.annotations[base::kGangSizeAnnotation] = "1";
      pod.annotations[base::kShareAnnotation] = "exclusive";
    });
  }
  // Adds a gang of two running pods. The leader has seen them run.
  void AddRunning() {
    Lead();
    AddBound("u0", "g", 2, "GPU-a");
    AddBound("u1", "g", 2, "GPU-b");
    gangs_->Step(now_s_);
  }

  // Adds a pod of the Job "j" whose UID is `job`.
  void AddOfJob(const std::string& uid, const std::string& job) {
    Add(uid);
    Change(uid, [&](Pod& pod) {
      pod.annotations = {{"batch.kubernetes.io/job-completion-index", "0"}};
      pod.labels = {{"batch.kubernetes.io/job-name", "j"}, {"batch.kubernetes.io/controller-uid", job}};
    });
  }
  // Answers the one pending read of a Job: it has `size` pods.
  void ReadJob(int size) { ASSERT_EQ(AnswerReads(size), 1); }
  // Answers all pending reads of Jobs. Returns how many there were.
  int AnswerReads(int size) { return AnswerReads(size, size); }
  // Answers all pending reads of Jobs with `pods` pods at a time and `completions` in all.
  int AnswerReads(int pods, int completions, const nlohmann::json& status = {}) {
    const auto reads = Do(Kind::kReadOwner);
    const nlohmann::json limits = {{"limits", {{base::kSlotResource, "1"}}}};
    const nlohmann::json pod = {{"containers", {{{"name", "main"}, {"resources", limits}}}}};
    const nlohmann::json spec = {
        {"parallelism", pods}, {"completions", completions}, {"template", {{"spec", pod}}}};
    const nlohmann::json job = {
        {"apiVersion", "batch/v1"}, {"kind", "Job"}, {"spec", spec}, {"status", status}};
    for (const Action& read : reads) gangs_->OwnerRead(read.id, job, "", now_s_);
    return static_cast<int>(reads.size());
  }
  std::optional<FilterAnswer> Filter(const std::string& uid) {
    const std::vector<std::string_view> nodes = {"n0", "n1"};
    return gangs_->Filter({.uid = uid, .name_space = "team", .name = uid}, nodes, now_s_);
  }
  void Bind(const std::string& uid, BindHandle bind_handle) {
    gangs_->Bind({.uid = uid, .name_space = "team", .name = uid}, "n0", bind_handle, now_s_);
  }
  void ReserveAndRelease() {
    for (const Action& action : Do(Kind::kReserve)) Accept(action);
    for (const Action& action : Do(Kind::kRelease)) Accept(action);
  }
  // Lets the scheduler bind both pods of a gang of two that has just come.
  void BindBoth() {
    Add("u0");
    Add("u1");
    Lead();
    ReserveAndRelease();
    Bind("u0", 1);
    Bind("u1", 2);
  }
  // Lets the scheduler bind both pods of a plan. Only the Binding of u0 is carried out. Returns the other
  // Binding, which may still be on its way.
  Action BindTheFirst() {
    ReserveAndRelease();
    Bind("u0", 1);
    Bind("u1", 2);
    Action other;
    for (const Action& action : Do(Kind::kBind)) {
      if (action.pod.uid == "u0") {
        Accept(action);
        BindTo("u0", "GPU-a");
      } else {
        other = action;
      }
    }
    return other;
  }
  // Does the same with two pods of a Job whose size is read.
  Action BindTheFirstOf(const std::string& job) {
    for (const char* uid : {"u0", "u1"}) AddOfJob(uid, job);
    Lead();
    ReadJob(2);
    now_s_ += 1;
    return BindTheFirst();
  }
  // Makes a plan for a gang of two. The scheduler then asks about other nodes than the plan's, and the plan
  // is taken back. Returns the answer to the scheduler.
  FilterAnswer LoseItsNode() {
    Add("u0");
    Add("u1");
    Lead();
    return LoseItsNodeAgain();
  }
  FilterAnswer LoseItsNodeAgain() {
    ReserveAndRelease();
    const std::vector<std::string_view> others = {"n1", "n2"};
    const auto answer = gangs_->Filter({.uid = "u0", .name_space = "team", .name = "u0"}, others, now_s_);
    for (const Action& action : Do(Kind::kClear)) Accept(action);
    return answer.value_or(FilterAnswer{});
  }

  using Seat = std::pair<std::string, std::string>;  // node, UUID
  // Returns the seat in the reservation of a pod of one GPU.
  Seat SeatIn(const std::string& uid) {
    const auto reservation =
        ReadReservation(cache_.FindPod(uid)->annotations.at(base::kReservationAnnotation)).value();
    return {reservation.seat.node, reservation.seat.gpus().front()};
  }
  // Makes a disruption budget for all pods of the namespace.
  void Allow(int evictions) {
    Budget budget{.name_space = "team", .name = "train", .selector = {}, .allowed = evictions};
    budget.selector.nothing = false;
    cache_.Put(budget);
  }
  // Binds u0 of a gang of two, and refuses the Binding of u1. u0 runs. The deadline passes.
  void HalfAGangAtItsDeadline() {
    BindBoth();
    RefuseAllBut("u0");
  }
  // Carries out the Binding of this pod, which then runs, and refuses all others. The deadline passes.
  void RefuseAllBut(const std::string& uid) {
    for (const Action& action : Do(Kind::kBind)) {
      const bool it = action.pod.uid == uid;
      if (it) BindTo(uid, "GPU-a");
      gangs_->Written(action.id, {.outcome = it ? Outcome::kDone : Outcome::kRefused, .error = "409"},
                      now_s_);
    }
    Change(uid, [](Pod& pod) { pod.running = true; });
    now_s_ += 121;
  }
};

TEST_F(GangsTest, NoGateIsLiftedBeforeAllAreReserved) {
  Add("u0");
  Add("u1");
  Lead();
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 2u);
  Accept(reserve[0]);
  EXPECT_TRUE(Do(Kind::kRelease).empty());
  EXPECT_TRUE(Filter("u0")->nodes.empty());
  Accept(reserve[1]);
  EXPECT_EQ(Do(Kind::kRelease).size(), 2u);
  EXPECT_EQ(Filter("u0")->nodes, std::vector<std::string>{"n0"});
}

// A scheduler tries the node that a pod is nominated to alone, before it looks at thousands of nodes.
TEST_F(GangsTest, PodsAreNominatedToTheNodesOfTheirPlanIfOursSchedulesThem) {
  Add("u0");
  Add("u1");
  Change("u1", [](Pod& pod) { pod.scheduler = "another"; });
  Lead();
  for (const Action& action : Do(Kind::kReserve)) Accept(action);
  const std::vector<Action> release = Do(Kind::kRelease);
  ASSERT_EQ(release.size(), 2u);
  for (const Action& action : release) EXPECT_EQ(action.node, action.pod.uid == "u0" ? "n0" : "");
}

TEST_F(GangsTest, WhoNamesNoBudgetIsGrantedWhatIsKnownOfSuchJobs) {
  const auto granted = [this](Labels annotations, const std::string& key) {
    for (const char* uid : {"u0", "u1"}) {
      Add(uid, annotations);
      Change(uid, [&key](Pod& pod) { pod.profile_key = key; });
    }
    Lead();
    std::vector<std::uint64_t> bytes;
    for (const Action& action : Do(Kind::kReserve)) bytes.push_back(action.memory);
    return bytes;
  };
  cache_.Put(MadeProfile("bert", std::uint64_t{20} << 30));
  const std::uint64_t with_margin = std::uint64_t{22} << 30;
  EXPECT_THAT(granted({}, "bert"), ElementsAre(with_margin, with_margin));
  EXPECT_THAT(granted({}, "unknown"), ElementsAre(0, 0));
  EXPECT_THAT(granted({{"crossover.dev/gpu-memory", "8Gi"}}, "bert"), ElementsAre(0, 0))
      << "they say it themselves";
}

// No webhook has seen this pod.
TEST_F(GangsTest, GpusOfAnInitContainerAloneAreToldAsAFault) {
  Add("u0");
  Change("u0", [](Pod& pod) {
    pod.annotations[base::kGangSizeAnnotation] = "1";
    pod.containers = {{.name = "fetch", .slots = 2, .init = true}, {.name = "main"}};
  });
  Lead();
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  now_s_ += 1;
  const std::vector<Action> told = Do(Kind::kTell);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].warning);
  EXPECT_THAT(told[0].text, HasSubstr("init container fetch asks for 2 GPUs, and no container after it"));
}

// The Job keeps the pods that failed, and they still have the gang's name. They ran without a bound on
// memory, because nothing was known of such jobs.
TEST_F(GangsTest, WhoIsMadeAgainIsGrantedWhatIsKnownByNow) {
  const auto keyed = [](Pod& pod) { pod.profile_key = "bert"; };
  AddRunning();
  for (const char* uid : {"u0", "u1"}) Change(uid, keyed);
  cache_.Put(MadeProfile("bert", std::uint64_t{20} << 30));
  gangs_->ClusterChanged();
  for (const char* uid : {"u0", "u1"}) Change(uid, [](Pod& pod) { pod.over = pod.failed = true; });
  for (const char* uid : {"u2", "u3"}) {
    Add(uid);
    Change(uid, keyed);
  }
  now_s_ += 1;
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 2u);
  for (const Action& action : reserve) EXPECT_EQ(action.memory, std::uint64_t{22} << 30);
}

// Gangs beside it count on the bound, so a new leader keeps it if the profile is gone and the pod as well.
TEST_F(GangsTest, ANewLeaderGrantsAReplacedPodWhatThePlanHasGranted) {
  constexpr std::uint64_t kGranted = std::uint64_t{22} << 30;
  const auto keyed = [](Pod& pod) { pod.profile_key = "bert"; };
  cache_.Put(MadeProfile("bert", std::uint64_t{20} << 30));
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid, keyed);
  }
  Lead();
  for (const Action& action : Do(Kind::kReserve)) {
    EXPECT_EQ(action.memory, kGranted);
    Accept(action);
    Change(action.pod.uid,
           [](Pod& pod) { pod.annotations[base::kGrantedMemoryAnnotation] = std::to_string(kGranted); });
  }
  for (const Action& action : Do(Kind::kRelease)) Accept(action);
  cache_.Put(MadeProfile("bert"));
  pending_.clear();
  Lead();
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  for (const char* uid : {"u0", "u1"}) Remove(uid);
  Add("u2");
  Change("u2", keyed);
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  EXPECT_EQ(reserve[0].memory, kGranted);
}

// The gang's reservations are on their way, with no memory granted, when the need of such jobs becomes
// known.
TEST_F(GangsTest, NoGangIsPutBesideOneThatWasPlacedWithoutABound) {
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid, [](Pod& pod) { pod.profile_key = "bert"; });
  }
  Lead();
  const std::vector<Action> first = Do(Kind::kReserve);
  ASSERT_EQ(first.size(), 2u);
  for (const Action& action : first) EXPECT_EQ(action.memory, 0u);
  cache_.Put(MadeProfile("bert", std::uint64_t{20} << 30));
  gangs_->ClusterChanged();
  for (const char* uid : {"u2", "u3"}) {
    Add(uid, {{base::kGpuMemoryAnnotation, "8Gi"}});
    Change(uid, [](Pod& pod) { pod.annotations[base::kGangAnnotation] = "h"; });
  }
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u2"), HasSubstr("that job has no limit of GPU memory, because its need"));
  for (const Action& action : first) Accept(action);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "its annotations say so as well";
}

TEST_F(GangsTest, BindingsAreOnOneBarrierAndTakenAlreadyIsSuccess) {
  Add("u0");
  Add("u1");
  Lead();
  ReserveAndRelease();
  Bind("u0", 1);
  EXPECT_TRUE(Do(Kind::kBind).empty());
  Bind("u1", 2);
  const std::vector<Action> bind = Do(Kind::kBind);
  ASSERT_EQ(bind.size(), 2u);
  EXPECT_NE(bind[0].text, bind[1].text);
  for (const Action& action : bind) {
    gangs_->Written(action.id, {.outcome = Outcome::kRefused, .node = "n0", .error = "already assigned"},
                    now_s_);
  }
  const std::vector<Action> answers = Do(Kind::kAnswer);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].text + answers[1].text, "");
}

TEST_F(GangsTest, ANewLeaderForgetsWhatWasHalfReserved) {
  Add("u0");
  Add("u1");
  Lead();
  Accept(Do(Kind::kReserve)[0]);
  pending_.clear();
  Lead();
  // The new leader makes another plan, for both pods.
  const std::vector<Action> reserve = Do(Kind::kReserve);
  EXPECT_TRUE(Do(Kind::kRelease).empty());
  const std::vector<Action> clear = Do(Kind::kClear);
  EXPECT_EQ(clear.size(), 1u);
  for (const Action& action : clear) Accept(action);
  for (const Action& action : reserve) Accept(action);
  for (const Action& action : Do(Kind::kReserve)) Accept(action);
  EXPECT_EQ(Do(Kind::kRelease).size(), 2u);
}

TEST_F(GangsTest, ANewLeaderCarriesOnOnceAGateIsLifted) {
  Add("u0");
  Add("u1");
  Lead();
  for (const Action& action : Do(Kind::kReserve)) Accept(action);
  Accept(Do(Kind::kRelease)[0]);
  const std::string before = cache_.FindPod("u1")->annotations.at(base::kReservationAnnotation);
  pending_.clear();
  Lead();
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  for (const Action& action : Do(Kind::kRelease)) Accept(action);
  EXPECT_EQ(cache_.FindPod("u1")->annotations.at(base::kReservationAnnotation), before);
  EXPECT_TRUE(cache_.FindPod("u1")->gates.empty());
  EXPECT_EQ(Filter("u1")->nodes, std::vector<std::string>{"n0"});
}

// The seats of pods that are being deleted are free for others.
TEST_F(GangsTest, ANewLeaderKeepsNoPlanOfPodsThatAreOnTheirWayOut) {
  Add("u0");
  Add("u1");
  Lead();
  ReserveAndRelease();
  for (const char* uid : {"u0", "u1"}) Change(uid, [](Pod& pod) { pod.deleting = true; });
  for (const bool all : {true, false}) {
    if (!all) Change("u1", [](Pod& pod) { pod.deleting = false; });
    Lead();
    gangs_->Step(now_s_);
    EXPECT_EQ(gangs_->store().gangs.begin()->second.plan.has_value(), !all);
  }
}

// A gang that was whole is not given up because a pod that was made again has no place.
TEST_F(GangsTest, ANewLeaderKnowsWhetherAGangWasWhole) {
  Add("u0");
  Add("u1");
  Reserved("u0", "first", "GPU-a");
  Change("u0", [](Pod& pod) { pod.node = "n0"; });
  for (const bool again : {false, true}) {
    Reserved("u1", "second", "GPU-b", again);
    Lead();
    gangs_->Step(now_s_);
    const GangRecord& gang = gangs_->store().gangs.begin()->second;
    ASSERT_TRUE(gang.plan);
    EXPECT_FALSE(gang.plan->whole);
    EXPECT_EQ(gang.placed(), again);
  }
}

// The gang ran when the time of its plan ended, or its pods would have been deleted then. A pod has come
// since, in place of one that is gone. That is no reason to end the gang now.
TEST_F(GangsTest, ANewLeaderEndsNoGangThatOutlivedItsPlan) {
  const auto deleted = [this](double made_s) {
    AddBound("u0", "g", 2, "GPU-a");
    Change("u0", [&](Pod& pod) {
      pod.annotations[base::kReservationAnnotation] = WriteReservation(
          {.plan = "p", .seat = {"n0", {{"main", {"GPU-a"}}}}, .until_s = now_s_ - 3600, .size = 2});
    });
    Add("u1");
    Change("u1", [&](Pod& pod) { pod.created_s = made_s; });
    Lead();
    std::size_t deletions = 0;
    for (int i = 0; i < 300; ++i, ++now_s_) deletions += Do(Kind::kEvict).size();
    for (const char* uid : {"u0", "u1"}) Remove(uid);
    gangs_.reset();
    return deletions;
  };
  now_s_ = 10'000;
  AddBound("x0", "x0", 1, "GPU-a");
  AddBound("x1", "x1", 1, "GPU-b");
  AddBound("x2", "x2", 1, "GPU-b");
  EXPECT_EQ(deleted(now_s_), 0u);
  EXPECT_GT(deleted(now_s_ - 3601), 0u) << "the control: that one never had a place";
}

// No leader ever saw this gang whole. Its bound pod is deleted, although there is a place for the other pod,
// and also if the other pod is leaving.
TEST_F(GangsTest, ANewLeaderEndsAHalfGangToo) {
  for (const bool leaving : {false, true}) {
    const std::string bound = leaving ? "u2" : "u0", other = leaving ? "u3" : "u1";
    for (const std::string& uid : {bound, other}) Add(uid);
    Reserved(bound, "first", "GPU-a");
    Change(bound, [](Pod& pod) { pod.node = "n0"; });
    if (leaving) {
      Reserved(other, "first", "GPU-b");
      Change(other, [](Pod& pod) { pod.deleting = true; });
    }
    Lead();
    std::vector<Action> deleted;
    for (int i = 0; i < 10 && deleted.empty(); ++i) {
      for (const Kind kind : {Kind::kReserve, Kind::kRelease, Kind::kClear}) {
        for (const Action& action : Do(kind)) Accept(action);
      }
      deleted = Do(Kind::kEvict);
      now_s_ += 31;
    }
    ASSERT_EQ(deleted.size(), 1u) << leaving;
    EXPECT_EQ(deleted[0].pod.uid, bound);
    for (const std::string& uid : {bound, other}) cache_.RemovePod(uid);
  }
}

// The API server answers that it is busy. That answer is about the second attempt, not about the first.
TEST_F(GangsTest, ABindingWhoseAnswerWasLostIsAskedForUntilItIsKnown) {
  BindBoth();
  for (const Action& action : Do(Kind::kBind)) {
    const bool done = action.pod.uid == "u0";
    if (done) Change("u0", [](Pod& pod) { pod.node = "n0"; });
    gangs_->Written(action.id, {.outcome = done ? Outcome::kDone : Outcome::kUnknown}, now_s_);
  }
  now_s_ += 1;
  for (const Action& action : Do(Kind::kBind)) {
    gangs_->Written(action.id, {.outcome = Outcome::kRefused, .error = "429"}, now_s_);
  }
  now_s_ += 121;
  EXPECT_TRUE(Do(Kind::kClear).empty());
  EXPECT_TRUE(Do(Kind::kEvict).empty()) << "before it is known whether the other one is bound, too";
  const std::vector<Action> bind = Do(Kind::kBind);
  ASSERT_EQ(bind.size(), 1u);
  gangs_->Written(bind[0].id, {.outcome = Outcome::kRefused, .node = "n0", .looked = true}, now_s_);
  now_s_ += 30;
  EXPECT_TRUE(Do(Kind::kEvict).empty()) << "it is whole after all";
  EXPECT_TRUE(gangs_->store().gangs.begin()->second.placed());
}

TEST_F(GangsTest, PastTheDeadlineTheBoundAreDeletedThenTheRestIsWipedOff) {
  BindBoth();
  for (const Action& action : Do(Kind::kBind)) {
    const bool first = action.pod.uid == "u0";
    if (first) Change("u0", [](Pod& pod) { pod.node = "n0"; });
    gangs_->Written(action.id, {.outcome = first ? Outcome::kDone : Outcome::kRefused, .error = "409"},
                    now_s_);
  }
  now_s_ += 121;
  const std::vector<Action> deletes = Do(Kind::kEvict);
  ASSERT_EQ(deletes.size(), 1u);
  EXPECT_EQ(deletes[0].pod.uid, "u0");
  EXPECT_TRUE(Do(Kind::kClear).empty());
  gangs_->Written(deletes[0].id, {.outcome = Outcome::kDone}, now_s_);
  const std::vector<Action> clear = Do(Kind::kClear);
  ASSERT_EQ(clear.size(), 1u);
  EXPECT_EQ(clear[0].pod.uid, "u1");
}

// In the second round the job is smaller than when its plan was made, and so it is whole.
TEST_F(GangsTest, AtTheDeadlineAJobIsAskedForItsSizeOnceMore) {
  for (const bool smaller : {false, true}) {
    BindTheFirstOf(smaller ? "second" : "first");
    Remove("u1");
    now_s_ += 121;
    EXPECT_TRUE(Do(Kind::kEvict).empty()) << "it is asked";
    ReadJob(smaller ? 1 : 2);
    now_s_ += 1;
    EXPECT_EQ(Do(Kind::kEvict).size(), smaller ? 0u : 1u);
    Remove("u0");
  }
}

// In the second round the job is smaller for a while, and whole. Its bound pod stays when the job grows
// again.
TEST_F(GangsTest, AJobWhosePodWentBeforeItWasBoundIsAskedForItsSize) {
  for (const bool smaller : {false, true}) {
    BindTheFirstOf(smaller ? "second" : "first");
    Remove("u1");
    now_s_ += 11;
    ReadJob(smaller ? 1 : 2);
    now_s_ += 1;
    Do(Kind::kTell);
    now_s_ += 120;
    AnswerReads(2);
    now_s_ += 1;
    EXPECT_EQ(Do(Kind::kEvict).size(), smaller ? 0u : 1u);
    Remove("u0");
  }
}

// The job's size cannot be asked for in that time, and no gang is ended.
TEST_F(GangsTest, NoGangIsEndedWhileTheApiServerWantsToBeLeftAlone) {
  const Action other = BindTheFirstOf("first");
  now_s_ += 115;
  gangs_->Written(other.id, {.outcome = Outcome::kRefused, .error = "429", .retry_after_s = 30}, now_s_);
  now_s_ += 10;
  Do(Kind::kReadOwner);
  EXPECT_TRUE(Do(Kind::kEvict).empty());
  now_s_ += 25;
  ReadJob(2);
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kEvict).size(), 1u);
}

TEST_F(GangsTest, ABudgetKeepsHalfAGangAndTheOtherHalfIsPlacedBesideIt) {
  Allow(0);
  HalfAGangAtItsDeadline();
  EXPECT_TRUE(Do(Kind::kEvict).empty());
  for (const Action& action : Do(Kind::kClear)) Accept(action);
  now_s_ += 1;
  gangs_->Step(now_s_);
  EXPECT_THAT(gangs_->WhyWaits("u1"),
              HasSubstr("the bound pods of the gang stay: the disruption budget team/train: expected that it "
                        "allows the eviction of 1 pod, got 0 pods"));
  now_s_ += 10;
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u) << gangs_->WhyWaits("u1");
  EXPECT_EQ(reserve[0].pod.uid, "u1");
  Accept(reserve[0]);
  for (const Action& action : Do(Kind::kRelease)) Accept(action);
  BindTo("u1", "GPU-b");
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kEvict).empty());
  EXPECT_TRUE(gangs_->store().gangs.begin()->second.placed());
}

TEST_F(GangsTest, APlanThatFailsTellsWhatBecomesOfItsBoundPods) {
  HalfAGangAtItsDeadline();
  for (const Action& action : Do(Kind::kEvict)) Accept(action);
  for (const Action& action : Do(Kind::kClear)) Accept(action);
  now_s_ += 1;
  gangs_->Step(now_s_);
  EXPECT_THAT(
      gangs_->WhyWaits("u1"),
      AllOf(StartsWith("its gang g is not complete: 1 of 2 pods exist"),
            EndsWith("; its bound pods were evicted: not all pods of the gang were bound within 120 s")));
}

TEST_F(GangsTest, APodThatItsJobNeedsNoMoreIsToldSo) {
  AddOfJob("u0", "j");
  Lead();
  ASSERT_EQ(AnswerReads(1, 1, {{"succeeded", 1}}), 1);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_EQ(gangs_->WhyWaits("u0"), "its gang needs no more pods, by what was read of Job j");
}

TEST_F(GangsTest, APodTooManyIsNotToldThatItReplacesOthers) {
  AddRunning();
  Add("u2");
  gangs_->PodChanged("u2", now_s_);
  gangs_->Step(now_s_);
  EXPECT_EQ(gangs_->WhyWaits("u2"),
            "its gang needs no more pods; bound pods: 2; is crossover.dev/gang-size right?");
  Change("u0", [](Pod& pod) { pod.deleting = true; });
  gangs_->Step(now_s_);
  EXPECT_EQ(gangs_->WhyWaits("u2"), "the pods that it replaces have not ended yet");
}

// This is the control. Without the budget, or if the pod has not begun to run, the same pod is evicted.
TEST_F(GangsTest, HalfAGangIsEvictedWhereNoBudgetForbidsIt) {
  for (const bool runs : {true, false}) {
    if (!runs) Allow(0);
    HalfAGangAtItsDeadline();
    if (!runs) Change("u0", [](Pod& pod) { pod.running = false; });
    EXPECT_EQ(Do(Kind::kEvict).size(), 1u);
    for (const char* uid : {"u0", "u1"}) Remove(uid);
    pending_.clear();
    gangs_.reset();
  }
}

// A Binding that was refused may have been carried out by another program.
TEST_F(GangsTest, APodThatIsBoundLateLeavesWithTheOthers) {
  HalfAGangAtItsDeadline();
  ASSERT_EQ(Do(Kind::kEvict).size(), 1u);
  BindTo("u1", "GPU-b");
  const std::vector<Action> evict = Do(Kind::kEvict);
  ASSERT_EQ(evict.size(), 1u) << "a gang of which a pod leaves is not complete";
  EXPECT_EQ(evict[0].pod.uid, "u1");
}

TEST_F(GangsTest, HalfAGangThatFindsNoPlaceIsEvictedOnceItsBudgetAllowsIt) {
  Allow(0);
  HalfAGangAtItsDeadline();
  Cordon(true);
  for (int s = 0; s < 900; ++s) {
    now_s_ += 1;
    for (const Action& action : Do(Kind::kClear)) Accept(action);
    EXPECT_TRUE(Do(Kind::kEvict).empty());
  }
  EXPECT_THAT(gangs_->WhyWaits("u1"), HasSubstr("other pods of its gang run; "));
  EXPECT_THAT(gangs_->WhyWaits("u1"), HasSubstr("the disruption budget team/train"));
  Allow(1);
  std::vector<Action> evict;
  for (int s = 0; s < 601 && evict.empty(); ++s) {
    now_s_ += 1;
    evict = Do(Kind::kEvict);
  }
  ASSERT_EQ(evict.size(), 1u);
  Accept(evict[0]);
  Remove("u0");
  now_s_ += 1;
  gangs_->Step(now_s_);
  EXPECT_THAT(gangs_->WhyWaits("u1"), HasSubstr("; its bound pods were evicted: "));
}

// The pause between two tries to evict pods doubles with each refusal in a row. A gang of which no pod is
// bound any more begins anew.
TEST_F(GangsTest, AGangThatBeginsAnewForgetsThatItsEvictionWasForbidden) {
  const auto pause_s = [this] { return gangs_->store().gangs.begin()->second.removal.retry_s - now_s_; };
  Allow(0);
  HalfAGangAtItsDeadline();
  EXPECT_TRUE(Do(Kind::kEvict).empty());
  EXPECT_EQ(pause_s(), 30);
  for (const Action& action : Do(Kind::kClear)) Accept(action);
  gangs_->Step(now_s_);
  Remove("u0");
  Add("u2");
  gangs_->PodChanged("u2", now_s_);
  now_s_ += 10;
  ReserveAndRelease();
  Bind("u1", 3);
  Bind("u2", 4);
  RefuseAllBut("u2");
  EXPECT_TRUE(Do(Kind::kEvict).empty());
  EXPECT_EQ(pause_s(), 30);
}

// The watch shows a budget for two pods, and another program has used a part of it up since.
TEST_F(GangsTest, ABudgetThatIsUsedUpMidwayKeepsTheOthersOfTheGang) {
  PutNode(&cache_, "n1");
  Allow(2);
  for (const char* uid : {"u0", "u1", "u2"}) {
    Add(uid);
    Change(uid, [](Pod& pod) { pod.annotations[base::kGangSizeAnnotation] = "3"; });
  }
  for (const char* uid : {"u0", "u1"}) {
    Reserved(uid, "first", std::string(uid) == "u0" ? "GPU-a" : "GPU-b");
    Change(uid, [](Pod& pod) { pod.node = "n0", pod.running = true; });
  }
  Lead();
  Cordon(true);
  Node other = *cache_.FindNode("n1");
  other.cordoned = true;
  cache_.Put(other);
  std::vector<Action> evict;
  for (int s = 0; s < 400 && evict.empty(); ++s) {
    now_s_ += 1;
    evict = Do(Kind::kEvict);
  }
  ASSERT_EQ(evict.size(), 2u);
  Accept(evict[0]);
  gangs_->Written(evict[1].id,
                  {.outcome = Outcome::kRefused, .error = "needs 2 healthy pods", .forbidden = true}, now_s_);
  Remove(evict[0].pod.uid);
  for (int s = 0; s < 25; ++s) {
    now_s_ += 1;
    EXPECT_TRUE(Do(Kind::kEvict).empty()) << "it has just been forbidden";
  }
  EXPECT_THAT(gangs_->WhyWaits("u2"), HasSubstr("needs 2 healthy pods"));
  EXPECT_FALSE(Leaves(gangs_->store().gangs.begin()->second.members.at(evict[1].pod.uid).eviction));
  // The pod that was evicted comes again, and both are placed beside the one that stayed.
  Add("u3");
  Change("u3", [](Pod& pod) { pod.annotations[base::kGangSizeAnnotation] = "3"; });
  Cordon(false);
  other.cordoned = false;
  cache_.Put(other);
  std::set<std::string> placed;
  for (int s = 0; s < 20; ++s) {
    now_s_ += 1;
    for (const Action& action : Do(Kind::kReserve)) {
      Accept(action);
      placed.insert(action.pod.uid);
    }
    for (const Action& action : Do(Kind::kRelease)) {
      Accept(action);
      const Seat seat = SeatIn(action.pod.uid);
      Change(action.pod.uid, [&seat](Pod& pod) {
        pod.node = seat.first;
        pod.annotations[base::kAssignmentAnnotation] = WriteAssignment({{"main", {seat.second}}});
      });
    }
  }
  EXPECT_THAT(placed, ::testing::UnorderedElementsAre("u2", "u3"));
  EXPECT_TRUE(gangs_->store().gangs.begin()->second.placed());
}

// A member may have done its work before the last one is known to be bound.
TEST_F(GangsTest, WhoIsDoneAlreadyCounts) {
  Add("u0");
  Add("u1");
  Lead();
  BindTheFirst();
  Change("u0", [](Pod& pod) { pod.over = true; });
  BindTo("u1", "GPU-b");
  now_s_ += 1;
  Do(Kind::kEvict);
  EXPECT_TRUE(gangs_->store().gangs.begin()->second.placed());
  now_s_ += 200;
  EXPECT_TRUE(Do(Kind::kEvict).empty());
}

// Each pod of a gang asks for the same port of the host. The plan before packed both onto one node, the
// scheduler refused the second one, and the gang left out the whole node.
TEST_F(GangsTest, PodsThatMayNotShareANodeAreOnTwo) {
  PutNode(&cache_, "n1");
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid,
           [](Pod& pod) { pod.constraints.ports = {{.protocol = "TCP", .ip = "0.0.0.0", .port = 29500}}; });
  }
  Lead();
  ReserveAndRelease();
  EXPECT_NE(SeatIn("u0").first, SeatIn("u1").first);
  BindHandle bind_handle = 1;
  for (const std::string uid : {"u0", "u1"}) {
    const std::string node = SeatIn(uid).first;
    EXPECT_EQ(Filter(uid)->nodes, std::vector<std::string>{node});
    gangs_->Bind({.uid = uid, .name_space = "team", .name = uid}, node, bind_handle++, now_s_);
  }
  EXPECT_EQ(Do(Kind::kBind).size(), 2u);
}

TEST_F(GangsTest, PodsThatMayNotShareTheOnlyNodeAreToldWhy) {
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid,
           [](Pod& pod) { pod.constraints.ports = {{.protocol = "TCP", .ip = "0.0.0.0", .port = 29500}}; });
  }
  Lead();
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u0"),
              HasSubstr("even empty nodes would not fit its pods; 1 node: two of its pods "
                        "may not be there together: host port 29500"));
}

TEST_F(GangsTest, PodsThatMayNotShareTheOnlyZoneAreToldWhy) {
  PutNode(&cache_, "n0", "a");
  PutNode(&cache_, "n1", "a");
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid, [](Pod& pod) {
      pod.labels["app"] = "train";
      pod.constraints.apart = {TermOf(kZone, "train")};
    });
  }
  Lead();
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u0"),
              HasSubstr("even on empty nodes its pods could not keep to spec.affinity.podAntiAffinity over "
                        "topology.kubernetes.io/zone"));
  PutNode(&cache_, "n1", "b");
  gangs_->ClusterChanged();
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 2u);
}

TEST_F(GangsTest, AConstraintThatNoPlanCanKeepToIsAFault) {
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid, [](Pod& pod) {
      pod.constraints.apart = {TermOf(kZone, "train")};
      pod.constraints.apart[0].others = kube::PodTerm::Namespaces::kByLabel;
    });
  }
  Lead();
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  now_s_ += 1;
  const std::vector<Action> told = Do(Kind::kTell);
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(told[0].warning);
  EXPECT_EQ(
      told[0].text,
      "spec.affinity.podAntiAffinity of pod pod-u0: expected namespaces, or a namespaceSelector without "
      "labels, got a namespaceSelector with labels over topology.kubernetes.io/zone");
}

// A scheduler binds a second pod in a zone only once the other zone has one. So pods are released in that
// order.
TEST_F(GangsTest, PodsThatAreSpreadAreReleasedInWaves) {
  PutNode(&cache_, "n0", "a");
  PutNode(&cache_, "n1", "b");
  const std::vector<std::string> uids = {"u0", "u1", "u2", "u3"};
  for (const std::string& uid : uids) {
    Add(uid);
    Change(uid, [](Pod& pod) {
      pod.annotations[base::kGangSizeAnnotation] = "4";
      pod.labels["app"] = "train";
      pod.constraints.spread = {{.topology = kZone, .max_skew = 1, .selector = Meaning("train")}};
    });
  }
  Lead();
  for (const Action& action : Do(Kind::kReserve)) Accept(action);
  std::set<std::string> left(uids.begin(), uids.end());
  BindHandle bind_handle = 1;
  for (int wave = 0; wave < 2; ++wave) {
    const std::vector<Action> released = Do(Kind::kRelease);
    ASSERT_EQ(released.size(), 2u) << wave;
    EXPECT_NE(SeatIn(released[0].pod.uid).first, SeatIn(released[1].pod.uid).first);
    for (const Action& action : released) {
      Accept(action);
      left.erase(action.pod.uid);
    }
    for (const std::string& uid : left) {
      EXPECT_EQ(gangs_->SeatOf(uid), "") << "a scheduler that asks early is told to wait";
      EXPECT_TRUE(Filter(uid)->nodes.empty());
    }
    for (const Action& action : released) {
      const std::string uid = action.pod.uid;
      gangs_->Bind({.uid = uid, .name_space = "team", .name = uid}, SeatIn(uid).first, bind_handle++, now_s_);
    }
  }
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(Do(Kind::kBind).size(), 4u);
}

TEST_F(GangsTest, ANodeThatIsNotAskedAboutIsLeftOut) {
  EXPECT_THAT(LoseItsNode().others, HasSubstr("would not have it on n0"));
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u0"), HasSubstr("the scheduler refused the node for pods of the gang"));
  now_s_ += 31;
  EXPECT_EQ(Do(Kind::kReserve).size(), 2u) << "though nothing has changed but the time";
}

TEST_F(GangsTest, ANodeIsLeftOutForTwiceAsLongEachTimeUpToABound) {
  LoseItsNode();
  const GangSettings settings;
  double left_out_s = settings.exclude_s;
  for (int times = 1; times < 9; ++times) {
    now_s_ += left_out_s - 1;
    EXPECT_TRUE(Do(Kind::kReserve).empty()) << left_out_s << " s are not over";
    now_s_ += 2;
    LoseItsNodeAgain();
    left_out_s = std::min(2 * left_out_s, settings.most_exclude_s);
  }
  EXPECT_EQ(left_out_s, settings.most_exclude_s);
  now_s_ += left_out_s + 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 2u);
}

TEST_F(GangsTest, AfterItsHoldOffAGangIsPlannedAnewThoughNothingHasChanged) {
  Add("u0");
  Add("u1");
  Lead();
  ReserveAndRelease();
  now_s_ += 121;
  for (const Action& action : Do(Kind::kClear)) Accept(action);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  now_s_ += 5;
  EXPECT_EQ(Do(Kind::kReserve).size(), 2u);
}

// A scheduler asks about one node alone in two cases: the pod is nominated to that node, or no other node
// is left.
TEST_F(GangsTest, ASchedulerThatAsksAboutOneNodeMeansItUnlessItNominatedIt) {
  Add("u0");
  Add("u1");
  Lead();
  ReserveAndRelease();
  const std::vector<std::string_view> other = {"n1"};
  const auto ask = [&](const std::string& nominated) {
    return gangs_->Filter({.uid = "u0", .name_space = "team", .name = "u0", .nominated = nominated}, other,
                          now_s_);
  };
  EXPECT_TRUE(ask("n1")->nodes.empty());
  EXPECT_TRUE(Do(Kind::kClear).empty());
  EXPECT_THAT(Filter("u0")->nodes, ElementsAre("n0"));
  EXPECT_THAT(ask("")->others, HasSubstr("would not have it on n0"));
  EXPECT_EQ(Do(Kind::kClear).size(), 2u);
}

TEST_F(GangsTest, WhatASchedulerSaysOfANodeIsToldOn) {
  Add("u0");
  Add("u1");
  Lead();
  ReserveAndRelease();
  const std::vector<std::string_view> nominated = {"n1"};
  const PodRef ref{.uid = "u0", .name_space = "team", .name = "u0", .nominated = "n1"};
  const std::string answer = gangs_->Filter(ref, nominated, now_s_)->others;
  const auto say = [this](const std::string& uid, const std::string& message) {
    Change(uid, [&](Pod& pod) { pod.scheduled = {.reason = "Unschedulable", .message = message}; });
  };
  say("u1", std::string(kWaits) + "the scheduler would not have it on n01, where its GPUs are");
  EXPECT_TRUE(Do(Kind::kClear).empty()) << "that is another node";
  say("u0", "0/2 nodes are available: 1 its volume is elsewhere, 1 " + answer);
  for (const Action& action : Do(Kind::kClear)) Accept(action);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u0"), HasSubstr("its volume is elsewhere"));
}

TEST_F(GangsTest, WhyANodeIsLeftOutMayBeSaidLater) {
  const FilterAnswer answer = LoseItsNode();
  Change("u0", [&](Pod& pod) {
    pod.scheduled = {.reason = "Unschedulable", .message = "1 is full, 2 " + answer.others};
  });
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u0"), HasSubstr("refused the node for pods of the gang: 1 is full"));
}

// The scheduler has no node left to ask about. The next plan waits for a hold-off, and in that time the
// scheduler's words are told.
TEST_F(GangsTest, WhatASchedulerSaysOfAllNodesIsToldBeforeTheNextPlan) {
  Add("u0");
  Add("u1");
  Lead();
  ReserveAndRelease();
  Change("u0",
         [](Pod& pod) { pod.scheduled = {.reason = "Unschedulable", .message = "2 Insufficient cpu"}; });
  for (const Action& action : Do(Kind::kClear)) Accept(action);
  now_s_ += 1;
  const std::vector<Action> told = Do(Kind::kTell);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[0].text, HasSubstr("refused the node n0: 2 Insufficient cpu"));
}

// The scheduler said so of the plan before and does not say it again. It asks about no node, because none
// is left.
TEST_F(GangsTest, WhatASchedulerHasSaidAlreadyIsWhatThePlanFailedFor) {
  Add("u0");
  Add("u1");
  for (const char* uid : {"u0", "u1"}) {
    Change(uid,
           [](Pod& pod) { pod.scheduled = {.reason = "Unschedulable", .message = "2 Insufficient cpu"}; });
  }
  Lead();
  ReserveAndRelease();
  now_s_ += 121;
  for (const Action& action : Do(Kind::kClear)) Accept(action);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u0"), HasSubstr("within 120 s: the scheduler says: 2 Insufficient cpu"));
  now_s_ += 10;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "on n0, the only node";
  EXPECT_THAT(gangs_->WhyWaits("u0"), HasSubstr("refused the node for pods of the gang: 2 Insufficient cpu"));
  now_s_ += 31;
  EXPECT_EQ(Do(Kind::kReserve).size(), 2u);
}

// The node's daemon gives out fewer slots of each GPU than it did: the place that was lost does not exist
// any more.
TEST_F(GangsTest, APodThatCameAgainIsNoClientTooMany) {
  AddBound("v0", "h", 2, "GPU-a");
  AddBound("v1", "h", 2, "GPU-b");
  AddBound("u0", "g", 2, "GPU-a");
  AddBound("u1", "g", 2, "GPU-b");
  const auto bounded = [](Pod& pod) { pod.annotations[base::kGpuMemoryAnnotation] = "8Gi"; };
  for (const char* uid : {"v0", "v1", "u0", "u1"}) Change(uid, bounded);
  Lead();
  gangs_->Step(now_s_);
  cache_.RemovePod("u1");
  gangs_->PodChanged("u1", now_s_);
  Add("u2");
  Change("u2", bounded);
  const auto give_out = [this](int slots) {
    GpuNode node = *cache_.FindGpuNode("n0");
    for (GpuNode::Gpu& gpu : node.gpus) gpu.slots = slots;
    cache_.Put(node);
    gangs_->ClusterChanged();
  };
  give_out(1);
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u2"), HasSubstr("cannot be used now"));
  give_out(2);
  now_s_ += 2;
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  EXPECT_THAT(reserve.front().text, HasSubstr("GPU-b"));
}

TEST_F(GangsTest, APlaceThatNoPodComesBackToIsNotKeptForEver) {
  AddBound("u0", "g", 2, "GPU-a");
  AddBound("u1", "g", 2, "GPU-b");
  Lead();
  gangs_->PodChanged("u1", now_s_);
  gangs_->Step(now_s_);
  cache_.RemovePod("u1");
  gangs_->PodChanged("u1", now_s_);
  now_s_ += 599;
  gangs_->Step(now_s_);
  Add("w0");
  Change("w0", [this](Pod& pod) {
    pod.created_s = now_s_;
    pod.annotations[base::kGangAnnotation] = "w";
    pod.annotations[base::kGangSizeAnnotation] = "1";
    pod.annotations[base::kShareAnnotation] = "exclusive";
  });
  now_s_ += 0.5;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("w0"), HasSubstr("0 are free"));
  now_s_ += 1;
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  EXPECT_THAT(reserve.front().text, HasSubstr("GPU-b"));
}

// The gang shares its GPUs with no known gang. All other gangs are strangers to it, not the gangs that it
// must be beside.
TEST_F(GangsTest, AGangWhosePlaceIsNotKnownHasNoPlaceForItsOwn) {
  AddBound("v0", "h", 1, "GPU-a");
  AddBound("u0", "g", 2, "");
  Add("u1");
  Lead();
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  EXPECT_THAT(reserve.front().text, HasSubstr("GPU-b"));
}

TEST_F(GangsTest, AJobThatIsMadeAnewByTheSameNameIsReadAnew) {
  Lead();
  AddOfJob("u0", "first");
  ReadJob(1);
  now_s_ += 1;  // plans are made at intervals (plan_every_s)
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u);
  cache_.RemovePod("u0");
  gangs_->PodChanged("u0", now_s_);
  EXPECT_EQ(gangs_->store().owners.size(), 1u);
  now_s_ += 1;
  Do(Kind::kReserve);
  EXPECT_TRUE(gangs_->store().owners.empty()) << "no gang needs it any more";
  AddOfJob("u1", "second");
  AddOfJob("u2", "third");
  const auto reads = Do(Kind::kReadOwner);
  EXPECT_EQ(reads.size(), 2u) << "by one name";
}

TEST_F(GangsTest, AJobThatGetsSmallerWhileItWaitsIsReadAgain) {
  Lead();
  AddOfJob("u0", "j");
  ReadJob(2);
  EXPECT_TRUE(Do(Kind::kReadOwner).empty()) << "just now it was asked";
  now_s_ += 10;
  ReadJob(2);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "the control: one of two";
  now_s_ += 10;
  ReadJob(1);
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u);
}

TEST_F(GangsTest, AJobThatGrowsBesideItsPodsThatRunIsReadAgain) {
  Lead();
  AddOfJob("u0", "j");
  BindTo("u0", "GPU-a");
  ReadJob(1);
  Do(Kind::kReserve);
  now_s_ += 20;
  AddOfJob("u1", "j");
  ReadJob(1);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "the control: there is no room for a second";
  EXPECT_TRUE(Do(Kind::kReadOwner).empty()) << "not so often";
  now_s_ += 10;
  ReadJob(2);
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u);
}

// The gang has one of two pods because there is no room, not because half of a plan failed.
TEST_F(GangsTest, ANewLeaderKeepsTheRunningPodsOfAGangThatHasGrown) {
  const auto deleted = [this](int planned) {
    Change("u0", [&](Pod& pod) {
      pod.annotations[base::kReservationAnnotation] = WriteReservation(
          {.plan = "p", .seat = {"n0", {{"main", {"GPU-a"}}}}, .until_s = now_s_, .size = planned});
    });
    Lead();
    ReadJob(2);
    std::size_t deletions = 0;
    for (int i = 0; i < 300; ++i, ++now_s_) {
      deletions += Do(Kind::kEvict).size();
      AnswerReads(2);
    }
    gangs_.reset();
    return deletions;
  };
  AddBound("x0", "x0", 1, "GPU-a");
  AddBound("x1", "x1", 1, "GPU-b");
  AddBound("x2", "x2", 1, "GPU-b");
  AddOfJob("u0", "j");
  BindTo("u0", "GPU-a");
  AddOfJob("u1", "j");
  EXPECT_EQ(deleted(1), 0u);
  EXPECT_GT(deleted(2), 0u) << "the control: it was never whole";
}

// The Job keeps the failed pod's object, and makes another pod after a pause.
TEST_F(GangsTest, ThePlaceOfAPodThatFailedIsKeptForTheNext) {
  AddRunning();
  Change("u1", [](Pod& pod) { pod.over = pod.failed = true; });
  AddExclusive("s");
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  Add("u2");
  gangs_->PodChanged("u2", now_s_);
  now_s_ += 1;
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  EXPECT_EQ(reserve[0].pod.uid, "u2");
  EXPECT_THAT(reserve[0].text, HasSubstr("GPU-b"));
}

TEST_F(GangsTest, AJobThatBecameSmallerKeepsNoPlaces) {
  Lead();
  for (const char* uid : {"u0", "u1"}) {
    AddOfJob(uid, "j");
    BindTo(uid, *(uid + 1) == '0' ? "GPU-a" : "GPU-b");
  }
  ReadJob(2);
  gangs_->Step(now_s_);
  AddExclusive("s");
  Remove("u1");
  now_s_ += 11;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "another may come";
  ReadJob(1);
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u);
}

// Two pods of the gang tell the next leader that it ran, whichever pods are left.
TEST_F(GangsTest, AGangThatRanSaysSo) {
  const auto says = [this] {
    std::vector<std::string> uids;
    for (const Action& action : Do(Kind::kSettle)) {
      EXPECT_EQ(ReadReservation(action.text).value().again, true);
      Change(action.pod.uid, [&](Pod& pod) { pod.annotations[base::kReservationAnnotation] = action.text; });
      gangs_->Written(
          action.id, {.outcome = Outcome::kDone, .version = cache_.FindPod(action.pod.uid)->version}, now_s_);
      uids.push_back(action.pod.uid);
    }
    return uids;
  };
  for (const char* uid : {"u0", "u1", "u2"}) {
    Add(uid);
    Change(uid, [](Pod& pod) { pod.annotations[base::kGangSizeAnnotation] = "3"; });
    Reserved(uid, "p", "GPU-a");
    Change(uid, [](Pod& pod) { pod.node = "n0"; });
  }
  Lead();
  EXPECT_EQ(says().size(), 2u);
  EXPECT_TRUE(says().empty()) << "once";
  std::string silent;
  for (const char* uid : {"u0", "u1", "u2"}) {
    const std::string& text = cache_.FindPod(uid)->annotations.at(base::kReservationAnnotation);
    if (ReadReservation(text).value().again != true) silent = uid;
  }
  Remove(silent == "u0" ? "u1" : "u0");
  EXPECT_THAT(says(), ElementsAre(silent));
}

// The job became smaller while its pods were bound. The reservation says that there had to be two pods.
TEST_F(GangsTest, OneThatWasLeftOfSeveralSaysThatItRan) {
  AddOfJob("u0", "j");
  Reserved("u0", "p", "GPU-a");
  Change("u0", [](Pod& pod) {
    auto reservation = ReadReservation(pod.annotations[base::kReservationAnnotation]).value();
    reservation.size = 2;
    pod.annotations[base::kReservationAnnotation] = WriteReservation(reservation);
    pod.node = "n0";
  });
  Lead();
  ReadJob(1);
  EXPECT_EQ(Do(Kind::kSettle).size(), 1u);
}

// A gang of two is not whole either if one pod runs and the other has failed and is replaced.
TEST_F(GangsTest, WhoFailedDoesNotCountAsOneThatWasThere) {
  for (const bool failed : {false, true}) {
    AddBound("u0", "g", 2, "GPU-a");
    AddBound("u1", "g", 2, "GPU-b");
    Change("u1", [&](Pod& pod) {
      pod.over = true;
      pod.failed = failed;
    });
    Lead();
    gangs_->Step(now_s_);
    EXPECT_EQ(gangs_->store().gangs.begin()->second.placed(), !failed);
    for (const char* uid : {"u0", "u1"}) Remove(uid);
    gangs_.reset();
  }
}

// A Job with more completions than pods at a time makes the next pod when one has succeeded.
TEST_F(GangsTest, TheNextPodGetsThePlaceOfOneThatSucceeded) {
  AddRunning();
  Change("u1", [](Pod& pod) { pod.over = true; });
  Add("u2");
  gangs_->PodChanged("u2", now_s_);
  now_s_ += 1;
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  EXPECT_EQ(reserve[0].pod.uid, "u2");
  EXPECT_THAT(reserve[0].text, HasSubstr("GPU-b"));
}

// Index 0 of two has succeeded, then the Job is suspended and resumed, or the node of the other pod is lost.
// The pod that succeeded may be gone by then, and the leader may be another one.
TEST_F(GangsTest, WhatIsLeftOfAJobIsPlacedWhenItIsResumed) {
  for (const bool seen : {true, false}) {
    for (const bool new_leader : {true, false}) {
      const std::string job = std::string(seen ? "seen" : "unseen") + (new_leader ? "-new" : "");
      for (const char* uid : {"u0", "u1"}) AddOfJob(uid, job);
      Lead();
      ReadJob(2);
      now_s_ += 1;
      ReserveAndRelease();
      BindTo("u0", "GPU-a");
      BindTo("u1", "GPU-b");
      now_s_ += 1;
      Do(Kind::kSettle);
      Change("u0", [](Pod& pod) { pod.over = true; });
      Remove("u1");
      if (!seen) Remove("u0");
      now_s_ += 100;
      gangs_->Step(now_s_);
      AddOfJob("u2", job);
      if (new_leader) Lead();
      int reserves = 0;
      for (int s = 0; s < 60; ++s) {
        now_s_ += 1;
        for (const Action& action : Do(Kind::kReserve)) ++reserves, Accept(action);
        AnswerReads(2, 2, {{"succeeded", 1}});
      }
      EXPECT_EQ(reserves, 1) << job << ": " << gangs_->WhyWaits("u2");
      for (const char* uid : {"u0", "u2"}) cache_.RemovePod(uid);
      pending_.clear();
      gangs_.reset();
    }
  }
}

// The first pod has succeeded, and four are left: two of them run at a time. One alone is half a gang.
TEST_F(GangsTest, AJobWithMoreCompletionsThanPodsNeedsAsManyAsRunAtATime) {
  AddOfJob("u0", "j");
  Change("u0", [](Pod& pod) { pod.node = "n0", pod.over = true; });
  AddOfJob("u1", "j");
  Lead();
  ASSERT_EQ(AnswerReads(2, 5, {{"succeeded", 1}}), 1);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "one of two pods";
  EXPECT_THAT(gangs_->WhyWaits("u1"), HasSubstr("1 of 2 pods exist"));
  AddOfJob("u2", "j");
  gangs_->PodChanged("u2", now_s_);
  now_s_ += 1;
  ReserveAndRelease();
  BindTo("u1", "GPU-a");
  now_s_ += 1;
  gangs_->Step(now_s_);
  EXPECT_FALSE(gangs_->store().gangs.begin()->second.placed()) << "half of it is bound";
  BindTo("u2", "GPU-b");
  now_s_ += 1;
  gangs_->Step(now_s_);
  EXPECT_TRUE(gangs_->store().gangs.begin()->second.placed());
}

TEST_F(GangsTest, EachNextPodOfAJobGetsThePlaceOfTheOneBeforeToTheEnd) {
  for (const char* uid : {"u0", "u1"}) AddOfJob(uid, "j");
  Lead();
  ASSERT_EQ(AnswerReads(2, 5), 1);
  now_s_ += 1;
  ReserveAndRelease();
  BindTo("u0", "GPU-a");
  BindTo("u1", "GPU-b");
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kSettle).size(), 2u) << "it is complete";
  const auto vacant = [this] { return gangs_->store().gangs.begin()->second.vacant.size(); };
  for (int next = 2; next < 5; ++next) {
    const std::string before = "u" + std::to_string(next - 2);
    Change(before, [](Pod& pod) { pod.over = true; });
    now_s_ += 1;
    gangs_->Step(now_s_);
    EXPECT_EQ(vacant(), 1u) << "the place waits for the next pod";
    const std::string uid = "u" + std::to_string(next);
    AddOfJob(uid, "j");
    gangs_->PodChanged(uid, now_s_);
    now_s_ += 1;
    const std::vector<Action> reserve = Do(Kind::kReserve);
    ASSERT_EQ(reserve.size(), 1u) << uid << ": " << gangs_->WhyWaits(uid);
    const char* gpu = next % 2 == 0 ? "GPU-a" : "GPU-b";
    EXPECT_THAT(reserve[0].text, HasSubstr(gpu));
    Accept(reserve[0]);
    for (const Action& action : Do(Kind::kRelease)) Accept(action);
    BindTo(uid, gpu);
    now_s_ += 1;
    gangs_->Step(now_s_);
  }
  Change("u3", [](Pod& pod) { pod.over = true; });
  now_s_ += 1;
  gangs_->Step(now_s_);
  EXPECT_EQ(vacant(), 0u) << "one pod is left, and it runs";
  Remove("u4");
  AddOfJob("u5", "j");
  gangs_->PodChanged("u5", now_s_);
  now_s_ += 20;
  AnswerReads(2, 5, {{"succeeded", 4}});
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u) << gangs_->WhyWaits("u5");
}

TEST_F(GangsTest, SeatsAreInTheOrderOfIndicesAndAPodThatComesAgainHasThatOfItsIndex) {
  PutNode(&cache_, "n1");
  const auto add = [this](const std::string& uid, int index) {
    AddOfJob(uid, "j");
    Change(uid, [index](Pod& pod) {
      pod.annotations["batch.kubernetes.io/job-completion-index"] = std::to_string(index);
    });
  };
  // The order of the names is not that of the indices.
  const char* uids[] = {"u3", "u2", "u1", "u0"};
  for (int index = 0; index < 4; ++index) add(uids[index], index);
  Lead();
  ReadJob(4);
  now_s_ += 1;
  std::map<std::string, std::string> seats;  // by UID
  const auto reserve = [&] {
    for (const Action& action : Do(Kind::kReserve)) {
      seats[action.pod.uid] = action.text;
      Accept(action);
    }
    for (const Action& action : Do(Kind::kRelease)) Accept(action);
  };
  reserve();
  ASSERT_EQ(seats.size(), 4u) << gangs_->WhyWaits("u0");
  const struct {
    const char *node, *gpu;
  } wanted[] = {{"n0", "GPU-a"}, {"n0", "GPU-b"}, {"n1", "GPU-a"}, {"n1", "GPU-b"}};
  const auto expect = [&](const std::string& uid, int index) {
    EXPECT_THAT(seats[uid], HasSubstr(wanted[index].node)) << uid;
    EXPECT_THAT(seats[uid], HasSubstr(wanted[index].gpu)) << uid;
  };
  for (int index = 0; index < 4; ++index) {
    expect(uids[index], index);
    BindTo(uids[index], wanted[index].gpu);
    Change(uids[index], [&](Pod& pod) { pod.node = wanted[index].node; });
  }
  now_s_ += 1;
  for (const Action& action : Do(Kind::kSettle)) Accept(action);
  Remove("u2");
  Remove("u1");
  now_s_ += 1;
  gangs_->Step(now_s_);
  for (const int index : {2, 1}) {
    const std::string uid = "v" + std::to_string(index);
    add(uid, index);
    gangs_->PodChanged(uid, now_s_);
    now_s_ += 1;
    reserve();
    ASSERT_TRUE(seats.contains(uid)) << gangs_->WhyWaits(uid);
    expect(uid, index);
    BindTo(uid, wanted[index].gpu);
    Change(uid, [&](Pod& pod) { pod.node = wanted[index].node; });
    now_s_ += 1;
    gangs_->Step(now_s_);
  }
  // The next leader knows no vacant seats, but those of several pods are in the order of their indices.
  Remove("u0");
  Remove("v1");
  add("w3", 3);
  add("w1", 1);
  Lead();
  ReadJob(4);
  now_s_ += 1;
  seats.clear();
  reserve();
  ASSERT_EQ(seats.size(), 2u) << gangs_->WhyWaits("w1");
  expect("w1", 1);
  expect("w3", 3);
}

TEST_F(GangsTest, AnIndexThatFailedForGoodIsNotWaitedFor) {
  AddOfJob("u1", "j");
  Lead();
  ASSERT_EQ(AnswerReads(2, 2), 1);
  now_s_ += 20;
  ASSERT_EQ(AnswerReads(2, 2, {{"failedIndexes", "0"}}), 1);
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u) << gangs_->WhyWaits("u1");
}

TEST_F(GangsTest, PodsOfAJobThatHasEndedGetNoPlaceAndAreToldWhy) {
  for (const char* uid : {"u0", "u1"}) AddOfJob(uid, "j");
  Lead();
  const nlohmann::json met = {{"conditions", {{{"type", "SuccessCriteriaMet"}, {"status", "True"}}}}};
  ASSERT_EQ(AnswerReads(2, 2, met), 1);
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  EXPECT_THAT(gangs_->WhyWaits("u0"), HasSubstr("its job has ended"));
}

// These pods may be the ranks of one job, although nothing says so. NCCL fails if two ranks of a job are on
// one GPU.
TEST_F(GangsTest, PodsOfOneControllerAreNotOnOneGpu) {
  struct Row {
    const char* kind;
    const char* label;
    const char* value;  // of the first two pods; the others have it with an "x" at the end
  };
  for (const Row& row : {Row{"RayCluster", "ray.io/cluster", "train"}, Row{"StatefulSet", "app", "train"},
                         Row{"ReplicaSet", "pod-template-hash", "7f"}, Row{"Job", "job-name", "train"},
                         Row{"Train", "team.dev/train", "train"}}) {
    SCOPED_TRACE(row.kind);
    cache_.Put(MadeProfile("k"));
    for (const char* uid : {"u0", "u1", "u2", "u3"}) {
      const bool rollout = std::string(row.kind) == "ReplicaSet" && uid[1] > '1';
      const std::string value = row.value + std::string(rollout ? "x" : "");
      Add(uid);
      Change(uid, [&](Pod& pod) {
        pod.annotations = {{base::kShareAnnotation, "true"}, {base::kGpuMemoryAnnotation, "20Gi"}};
        pod.labels = {{row.label, value}};
        const std::string name = std::string(row.kind) == "ReplicaSet" ? "train-" + value : "train";
        pod.owner = Owner{"team.dev/v1", row.kind, name, "uid-of-" + name};
        pod.profile_key = "k";
      });
    }
    Lead();
    std::map<std::string, int> clients;  // by GPU
    for (int round = 0; round < 20; ++round) {
      now_s_ += 1;
      for (const Action& action : Do(Kind::kReserve)) {
        for (const std::string& gpu : ReadReservation(action.text)->seat.gpus()) ++clients[gpu];
        Accept(action);
      }
    }
    EXPECT_THAT(clients, ElementsAre(::testing::Pair("GPU-a", 1), ::testing::Pair("GPU-b", 1)));
    EXPECT_THAT(gangs_->WhyWaits("u3"),
                HasSubstr("no two of its pods are on one GPU: if they are one job, set crossover.dev/gang"));
    int told = 0;
    for (const Action& action : Do(Kind::kTell)) told += action.reason == "GangNotKnown" ? 1 : 0;
    EXPECT_EQ(told, 1) << "one event for all";
    for (const char* uid : {"u0", "u1", "u2", "u3"}) cache_.RemovePod(uid);
    pending_.clear();
    gangs_.reset();
  }
}

// A Job of one pod at a time is no gang, and needs no advice.
TEST_F(GangsTest, OnePodAfterTheOtherIsNotCalledAGang) {
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid, [](Pod& pod) {
      pod.annotations.clear();
      pod.owner = Owner{"batch/v1", "Job", "train", "uid-of-train"};
    });
  }
  Change("u0", [](Pod& pod) { pod.node = "n0", pod.over = true; });
  Lead();
  for (int s = 0; s < 5; ++s) {
    now_s_ += 1;
    for (const Action& action : Do(Kind::kTell)) EXPECT_NE(action.reason, "GangNotKnown");
  }
}

// These pods are a sweep. Its user says which pods are one job.
TEST_F(GangsTest, PodsOfOneControllerWithGangsOfTheirOwnMayMeet) {
  for (const char* uid : {"u0", "u1", "u2"}) {
    Add(uid);
    Change(uid, [&uid](Pod& pod) {
      pod.annotations = {{base::kShareAnnotation, "true"},
                         {base::kGpuMemoryAnnotation, "20Gi"},
                         {base::kGangAnnotation, uid},
                         {base::kGangSizeAnnotation, "1"}};
      pod.owner = Owner{"apps/v1", "StatefulSet", "sweep", "uid-of-sweep"};
    });
  }
  Lead();
  int reserves = 0;
  for (int round = 0; round < 20; ++round) {
    now_s_ += 1;
    for (const Action& action : Do(Kind::kReserve)) ++reserves, Accept(action);
  }
  EXPECT_EQ(reserves, 3);
  for (const Action& action : Do(Kind::kTell)) EXPECT_NE(action.reason, "GangNotKnown");
}

// Pods of an earlier attempt that succeeded are still there, with the name of the gang.
TEST_F(GangsTest, WhatSucceededBeforeIsNoPartOfTheNextAttempt) {
  for (const char* uid : {"u0", "u1", "u2"}) {
    Add(uid);
    Change(uid, [&uid](Pod& pod) {
      const bool before = std::string(uid) == "u0";
      pod.owner = Owner{"team.dev/v1", "Train", "t", before ? "first" : "second"};
      if (before) pod.node = "n0", pod.over = true;
    });
  }
  cache_.RemovePod("u2");
  Lead();
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "one of two pods";
  Change("u0", [](Pod& pod) { pod.owner->uid = "second"; });
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u) << "its controller makes the one again that is left";
}

TEST_F(GangsTest, APlaceIsGivenBackOnce) {
  const auto vacant = [this] { return gangs_->store().gangs.begin()->second.vacant.size(); };
  AddRunning();
  Change("u1", [](Pod& pod) { pod.over = true; });
  EXPECT_EQ(vacant(), 0u) << "it has done what it was to do";
  Remove("u1");
  EXPECT_EQ(vacant(), 0u) << "and another may be there by now";
  AddRunning();
  Change("u1", [](Pod& pod) { pod.over = pod.failed = true; });
  Change("u1", [](Pod& pod) { pod.deleting = true; });
  Remove("u1");
  EXPECT_EQ(vacant(), 1u);
  AddRunning();
  Remove("u1");
  EXPECT_EQ(vacant(), 1u);
}

// One pod that is left of a job of two looks like a job of one.
TEST_F(GangsTest, NoGangComesBesideAJobWhoseSizeIsNotReadYet) {
  for (const bool read : {false, true}) {
    AddOfJob("u0", read ? "second" : "first");
    Change("u0", [](Pod& pod) { pod.annotations[base::kGpuMemoryAnnotation] = "8Gi"; });
    BindTo("u0", "GPU-a");
    AddBound("taken", "taken", 1, "GPU-b");
    Lead();
    if (read) {
      ReadJob(1);
    } else {
      EXPECT_EQ(Do(Kind::kReadOwner).size(), 1u) << "there is no answer";
    }
    now_s_ += 1;
    Add("x0", {{base::kGpuMemoryAnnotation, "8Gi"}});
    Change("x0", [](Pod& pod) {
      pod.annotations[base::kGangAnnotation] = "x";
      pod.annotations[base::kGangSizeAnnotation] = "1";
    });
    EXPECT_EQ(Do(Kind::kReserve).size(), read ? 1u : 0u) << gangs_->WhyWaits("x0");
    for (const char* uid : {"u0", "x0", "taken"}) Remove(uid);
  }
}

// A kubelet may have put a pod there that the scheduler would not have put beside this gang.
TEST_F(GangsTest, ALostPlaceIsNotTakenBesideWhoHasNoBoundOfMemory) {
  for (const bool bound : {true, false}) {
    const Labels memory = {{base::kGpuMemoryAnnotation, "8Gi"}};
    Lead();
    for (const char* uid : {"u0", "u1"}) Add(uid, memory);
    BindTo("u0", "GPU-a");
    BindTo("u1", "GPU-b");
    gangs_->Step(now_s_);
    Remove("u1");
    AddBound("x0", "x", 2, "GPU-b");
    if (bound) Change("x0", [&](Pod& pod) { pod.annotations.insert(memory.begin(), memory.end()); });
    Add("u2", memory);
    gangs_->PodChanged("u2", now_s_);
    now_s_ += 10;
    EXPECT_EQ(Do(Kind::kReserve).size(), bound ? 1u : 0u);
    for (const char* uid : {"u0", "u2", "x0"}) Remove(uid);
  }
}

TEST_F(GangsTest, WhoComesAgainGetsTheNearestFreePlaceWhereItsOwnIsNoneAnyMore) {
  for (const char* near : {"n1", "n2"}) {
    PutNode(&cache_, "n0", "here");
    for (const char* name : {"n1", "n2"}) PutNode(&cache_, name, std::string(name) == near ? "here" : "far");
    AddRunning();
    GpuNode gpus = *cache_.FindGpuNode("n0");
    gpus.gpus[1].healthy = false;
    cache_.Put(gpus);
    Remove("u1");
    Add("u2");
    gangs_->PodChanged("u2", now_s_);
    gangs_->Step(now_s_);
    const GangRecord& gang = gangs_->store().gangs.begin()->second;
    ASSERT_TRUE(gang.plan);
    EXPECT_EQ(gang.plan->entries.front().seat.node, near);
    for (const char* uid : {"u0", "u2"}) Remove(uid);
  }
}

// Twenty gangs lack a pod, and there is no GPU for any of them.
TEST_F(GangsTest, SearchesForSeatsAreFewInAStepAndInTurn) {
  for (const char* gpu : {"GPU-a", "GPU-b"}) AddBound(std::string("x") + gpu, std::string("x") + gpu, 1, gpu);
  for (int i = 0; i < 20; ++i) {
    const std::string gang = "g" + std::to_string(i);
    AddBound(gang + "-0", gang, 2, "");
    Add(gang + "-1");
    Change(gang + "-1", [&gang](Pod& pod) { pod.annotations[base::kGangAnnotation] = gang; });
  }
  Lead();
  const auto searches = [this] {
    int most = 0, sum = 0;
    for (const auto& [id, gang] : gangs_->store().gangs) {
      most = std::max(most, gang.seat_failures);
      sum += gang.seat_failures;
    }
    return std::pair(most, sum);
  };
  for (const int expected : {8, 16, 20}) {
    gangs_->Step(now_s_);
    EXPECT_EQ(searches(), std::pair(1, expected));
  }
  now_s_ += 2;
  gangs_->Step(now_s_);
  EXPECT_EQ(searches(), std::pair(2, 28));
  gangs_->Took(now_s_, now_s_ + 1);
  now_s_ += 1;
  gangs_->Step(now_s_);
  EXPECT_EQ(searches(), std::pair(2, 28)) << "of the time, a fifth at most is for them";
  now_s_ += 4.1;
  gangs_->Step(now_s_);
  EXPECT_EQ(searches(), std::pair(2, 36)) << "those whose turn it was not yet";
}

// Two gangs share GPU-a of n0 and of n1, and n1 goes permanently. Each gang lacks what the other lacks.
TEST_F(GangsTest, TwoThatLostTheSameNodeMoveTogether) {
  for (const char* name : {"n1", "n2"}) PutNode(&cache_, name);
  Lead();
  const auto add = [this](const std::string& gang, int index, const std::string& node) {
    const std::string uid = gang + std::to_string(index) + node;
    Add(uid, {{base::kGpuMemoryAnnotation, "8Gi"}});
    Change(uid, [&](Pod& pod) {
      pod.annotations[base::kGangAnnotation] = gang;
      if (node.empty()) return;
      pod.gates.clear();
      pod.node = node;
      pod.annotations[base::kAssignmentAnnotation] = WriteAssignment({{"main", {"GPU-a"}}});
    });
    return uid;
  };
  for (const char* gang : {"g", "h"}) {
    add(gang, 0, "n0");
    add(gang, 1, "n1");
  }
  gangs_->Step(now_s_);
  Node lost = *cache_.FindNode("n1");
  lost.ready = false;
  cache_.Put(lost);
  gangs_->ClusterChanged();
  for (const char* gang : {"g", "h"}) {
    Remove(std::string(gang) + "1n1");
    add(gang, 1, "");
  }
  const double kept_s = GangSettings{}.seats_kept_s;
  for (const double later_s : {1.0, kept_s / 2}) {
    now_s_ += later_s;
    EXPECT_TRUE(Do(Kind::kReserve).empty()) << "n1 may come back";
    EXPECT_THAT(gangs_->WhyWaits("g1"), HasSubstr("its place among the jobs on its GPUs"));
    EXPECT_EQ(GangStatsOf(gangs_->store()).lacking, 2);
  }
  now_s_ += kept_s;
  for (const Action& action : Do(Kind::kRelease)) Accept(action);  // for pods that waited for long
  std::vector<Action> reserve;
  for (int i = 0; i < 10 && reserve.size() < 2; ++i) {
    for (Action& action : Do(Kind::kReserve)) reserve.push_back(std::move(action));
    now_s_ += 10;
  }
  ASSERT_EQ(reserve.size(), 2u) << gangs_->WhyWaits("g1") << "; " << gangs_->WhyWaits("h1");
  const auto seat = [](const Action& action) { return ReadReservation(action.text)->seat; };
  EXPECT_NE(seat(reserve[0]).node, "n1");
  EXPECT_EQ(seat(reserve[0]), seat(reserve[1]));
  EXPECT_TRUE(Do(Kind::kEvict).empty());
}

// The gate was lifted without a plan, and so the scheduler was not told where the pods have to go.
TEST_F(GangsTest, AGateThatWasLiftedWithoutAPlanIsReleasedOnceThereIsOne) {
  Node node = *cache_.FindNode("n0");
  node.cordoned = true;
  cache_.Put(node);
  Add("u0");
  Add("u1");
  Lead();
  Do(Kind::kReserve);
  now_s_ += 301;
  const std::vector<Action> ungate = Do(Kind::kRelease);
  ASSERT_EQ(ungate.size(), 2u);
  node.cordoned = false;
  cache_.Put(node);
  gangs_->ClusterChanged();
  now_s_ += 1;
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "another write is on its way";
  for (const Action& action : ungate) Accept(action);
  EXPECT_TRUE(Do(Kind::kRelease).empty()) << "not before all are reserved";
  for (const Action& action : Do(Kind::kReserve)) Accept(action);
  const std::vector<Action> release = Do(Kind::kRelease);
  ASSERT_EQ(release.size(), 2u);
  for (const Action& action : release) EXPECT_EQ(action.node, "n0");
}

TEST_F(GangsTest, WhoIsAboutToBePlacedIsNotLetLooseFirst) {
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid, [](Pod& pod) { pod.gates.emplace_back("another"); });
  }
  Lead();
  Do(Kind::kReserve);
  now_s_ += 400;
  for (const char* uid : {"u0", "u1"}) Change(uid, [](Pod& pod) { std::erase(pod.gates, "another"); });
  EXPECT_TRUE(Do(Kind::kRelease).empty());
  EXPECT_EQ(Do(Kind::kReserve).size(), 2u);
}

// A write that changes nothing does not make the scheduler try a pod again.
TEST_F(GangsTest, ANewLeaderWakesThePodsOfThePlanThatItCarriesOn) {
  for (const char* uid : {"u0", "u1"}) Add(uid);
  Reserved("u0", "p", "GPU-a");
  Reserved("u1", "p", "GPU-b");
  const std::string before = "p";
  for (const char* uid : {"u0", "u1"})
    Change(uid, [&](Pod& pod) { pod.annotations[base::kRequeueAnnotation] = before; });
  Lead();
  const std::vector<Action> release = Do(Kind::kRelease);
  ASSERT_EQ(release.size(), 2u);
  for (const Action& action : release) EXPECT_NE(action.text, before);
}

TEST_F(GangsTest, AnApiServerThatWantsToBeLeftAloneIs) {
  for (const char* uid : {"u0", "u1"}) Add(uid);
  Lead();
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 2u);
  gangs_->Written(reserve[0].id, {.outcome = Outcome::kRefused, .error = "429", .retry_after_s = 20}, now_s_);
  Accept(reserve[1]);
  now_s_ += 19;
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  now_s_ += 2;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u);
}

TEST_F(GangsTest, WhyAPodWaitsIsToldMoreAndMoreSeldom) {
  for (const char* uid : {"u0", "u1"}) {
    Add(uid);
    Change(uid, [](Pod& pod) { pod.annotations[base::kGangSizeAnnotation] = "3"; });
  }
  Lead();
  int told = 0;
  for (int i = 0; i < 360; ++i, now_s_ += 10) {  // in this hour the reason changes each time
    Change("u1", [&](Pod& pod) { pod.gates.assign(static_cast<std::size_t>(1 + i % 2), base::kGangGate); });
    if (i % 2 == 1) Change("u1", [](Pod& pod) { pod.gates.back() = "another"; });
    for (const Action& action : Do(Kind::kTell)) told += action.pod.uid == "u0" ? 1 : 0;
  }
  EXPECT_GE(told, 5);
  EXPECT_LE(told, 10);
}

// API servers forget events. A user who looks later can still find why the pod waits.
TEST_F(GangsTest, WhyAPodWaitsIsToldAgainWhileItIsTheSame) {
  Add("u0");
  Lead();
  int told = 0;
  for (int i = 0; i < 720; ++i, now_s_ += 10) told += static_cast<int>(Do(Kind::kTell).size());  // two hours
  EXPECT_EQ(told, 4);
  EXPECT_EQ(Do(Kind::kTell).size(), 1u);
  now_s_ += 30;
  EXPECT_TRUE(Do(Kind::kTell).empty());
  Change("u0", [](Pod& pod) { pod.annotations[base::kGangSizeAnnotation] = "3"; });
  EXPECT_EQ(Do(Kind::kTell).size(), 1u) << "what is new is not told later for that";
}

// A gang of two has waited for 100 s, ten times what starvation takes. Another gang has one of the two
// GPUs.
class StarvingGangTest : public GangsTest {
 protected:
  void SetUp() override {
    GangsTest::SetUp();
    settings_.placement.starvation_s = 10;
    now_s_ = 10'000;
    AddBound("r", "r", 1, "GPU-a");
    for (const char* uid : {"w0", "w1"}) {
      Add(uid);
      Change(uid, [this](Pod& pod) {
        pod.annotations[base::kGangAnnotation] = "w";
        pod.created_s = now_s_;
      });
    }
    now_s_ += 100;
  }
  void RunsSinceAnHour() {
    Change("r", [this](Pod& pod) {
      pod.scheduled = {.yes = true, .reason = "", .message = "", .at_s = now_s_ - 3600};
    });
  }

  GangSettings settings_;
};

// If jobs run for long, a gang that waits for a while is not starving.
TEST_F(StarvingGangTest, HowLongOthersRunSaysWhoStarves) {
  AddExclusive("s");
  Change("s", [this](Pod& pod) { pod.created_s = now_s_; });
  Lead(settings_);
  EXPECT_TRUE(Do(Kind::kReserve).empty())
      << "since when it runs is unknown: GPU-b is kept for those that wait";
  ASSERT_TRUE(gangs_->store().kept);
  EXPECT_THAT(gangs_->store().kept->gang, HasSubstr("/w"));
  RunsSinceAnHour();
  Lead(settings_);
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  EXPECT_EQ(reserve[0].pod.uid, "s");
}

// By now the gang's patience would be longer. But it was over once, and others would take its GPUs again
// and again.
TEST_F(StarvingGangTest, WhatIsKeptForAGangStaysKept) {
  Lead(settings_);
  Do(Kind::kReserve);
  ASSERT_TRUE(gangs_->store().kept);
  RunsSinceAnHour();
  now_s_ += 1;
  AddExclusive("s");
  Change("s", [this](Pod& pod) { pod.created_s = now_s_; });
  EXPECT_TRUE(Do(Kind::kReserve).empty()) << "GPU-b is free";
  ASSERT_TRUE(gangs_->store().kept);
  EXPECT_THAT(gangs_->store().kept->gang, HasSubstr("/w"));
  Lead(settings_);
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u) << "the control: a leader that has kept nothing";
  EXPECT_EQ(reserve[0].pod.uid, "s");
}

// A gang has waited since 1000 s, and another since 1500 s, when a pod of the first is replaced.
TEST_F(GangsTest, APodThatIsMadeAgainTakesNothingFromTheAgeOfItsGang) {
  const auto wait = [this](const std::string& uid, const std::string& gang, double created_s) {
    Add(uid);
    Change(uid, [&](Pod& pod) {
      pod.annotations[base::kGangAnnotation] = gang;
      pod.annotations[base::kShareAnnotation] = "exclusive";
      pod.created_s = created_s;
    });
  };
  now_s_ = 1600;
  AddBound("r0", "r", 2, "GPU-a");
  AddBound("r1", "r", 2, "GPU-b");
  for (const char* uid : {"u0", "u1"}) wait(uid, "first", 1000);
  for (const char* uid : {"v0", "v1"}) wait(uid, "second", 1500);
  GangSettings settings;
  settings.ungate_after_s = -1;
  Lead(settings);
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  now_s_ = 1700;
  Remove("u1");
  wait("u2", "first", 1700);
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  now_s_ = 1800;
  for (const char* uid : {"r0", "r1"}) Remove(uid);
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 2u);
  EXPECT_EQ(reserve[0].pod.uid.front(), 'u');
  EXPECT_EQ(reserve[1].pod.uid.front(), 'u');
}

// A Job made the launcher, and only the MPIJob says which gang that is.
TEST_F(GangsTest, ALauncherJoinsItsWorkersOnceTheirJobIsRead) {
  const auto make = [this](const std::string& uid, const char* role, const Owner& owner) {
    Add(uid);
    Change(uid, [&](Pod& pod) {
      pod.annotations.clear();
      pod.labels = {{"training.kubeflow.org/job-name", "t"}, {"training.kubeflow.org/job-role", role}};
      pod.owner = owner;
    });
  };
  const auto part = [] {
    const nlohmann::json limits = {{"limits", {{base::kSlotResource, "1"}}}};
    const nlohmann::json spec = {{"containers", {{{"name", "main"}, {"resources", limits}}}}};
    return nlohmann::json{{"replicas", 1}, {"template", {{"spec", spec}}}};
  };
  const nlohmann::json job = {{"apiVersion", "kubeflow.org/v2beta1"},
                              {"kind", "MPIJob"},
                              {"metadata", {{"uid", "uid-9"}}},
                              {"spec", {{"mpiReplicaSpecs", {{"Launcher", part()}, {"Worker", part()}}}}}};
  Lead();
  make("u0", "worker", {"kubeflow.org/v2beta1", "MPIJob", "t", "uid-9"});
  make("u1", "launcher", {"batch/v1", "Job", "t-launcher", "uid-of-job"});
  const auto reads = Do(Kind::kReadOwner);
  ASSERT_EQ(reads.size(), 2u) << "that they are of one job is not known yet";
  for (const Action& read : reads) gangs_->OwnerRead(read.id, job, "", now_s_);
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 2u);
  EXPECT_EQ(gangs_->store().gangs.size(), 1u);
  for (const char* uid : {"u0", "u1"}) {
    cache_.RemovePod(uid);
    gangs_->PodChanged(uid, now_s_);
  }
  now_s_ += 1;
  Do(Kind::kReserve);
  EXPECT_TRUE(gangs_->store().owners.empty()) << "no gang needs it any more";
}

TEST_F(GangsTest, IncompleteGangsSaySoAndUngateLate) {
  Add("u0");
  Lead();
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  ASSERT_EQ(Do(Kind::kTell).size(), 1u);
  EXPECT_THAT(Filter("u0")->others, StartsWith("crossover: waits: its gang g is not complete: 1 of 2"));
  now_s_ += 301;
  EXPECT_EQ(Do(Kind::kRelease).size(), 1u);
}

TEST_F(GangsTest, ASizeThatCannotBeReadIsToldAndReadAgain) {
  Lead();
  AddOfJob("u0", "j");
  const std::vector<Action> reads = Do(Kind::kReadOwner);
  ASSERT_EQ(reads.size(), 1u);
  gangs_->OwnerRead(reads[0].id, nlohmann::json(), "jobs.batch is forbidden", now_s_);
  const std::vector<Action> before = Do(Kind::kTell);
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].text, "the size of its gang is not read yet from Job j");
  now_s_ += 31;
  const std::vector<Action> tells = Do(Kind::kTell);
  ASSERT_EQ(tells.size(), 1u);
  EXPECT_EQ(tells[0].text, "the size of its gang cannot be read from Job j: jobs.batch is forbidden");
  EXPECT_EQ(tells[0].reason, "GangWaits");
  EXPECT_TRUE(Do(Kind::kReserve).empty());
  ReadJob(1);
  now_s_ += 1;
  EXPECT_EQ(Do(Kind::kReserve).size(), 1u);
}

TEST_F(GangsTest, PreemptSparesPartsOfGangs) {
  Add("u0");
  Add("u1");
  Lead();
  const auto left = gangs_->Preempt({.uid = "x", .name_space = "y", .name = "z"},
                                    {{"n0", {.uids = {"u0", "other"}}}, {"n1", {.uids = {"other"}}}});
  ASSERT_EQ(left.size(), 1u);
  EXPECT_TRUE(left.contains("n1"));
  EXPECT_TRUE(
      gangs_->Preempt({.uid = "u0", .name_space = "y", .name = "z"}, {{"n1", {.uids = {"other"}}}}).empty());
}

TEST_F(GangsTest, PodsWithoutSlotsMayGoAnywhereAndUnknownOnesComeBack) {
  Lead();
  const std::vector<std::string_view> nodes = {"n0", "n1"};
  EXPECT_EQ(
      gangs_->Filter({.uid = "x", .name_space = "y", .name = "z", .slots = false}, nodes, 0)->nodes.size(),
      2u);
  EXPECT_FALSE(gangs_->Filter({.uid = "x", .name_space = "y", .name = "z"}, nodes, 0));
}

}  // namespace
}  // namespace crossover::extender
