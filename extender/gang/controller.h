// Runs the gang logic with threads. The Controller owns the ClusterCache, one lock, the threads that send
// requests to the API server (Options::workers, 16), and a periodic tick.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/threads/periodic_task.h"
#include "extender/cluster/cluster_cache.h"
#include "extender/gang/api.h"
#include "extender/gang/gang_stats.h"
#include "extender/gang/gangs.h"
#include "extender/scheduler/scheduler_extender.h"

namespace crossover::extender {

// A Controller is thread-safe. Filter() does not wait for a running step if the pod has a place. A held bind
// occupies an object, not a thread.
//
//   Informers         scheduler             workers                periodic tick
//   ChangePod() ..    Filter() Bind() ..    results of writes      Tick()
//       |                 |                     |                     |
//       +-----------------+------- mutex_ ------+---------------------+
//                                    v
//     ClusterCache <--- reads --- Gangs::Step()  --->  actions
//                                                        kAnswer    calls a held `done`, without the lock
//                                                        kTell      goes to Api::Tell(), which queues it
//                                                        others     go to jobs_; a worker calls Api::Write()
//                                                                   or Read(), and its result comes back
class Controller : public SchedulerExtender {
 public:
  struct Options {
    GangSettings settings;
    // Returns how many pods like `pod` the node takes beside the pods on it and `planned`; called under the
    // lock. Unset: every node takes every pod.
    std::function<placement::Fit(const ClusterCache& cache, const std::string& node, const Pod& pod,
                                 const Resources& planned)>
        fits;
    // Say whether this process leads, and whether the ClusterCache is the whole cluster. Both are called
    // often and under the lock, and must not block.
    std::function<bool()> leads;
    std::function<bool()> synced;
    std::function<double()> now_s;  // seconds since 1970; does not go back
    std::string instance;           // unique to this process
    int workers = 16;
    std::chrono::milliseconds tick{200};
  };

  // Starts the threads. REQUIRES: `api` outlives the Controller.
  Controller(Options options, Api& api);
  // Answers held binds and stops the threads.
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  using Changing = std::function<void(ClusterCache& cache)>;
  // Calls `change` under the lock, then takes a step. REQUIRES: `change` puts or removes the pod `uid` and
  // changes nothing else.
  void ChangePod(const std::string& uid, const Changing& change);
  // Calls `change` under the lock. `change` may change anything except pods, and returns whether anything
  // changed.
  void ChangeCluster(const std::function<bool(ClusterCache& cache)>& change);
  // Calls `look` with the current ClusterCache, under the lock.
  void Look(const std::function<void(const ClusterCache& cache)>& look) const;

  std::optional<FilterAnswer> Filter(const PodRef& pod, std::span<const std::string_view> nodes) override;
  std::vector<int> Prioritize(const PodRef& pod, std::span<const std::string_view> nodes) override;
  void Bind(const PodRef& pod, const std::string& node, Done done) override;
  std::map<std::string, Victims> Preempt(const PodRef& pod, std::map<std::string, Victims> by_node) override;

  // Returns the number of binds that are held.
  int held() const;
  // Returns the numbers of gangs, or nothing while this process does not lead.
  std::optional<GangStats> Count() const;
  // Returns why the pod's gang waits, or "" if it does not wait or is not known.
  std::string WhyWaits(const std::string& uid) const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Answer {
    Done done;
    std::string error;
  };

  // Creates or drops `gangs_` when the leadership has changed. Returns whether this process leads and knows
  // the whole cluster. REQUIRES: the lock is held. The caller passes `answers` to Give() after it has
  // released the lock. The same holds for Step() and Take().
  bool Lead(std::vector<Answer>* answers);
  // Lets the gangs take one step, and takes the actions that they ask for.
  void Step(std::vector<Answer>* answers);
  void Take(std::vector<Action> actions, std::vector<Answer>* answers);
  // Calls back the schedulers whose binds are answered. REQUIRES: the lock is not held.
  static void Give(const std::vector<Answer>& answers);
  // Returns whether a worker may send a request now. REQUIRES: the lock is held.
  bool HasWork() const;
  void Work();
  void Tick();
  // Copies into seats_ what the last step changed. REQUIRES: the lock is held, and `gangs_` is set.
  void ShowSeats();

  const Options options_;
  Api& api_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  ClusterCache cache_;
  std::unique_ptr<Gangs> gangs_;  // set while this process leads
  int terms_ = 0;                 // number of times that it began to lead
  struct Job {
    int term;
    Action action;
  };
  std::deque<Job> jobs_;
  std::map<BindHandle, Done> held_;
  BindHandle bind_handles_ = 1;
  bool stop_ = false;
  // seats_ maps the UID of a pod to the node that Filter() leaves it, as of the last step. A running step
  // may plan for thousands of nodes, and schedulers must not wait for it. The answer may therefore be a
  // moment old; Bind() checks again.
  std::mutex seats_mutex_;  // held only to read or write seats_
  std::unordered_map<std::string, std::string> seats_;
  // The threads are declared last, because they use the other members.
  std::vector<std::thread> threads_;
  std::optional<threads::PeriodicTask> task_;
};

}  // namespace crossover::extender
