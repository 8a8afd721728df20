// A FakeCluster keeps the truth and delivers it late to the extender under test. It carries out writes or
// loses them, and has a scheduler and a job controller of its own. All of this happens at random, by a
// seed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "extender/gang/gangs.h"

namespace crossover::extender {

// Spoils something on purpose, so that the referee has something to find.
struct Sabotage {
  std::function<void(Action&)> action = [](Action&) {};
  std::function<bool(const Action&)> drop = [](const Action&) { return false; };
  std::function<void(Pod&)> view = [](Pod&) {};                         // what the extender sees of pods
  std::function<void(GpuNode&)> gpus = [](GpuNode&) {};                 // what it sees of GPU nodes
  std::function<void(nlohmann::json&)> owner = [](nlohmann::json&) {};  // what it reads of owners
  std::function<void(Budget&)> budget = [](Budget&) {};                 // what it sees of budgets
};

class FakeCluster {
 public:
  FakeCluster(std::uint64_t seed, Sabotage sabotage);

  void Step();    // makes one thing happen
  void Settle();  // runs 600 rounds in which nothing fails any more, and judges the end
  // Returns the first fault that the referee found, or "".
  const std::string& fault() const { return fault_; }
  // Returns what happened, and the truth, one line per pod. It helps to find the cause of a fault.
  std::string Describe() const;
  int placed() const { return placed_; }  // gangs that were bound whole
  int shared() const { return shared_; }  // bindings onto a GPU that another gang has
  int restarts() const { return restarts_; }
  // Returns the number of gangs that kept their bound pods because of a budget.
  int kept() const { return static_cast<int>(kept_.size()); }
  int left() const { return left_; }              // gangs that left so that others got their GPUs
  int taken_over() const { return taken_over_; }  // claims that a new extender found
  int resumed() const { return resumed_; }  // jobs of which some pods had succeeded that were bound again

 private:
  struct Truth {
    Pod pod;
    std::string gang;
    int index = 0;
    std::string nominated;
    bool settled = false;  // bound, and its whole gang was bound for a while
    double over_s = 0;     // when it ended; 0: it has not
    bool strayed = false;  // a kubelet chose other GPUs
    std::vector<std::string> actual;
  };
  struct Job {
    int size = 0;         // pods at a time
    int completions = 0;  // pods in all
    int gpus = 1;
    int attempt = 0;
    bool suspended = false;
    int rank = 0;           // priority of its pods, except the first one if `launches`
    bool launches = false;  // its first pod has a higher priority
    bool preempts = true;   // its last pod does not say Never
    int stubborn = -1;      // index of a pod whose Bindings are refused; -1: none
    std::set<int> done;     // indices of this attempt that have succeeded
    std::set<int> bound;    // indices of this attempt's pods that were ever bound
    bool whole = false;     // all pods that it had at some time were bound
    bool names_memory = true;
    bool elastic = false;  // its owner says its size, and may change it
    bool resized = false;  // the owner changed it
    double half_since_s = -1;
    int whole_for = 0;  // steps with all pods bound, since the extender started

    // Returns how many pods have to run for the job to go on.
    int need() const;
  };
  // A Limit is the disruption budget for the pods of one job.
  struct Limit {
    Budget budget;
    double changed_s = -1e9;  // when another program last changed it
  };
  // A Promise is a claim, as the reservations on the pods of a gang tell it.
  struct Promise {
    std::string gang;
    int rank = 0;
    bool preempts = true;
    Left left;
    std::set<std::string> gpus;
    std::set<std::string> beside;           // gangs that were on these GPUs when it was whole
    std::set<std::string> written;          // UIDs of pods that got the reservation
    int size = 0;                           // number of pods that it is for, as the reservations say
    bool whole = false;                     // all its pods had the reservation at some time
    double over_s = -1;                     // since when it is over; -1: it is not
    std::map<std::string, double> began_s;  // by gang: when its first pod was evicted
  };
  struct Asked {
    std::string uid, node;
  };

