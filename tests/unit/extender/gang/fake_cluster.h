// A cluster that keeps the truth, delivers it late to whoever watches, carries out writes or loses them, and
// has a scheduler and a job controller of its own. All of it at random, by a seed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "extender/gang/gangs.h"

namespace crossover::extender {

// What is spoilt on purpose, so that the referee has something to find.
struct Sabotage {
  std::function<void(Action&)> action = [](Action&) {};
  std::function<bool(const Action&)> drop = [](const Action&) { return false; };
  std::function<void(Pod&)> view = [](Pod&) {};          // of what the extender sees
  std::function<void(GpuNode&)> gpus = [](GpuNode&) {};  // likewise
};

class FakeCluster {
 public:
  FakeCluster(std::uint64_t seed, Sabotage sabotage);

  void Step();    // one thing happens
  void Settle();  // nothing fails any more; until all is quiet, or for too long
  // What the referee found first, or "".
  const std::string& fault() const { return fault_; }
  // What happened, and the truth, a line per pod, for whoever looks for the cause of a fault.
  std::string Describe() const;
  int placed() const { return placed_; }  // gangs that were bound whole
  int shared() const { return shared_; }  // bindings onto a GPU that another gang has
  int restarts() const { return restarts_; }

 private:
  struct Truth {
    Pod pod;
    std::string gang;
    int index = 0;
    std::string nominated;
    bool settled = false;  // bound, and all of its gang were for a while
    bool strayed = false;  // a kubelet chose other GPUs
    std::vector<std::string> actual;
  };
  struct Job {
    int size = 0;
    int gpus = 1;
    int attempt = 0;
    std::set<int> bound;  // pods of this attempt that ever were, by index
    bool whole = false;   // all of them, of as many as it had then
    bool names_memory = true;
    bool elastic = false;  // its owner says its size, and may change it
    bool resized = false;  // it did
    double half_since_s = -1;
    int whole_for = 0;  // steps in which all are bound, in this extender's time
  };
  struct Asked {
    std::string uid, node;
  };

  int Random(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool Chance(int percent) { return Random(100) < percent; }
  void Note(const std::string& fault);
  void Remember(const std::string& what);

  // cluster.cc: the truth and its ways.
  void Changed(Truth& truth);
  void Deliver(bool all);
  void Drive();  // asks the extender what to do
  void Perform(const Action& action);
  Result Write(const Action& action);
  Result Bind(Truth& truth, const Action& action);
  void ReadOwner(const Action& action);
  void PublishGpus(const std::string& node);
  void Restart();

  // events.cc: what happens.
  void Submit();
  void AddPod(const std::string& job, int index);
  int MostPods(int gpus_per_pod) const;
  void EndJob();
  void Resize();
  void LosePod();
  void Crash();
  void Learn();
  bool IsThere(const std::string& gang, int index) const;
  void Remove(const std::string& uid);
  void Schedule();
  void Finish();
  void LoseNode();
  void Repair();
  void Stray();

  // referee.cc: what must never be; knows only the truth.
  void JudgeBinding(const Truth& truth);
  void JudgeBeside(const Truth& truth, const Truth& other);
  void JudgeTime();
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
  // What the watches have not delivered yet: pods in their order, GPU nodes in theirs.
  std::deque<std::pair<std::string, std::optional<Pod>>> pod_events_;
  std::deque<GpuNode> gpu_events_;
  std::deque<Node> node_events_;
  std::deque<Action> writes_;
  std::map<Ticket, Asked> held_;
  std::set<std::string> assumed_;  // pods that the scheduler is binding
  std::unique_ptr<World> world_;
  std::unique_ptr<Gangs> gangs_;
  Ticket tickets_ = 1;
  int epochs_ = 0;
  std::string fault_, history_;
  int placed_ = 0, shared_ = 0, restarts_ = 0;
};

// Deadline and hold-offs that a short life can see.
GangSettings QuickSettings();

}  // namespace crossover::extender
