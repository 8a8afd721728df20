#include "extender/gang/controller.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/names.h"
#include "tests/unit/sanitized.h"

namespace crossover::extender {
namespace {

constexpr std::chrono::seconds kLong{60};

// Carries out writes on pods that it keeps itself, and remembers which threads called it.
class FakeApi : public Api {
 public:
  Result Write(const Action& action) override {
    const std::scoped_lock lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    const auto pod = pods_.find(action.pod.uid);
    if (pod == pods_.end()) return {.outcome = Outcome::kGone};
    if (action.kind == Action::Kind::kReserve)
      pod->second.annotations[base::kReservationAnnotation] = action.text;
    if (action.kind == Action::Kind::kRelease) pod->second.gates.clear();
    if (action.kind == Action::Kind::kEvict) pod->second.deleting = true;
    if (action.kind == Action::Kind::kBind) {
      if (refuse_bindings_) return {.outcome = Outcome::kRefused, .error = "409"};
      pod->second.node = action.node;
      pod->second.annotations[base::kAssignmentAnnotation] = action.text;
      ++bound_;
    }
    pod->second.version = std::to_string(++version_);
    changed_.notify_all();
    return {.outcome = Outcome::kDone, .version = pod->second.version};
  }
  nlohmann::json Read(const OwnerRef&, std::string* error) override {
    *error = "none";
    return nullptr;
  }
  void Tell(const Action& action) override {
    const std::scoped_lock lock(mutex_);
    told_[action.pod.uid] = action.text;
    --room_;
    changed_.notify_all();
  }

  std::size_t TellRoom() override {
    const std::scoped_lock lock(mutex_);
    return room_;
  }

  template <typename Condition>
  bool Wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, condition);
  }
  // REQUIRES: `mutex_` is held.
  bool AllReleased() const {
    return std::ranges::all_of(pods_, [](const auto& entry) { return entry.second.gates.empty(); });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, std::string> told_;
  std::size_t room_ = 1000;  // how many more events Tell takes
  std::set<std::thread::id> threads_;
  bool refuse_bindings_ = false;
  int bound_ = 0;
  int version_ = 1000;
};

class ControllerTest : public ::testing::Test {
 protected:
  Controller::Options Options() {
    Controller::Options options;
    options.settings.plan_every_s = 0;
    options.leads = [this] { return leads_.load(); };
    options.synced = [] { return true; };
    options.now_s = [this] { return now_s_.load(); };
    options.instance = "test";
    options.tick = std::chrono::milliseconds(1);
    return options;
  }

  void AddNodes(Controller& controller, int nodes) {
    controller.ChangeCluster([nodes](ClusterCache& cache) {
      for (int n = 0; n < nodes; ++n) {
        Node node;
        node.name = "n" + std::to_string(n);
        node.ready = true;
        GpuNode gpus;
        gpus.name = node.name;
        for (int g = 0; g < 8; ++g) {
          GpuNode::Gpu gpu;
          gpu.uuid = "GPU-" + std::to_string(n) + "-" + std::to_string(g);
          gpu.memory = std::uint64_t{80} << 30;
          gpu.slots = 2;
          gpu.healthy = true;
          gpus.gpus.push_back(gpu);
        }
        cache.Put(node);
        cache.Put(gpus);
      }
      return true;
    });
  }

  void AddGang(Controller& controller, int size) {
    for (int i = 0; i < size; ++i) {
      Pod pod;
      pod.uid = "u" + std::to_string(i);
      pod.name_space = "team";
      pod.name = "job-" + std::to_string(i);
      pod.version = "1";
      pod.created_s = 1000;
      pod.gates = {base::kGangGate};
      pod.annotations = {{base::kGangAnnotation, "g"}, {base::kGangSizeAnnotation, std::to_string(size)}};
      Container container;
      container.name = "main";
      container.slots = 1;
      pod.containers = {container};
      {
        const std::scoped_lock lock(api_.mutex_);
        api_.pods_[pod.uid] = pod;
      }
      controller.ChangePod(pod.uid, [&pod](ClusterCache& cache) { cache.Put(pod); });
    }
  }

  // Filters and binds the pods from 0 to `size` - 1 as a scheduler does, all but number `but`. Returns the
  // answers to the binds.
  std::vector<std::future<std::string>> BindAll(Controller& controller, int size, int but) {
    std::vector<std::string> names;
    for (int n = 0; n < 64; ++n) names.push_back("n" + std::to_string(n));
    const std::vector<std::string_view> nodes(names.begin(), names.end());
    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < size; ++i) {
      if (i == but) continue;
      const PodRef ref{
          .uid = "u" + std::to_string(i), .name_space = "team", .name = "job-" + std::to_string(i)};
      // The controller may not have the answer to the last release yet.
      std::optional<FilterAnswer> answer;
      do answer = controller.Filter(ref, nodes);
      while (answer && answer->nodes.empty());
      auto promise = std::make_shared<std::promise<std::string>>();
      answers.push_back(promise->get_future());
      if (!answer) {
        promise->set_value("no leader");
        continue;
      }
      controller.Bind(ref, answer->nodes.front(),
                      [promise](const std::string& error) { promise->set_value(error); });
    }
    return answers;
  }

