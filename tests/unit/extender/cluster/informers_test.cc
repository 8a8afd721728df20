#include "extender/cluster/informers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "tests/unit/common/kube/server.h"

namespace crossover::extender {
namespace {

using testing::HasSubstr;

// Records what Informers report, as text. The order within each kind of object is kept.
class Recorder : public Listener {
 public:
  void OnPod(Pod pod) override { Put("pod " + pod.uid + " " + pod.node); }
  void OnPodGone(const std::string& uid) override { Put("no pod " + uid); }
  void OnNode(Node node) override { Put("node " + node.name + (node.cordoned ? " cordoned" : "")); }
  void OnNodeGone(const std::string& name) override { Put("no node " + name); }
  void OnGpuNode(GpuNode node) override { Put("gpus " + node.name + " " + std::to_string(node.gpus.size())); }
  void OnGpuNodeGone(const std::string& name) override { Put("no gpus " + name); }
  void OnProfile(JobProfile profile) override { Put("profile " + profile.name_space + " " + profile.name); }
  void OnProfileGone(const std::string& name_space, const std::string& name) override {
    Put("no profile " + name_space + " " + name);
  }
  void OnBudget(Budget budget) override {
    Put("budget " + budget.name_space + " " + budget.name + " " + std::to_string(budget.allowed));
  }
  void OnBudgetGone(const std::string& name_space, const std::string& name) override {
    Put("no budget " + name_space + " " + name);
  }

  // Blocks until `text` has come `times` times.
  void Await(const std::string& text, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::count(seen_.begin(), seen_.end(), text) >= times; });
  }
  bool Saw(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return std::count(seen_.begin(), seen_.end(), text) > 0;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return seen_.size();
  }

 private:
  void Put(std::string text) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(std::move(text));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
};

constexpr char kNodes[] = "/api/v1/nodes?";
constexpr char kPodsPath[] = "/api/v1/pods?labelSelector=crossover.dev%2Fmanaged%3Dtrue&";
constexpr char kGpuNodes[] = "/apis/crossover.dev/v1alpha1/gpunodes?";
constexpr char kProfiles[] = "/apis/crossover.dev/v1alpha1/jobprofiles?";

constexpr char kBudgets[] = "/apis/policy/v1/poddisruptionbudgets?";

std::string Event(const std::string& type, const std::string& metadata, const std::string& rest = "") {
  return R"({"type":")" + type + R"(","object":{"metadata":{"resourceVersion":"5",)" + metadata + "}" + rest +
         "}}\n";
}
std::string End() { return Event("BOOKMARK", R"("annotations":{"k8s.io/initial-events-end":"true"})"); }
std::string PodNames(const std::string& uid) {
  return R"("uid":")" + uid + R"(","namespace":"ns","name":"p")";
}
std::string Named(const std::string& name) { return R"("name":")" + name + "\""; }

class InformersTest : public ::testing::Test {
 protected:
  void Open(const char* path, const std::string& text) {
    server_.Answer({.status = 200, .body = text, .open = true, .to = path});
  }
  void Start() {
    informers_ =
        std::make_unique<Informers>(kube::Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                    &recorder_, std::chrono::milliseconds(1));
  }
  // Blocks until the lists of all watches have been told.
  void AwaitSynced() {
    while (!informers_->synced()) std::this_thread::yield();
  }

  kube::Server server_;
  Recorder recorder_;
  std::unique_ptr<Informers> informers_;
};