  int Random(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool Chance(int percent) { return Random(100) < percent; }
  void Note(const std::string& fault);
  void Remember(const std::string& what);

  // The functions in fake_cluster.cc keep the truth.
  void Changed(Truth& truth);
  void Deliver(bool all);
  void Drive();  // asks the extender what to do
  void Perform(const Action& action);
  Result Write(const Action& action);
  Result Bind(Truth& truth, const Action& action);
  void ReadOwner(const Action& action);
  Result Evict(Truth& truth);
  void PublishGpus(const std::string& node);
  void Restart();
  // Returns the job that the gang is an attempt of, or null if it is over.
  Job* JobOf(const std::string& gang);

  // The functions in fake_events.cc make things happen.
  void Submit();
  void AddPod(const std::string& job, int index);
  int MostPods(int gpus_per_pod) const;
  void EndJob();
  void Resize();
  void Succeed();
  void Suspend(const std::string& name);
  void LosePod();
  void Crash();
  void Learn();
  void ChangeBudget();
  bool IsThere(const std::string& gang, int index) const;
  void Remove(const std::string& uid);
  void Schedule();
  void Finish();
  bool MayBeRemoved(const Truth& truth) const;
  void LoseNode();
  void Repair();
  void Stray();

  // The functions in referee.cc find what must never happen. They know only the truth.
  void JudgeBinding(const Truth& truth);
  void JudgeBeside(const Truth& truth, const Truth& other);
  void JudgeTime();

  // The functions in promises.cc find what must never happen while gangs make room.
  void NotePromise(const Truth& truth);
  void FollowPromises();
  void NoteWhoLeft(const std::string& gang);
  void JudgeLeaving(const Truth& truth);
  void JudgeHalves();
  bool IsRoomMade(const Promise& promise, const std::string& gpu) const;
  void JudgeSeats(const Truth& truth, const std::string& gpu);
  void JudgeRanks();
  int RankOf(const std::string& gang, double at_s) const;

  void NoteWhoRuns();
  void JudgeEnd();
  bool WaitForEachOther(const std::string& gang) const;

  std::mt19937_64 random_;
  Sabotage sabotage_;
  double now_s_ = 1000;
  bool calm_ = false;
  int versions_ = 1;
  int uids_ = 0;
  int replacements_ = 0;
  int jobs_made_ = 0;
  std::map<std::string, Truth> pods_;  // by UID
  std::map<std::string, Job> jobs_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, GpuNode> gpu_nodes_;
  std::string gone_;                   // a node that never comes back
  std::optional<JobProfile> profile_;  // of all jobs
  // The watches have not delivered these yet. Pods come in their order, and so do GPU nodes.
  std::deque<std::pair<std::string, std::optional<Pod>>> pod_events_;
  std::deque<GpuNode> gpu_events_;
  std::deque<Node> node_events_;
  std::deque<Budget> budget_events_;
  std::map<std::string, Limit> limits_;  // by job
  std::deque<Action> writes_;
  std::map<std::string, Promise> promises_;  // by the id of the claim
  std::set<std::string> kept_back_;          // gangs of which a budget forbade an eviction
  double calm_s_ = 0;                        // since when nothing fails any more
  double restarted_s_ = 0;
  std::map<BindHandle, Asked> held_;
  std::set<std::string> assumed_;  // pods that the scheduler is binding
  std::unique_ptr<ClusterCache> cache_;
  std::unique_ptr<Gangs> gangs_;
  BindHandle bind_handles_ = 1;
  int epochs_ = 0;
  std::string fault_, history_;
  int placed_ = 0, shared_ = 0, restarts_ = 0, resumed_ = 0, left_ = 0, taken_over_ = 0;
  std::set<std::string> kept_;
};

// Returns settings with a deadline and hold-offs that are short enough for a short life.
GangSettings QuickSettings();

}  // namespace crossover::extender