  std::atomic<double> now_s_ = 1000;
  std::atomic<bool> leads_ = true;
  FakeApi api_;
};

// The bound holds whatever the controller is told meanwhile.
TEST_F(ControllerTest, DecisionsTakeAFifthOfTheTimeAtMost) {
  std::atomic<int> looks = 0;
  Controller::Options options = Options();
  options.fits = [&](const ClusterCache&, const std::string&, const Pod&, const Resources&) {
    ++looks;
    now_s_ = now_s_ + 1;
    return placement::Fit{.pods = 0, .why = "there is no room"};
  };
  Controller controller(std::move(options), api_);
  AddNodes(controller, 1);
  AddGang(controller, 1);
  const int first = looks;
  ASSERT_GT(first, 0);
  Pod other;
  for (int i = 0; i < 50; ++i) {
    other.uid = "other-" + std::to_string(i);
    controller.ChangePod(other.uid, [&other](ClusterCache& cache) { cache.Put(other); });
  }
  EXPECT_EQ(looks, first) << "for each event";
  now_s_ = now_s_ + 4 * first + 1;
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (looks == first && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_GT(looks, first) << "but what changed is not forgotten";
}

// Only the thread that writes sees the lease lost, and only once.
TEST_F(ControllerTest, AWriteThatIsLostToAFlickeringLeaseIsMadeAgain) {
  std::atomic<bool> lied = false;
  const auto test = std::this_thread::get_id();
  Controller::Options options = Options();
  options.leads = [&] {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof(name));
    const bool writes = std::this_thread::get_id() != test && std::string(name) != "xo-gangs";
    return !writes || lied.exchange(true);
  };
  Controller controller(std::move(options), api_);
  AddNodes(controller, 1);
  AddGang(controller, 2);
  const auto end = std::chrono::steady_clock::now() + kLong;
  const auto released = [this] {
    const std::scoped_lock lock(api_.mutex_);
    return api_.AllReleased();
  };
  while (!released() && std::chrono::steady_clock::now() < end) {
    now_s_ = now_s_ + 0.01;
    std::this_thread::yield();
  }
  EXPECT_TRUE(lied);
  EXPECT_TRUE(released());
}

TEST_F(ControllerTest, HoldsALargeGangWithFewThreads) {
  constexpr int kSize = crossover::testing::kSanitized ? 128 : 512;
  Controller controller(Options(), api_);
  AddNodes(controller, kSize / 8);
  AddGang(controller, kSize);
  ASSERT_TRUE(api_.Wait([this] { return api_.AllReleased(); }));
  auto answers = BindAll(controller, kSize, kSize - 1);
  EXPECT_EQ(controller.held(), kSize - 1);
  EXPECT_EQ(api_.bound_, 0) << "bound before all were there";
  const std::string number = std::to_string(kSize - 1);
  const PodRef last{.uid = "u" + number, .name_space = "team", .name = "job-" + number};
  const Reservation reserved =
      ReadReservation(api_.pods_[last.uid].annotations[base::kReservationAnnotation]).value();
  std::promise<std::string> promise;
  controller.Bind(last, reserved.seat.node,
                  [&promise](const std::string& error) { promise.set_value(error); });
  answers.push_back(promise.get_future());
  for (auto& answer : answers) {
    ASSERT_EQ(answer.wait_for(kLong), std::future_status::ready);
    EXPECT_EQ(answer.get(), "");
  }
  EXPECT_EQ(api_.bound_, kSize);
  EXPECT_LE(api_.threads_.size(), 16u);
  std::set<std::string> gpus;
  for (const auto& [uid, pod] : api_.pods_) {
    gpus.insert(ReadAssignment(pod.annotations.at(base::kAssignmentAnnotation)).at("main").front());
  }
  EXPECT_EQ(gpus.size(), static_cast<std::size_t>(kSize));
}

// Planning for thousands of nodes runs under the lock, and may take tenths of a second.
TEST_F(ControllerTest, APodThatHasAPlaceIsAnsweredWhileTheLockIsTaken) {
  Controller controller(Options(), api_);
  AddNodes(controller, 1);
  AddGang(controller, 1);
  ASSERT_TRUE(api_.Wait([this] { return api_.AllReleased(); }));
  const std::vector<std::string_view> nodes = {"n0", "n1"};
  const PodRef ref{.uid = "u0", .name_space = "team", .name = "job-0"};
  while (controller.Filter(ref, nodes)->nodes.empty()) {
  }
  std::promise<std::vector<std::string>> left;
  std::thread asks;
  controller.Look([&](const ClusterCache&) {
    asks = std::thread([&] { left.set_value(controller.Filter(ref, nodes)->nodes); });
    auto future = left.get_future();
    ASSERT_EQ(future.wait_for(kLong), std::future_status::ready);
    EXPECT_EQ(future.get(), std::vector<std::string>{"n0"});
  });
  asks.join();
}