TEST_F(InformersTest, TellsOfAllKinds) {
  Open(kNodes, Event("ADDED", Named("n1")));
  Open(kPodsPath, Event("ADDED", PodNames("u"), R"(,"spec":{"nodeName":"n1"})") + End());
  Open(kGpuNodes, Event("ADDED", Named("n1"), R"(,"status":{"gpus":[{"uuid":"GPU-a"}]})") + End());
  Open(kProfiles, Event("ADDED", R"("namespace":"ns",)" + Named("bert")) + End());
  Open(kBudgets,
       Event("ADDED", R"("namespace":"ns",)" + Named("b"), R"(,"status":{"disruptionsAllowed":2})") + End());
  Start();
  for (const char* text : {"node n1", "pod u n1", "gpus n1 1", "profile ns bert", "budget ns b 2"})
    recorder_.Await(text);
  EXPECT_FALSE(informers_->synced()) << "of nodes there may be more";
  server_.Say(End(), kNodes);
  AwaitSynced();
  server_.Say(
      Event("MODIFIED", Named("n1"), R"(,"spec":{"unschedulable":true})") + Event("DELETED", Named("n1")),
      kNodes);
  server_.Say(Event("DELETED", PodNames("u")), kPodsPath);
  server_.Say(Event("DELETED", Named("n1")), kGpuNodes);
  server_.Say(Event("DELETED", R"("namespace":"ns",)" + Named("bert")), kProfiles);
  server_.Say(Event("DELETED", R"("namespace":"ns",)" + Named("b")), kBudgets);
  for (const char* text :
       {"node n1 cordoned", "no node n1", "no pod u", "no gpus n1", "no profile ns bert", "no budget ns b"})
    recorder_.Await(text);
  EXPECT_EQ(recorder_.count(), 11u);
}

TEST_F(InformersTest, WhatIsNotInALaterListHasGone) {
  constexpr char kExpired[] = R"({"type":"ERROR","object":{"code":410}})"
                              "\n";
  server_.Answer({.status = 200,
                  .body = Event("ADDED", PodNames("u")) + Event("ADDED", PodNames("v")) + End() + kExpired,
                  .to = kPodsPath});
  // This list breaks off, so the absence of v does not mean that v is gone.
  server_.Answer({.status = 200, .body = Event("ADDED", PodNames("w")), .to = kPodsPath, .cut = true});
  Open(kPodsPath, Event("ADDED", PodNames("v")));
  Start();
  recorder_.Await("pod v ", 2);
  EXPECT_TRUE(recorder_.Saw("pod w "));
  EXPECT_FALSE(recorder_.Saw("no pod u"));
  server_.Say(End(), kPodsPath);
  recorder_.Await("no pod u");
  recorder_.Await("no pod w");
  EXPECT_FALSE(recorder_.Saw("no pod v"));
}

TEST_F(InformersTest, WhatIsNotParsedIsNotTold) {
  Open(kPodsPath, Event("ADDED", Named("without UID")) + Event("DELETED", PodNames("never told of")) +
                      Event("ADDED", PodNames("u")));
  Start();
  recorder_.Await("pod u ");
  EXPECT_EQ(recorder_.count(), 1u);
}

TEST_F(InformersTest, DoesWithoutResourcesThatAreNotDefined) {
  Open(kNodes, End());
  Open(kPodsPath, End());
  server_.Answer({.status = 404, .body = "404 page not found", .to = kGpuNodes});
  server_.Answer({.status = 404, .body = "404 page not found", .to = kProfiles});
  server_.Answer({.status = 404, .body = "404 page not found", .to = kBudgets});
  Start();
  AwaitSynced();
  Open(kGpuNodes, Event("ADDED", Named("n1")) + End());  // it is defined now
  recorder_.Await("gpus n1 0");
}

TEST_F(InformersTest, WithoutNodesItKnowsNothing) {
  server_.Answer({.status = 404, .body = "404 page not found", .to = kNodes});
  Open(kPodsPath, Event("ADDED", PodNames("u")) + End());
  Open(kGpuNodes, Event("ADDED", Named("n1")) + End());
  Open(kProfiles, Event("ADDED", R"("namespace":"ns",)" + Named("p")) + End());
  Start();
  for (const char* text : {"pod u ", "gpus n1 0", "profile ns p"}) recorder_.Await(text);
  while (server_.requests() < 6) std::this_thread::yield();  // the informer has asked for nodes again
  EXPECT_FALSE(informers_->synced());
}

}  // namespace
}  // namespace crossover::extender