TEST_F(ControllerTest, APodThatIsGoneHasNoPlace) {
  Controller controller(Options(), api_);
  AddNodes(controller, 1);
  AddGang(controller, 1);
  ASSERT_TRUE(api_.Wait([this] { return api_.AllReleased(); }));
  const std::vector<std::string_view> nodes = {"n0"};
  const PodRef ref{.uid = "u0", .name_space = "team", .name = "job-0"};
  while (controller.Filter(ref, nodes)->nodes.empty()) {
  }
  controller.ChangePod("u0", [](ClusterCache& cache) { cache.RemovePod("u0"); });
  EXPECT_FALSE(controller.Filter(ref, nodes)) << "it is not known";
}

TEST_F(ControllerTest, TheBindOfAPodThatIsGoneIsAnswered) {
  Controller controller(Options(), api_);
  AddNodes(controller, 1);
  AddGang(controller, 2);
  ASSERT_TRUE(api_.Wait([this] { return api_.AllReleased(); }));
  auto answers = BindAll(controller, 2, 1);
  controller.ChangePod("u0", [](ClusterCache& cache) { cache.RemovePod("u0"); });
  ASSERT_EQ(answers[0].wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(answers[0].get(), "the pod is gone");
}

TEST_F(ControllerTest, WhoLeadsNoMoreAnswersAndRefuses) {
  Controller controller(Options(), api_);
  AddNodes(controller, 1);
  AddGang(controller, 2);
  ASSERT_TRUE(api_.Wait([this] { return api_.AllReleased(); }));
  auto answers = BindAll(controller, 2, 1);
  leads_ = false;
  ASSERT_EQ(answers[0].wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(answers[0].get(), "this extender leads no more");
  const std::vector<std::string_view> nodes = {"n0"};
  EXPECT_FALSE(controller.Filter({.uid = "u0", .name_space = "team", .name = "job-0"}, nodes));
  EXPECT_EQ(controller.held(), 0);
}

TEST_F(ControllerTest, ABindIsRefusedInWordsThatAreTrue) {
  Controller::Options options = Options();
  options.synced = [] { return false; };
  Controller controller(options, api_);
  const auto answer = [&controller] {
    std::string given;
    controller.Bind({.uid = "u0", .name_space = "team", .name = "job-0"}, "n0",
                    [&given](const std::string& error) { given = error; });
    return given;
  };
  EXPECT_EQ(answer(), "this extender does not know the cluster yet");
  leads_ = false;
  EXPECT_EQ(answer(), "this extender does not lead");
}

TEST_F(ControllerTest, ABindIsAnsweredWithinItsTime) {
  Controller controller(Options(), api_);
  AddNodes(controller, 1);
  AddGang(controller, 2);
  ASSERT_TRUE(api_.Wait([this] { return api_.AllReleased(); }));
  auto answers = BindAll(controller, 2, 1);
  now_s_ = 1000 + 26;
  ASSERT_EQ(answers[0].wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(answers[0].get(), "crossover: waits: 1 of 2 pods of its gang are bound or ready to be bound");
}

TEST_F(ControllerTest, TellsWhyAPodWaits) {
  Controller controller(Options(), api_);
  AddNodes(controller, 1);
  AddGang(controller, 9);
  ASSERT_TRUE(api_.Wait([this] { return api_.told_["u8"].find("9 GPUs") != std::string::npos; }));
  EXPECT_NE(controller.WhyWaits("u0").find("9 GPUs"), std::string::npos);
}

TEST_F(ControllerTest, WhomThereIsNoRoomToTellIsToldLater) {
  api_.room_ = 4;
  Controller controller(Options(), api_);
  AddNodes(controller, 1);
  AddGang(controller, 9);
  ASSERT_TRUE(api_.Wait([this] { return api_.room_ == 0; }));
  {
    const std::scoped_lock lock(api_.mutex_);
    EXPECT_EQ(api_.told_.size(), 4u);
    api_.room_ = 100;
  }
  now_s_ = now_s_ + 1;
  ASSERT_TRUE(api_.Wait([this] { return api_.told_.size() == 9; }));
}

TEST_F(ControllerTest, EndsWithBindsHeld) {
  std::vector<std::future<std::string>> answers;
  {
    Controller controller(Options(), api_);
    AddNodes(controller, 1);
    AddGang(controller, 2);
    ASSERT_TRUE(api_.Wait([this] { return api_.AllReleased(); }));
    answers = BindAll(controller, 2, 1);
  }
  EXPECT_EQ(answers[0].get(), "this extender ends");
}

}  // namespace
}  // namespace crossover::extender
