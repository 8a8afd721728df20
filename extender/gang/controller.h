// Gangs with threads around them: the World, one lock, a few workers that write, and a tick.
//
// Thread-safe. Filter waits for no step where it has a place for the pod; a held bind is an object, not a
// thread.
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

#include "common/threads/rounds.h"
#include "extender/cluster/world.h"
#include "extender/gang/api.h"
#include "extender/gang/gangs.h"
#include "extender/gang/tally.h"
#include "extender/scheduler/decider.h"

namespace crossover::extender {

class Controller : public Decider {
 public:
  struct Options {
    GangSettings settings;
    // Whether nodes take pods, under the lock; none: they do.
    std::function<placement::Fit(const World& world, const std::string& node, const Pod& pod,
                                 const Resources& planned)>
        fits;
    std::function<bool()> leads;    // asked often, also under the lock: must not wait
    std::function<bool()> synced;   // likewise: the World is the whole cluster
    std::function<double()> now_s;  // since 1970; does not go back
    std::string instance;           // differs between processes
    int workers = 16;
    std::chrono::milliseconds tick{200};
  };

  // `api` must outlive it.
  Controller(Options options, Api& api);
  // Held binds are answered.
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Tells the World of a change, under the lock. OfPod: `change` put or removed that pod.
  using Changing = std::function<void(World& world)>;
  void ChangePod(const std::string& uid, const Changing& change);
  // `change` says whether anything did.
  void ChangeCluster(const std::function<bool(World& world)>& change);
  // The World, as it is now, under the lock.
  void Look(const std::function<void(const World& world)>& look) const;

  std::optional<FilterAnswer> Filter(const PodRef& pod, std::span<const std::string_view> nodes) override;
  std::vector<int> Prioritize(const PodRef& pod, std::span<const std::string_view> nodes) override;
  void Bind(const PodRef& pod, const std::string& node, Done done) override;
  std::map<std::string, Victims> Preempt(const PodRef& pod, std::map<std::string, Victims> by_node) override;

  int held() const;
  // Nothing while it does not lead.
  std::optional<Tally> Count() const;
  // Why a pod waits; empty where it does not, or nothing is known of it.
  std::string WhyWaits(const std::string& uid) const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Answer {
    Done done;
    std::string error;
  };

  // Begins or ends to lead, as it is now; whether it leads.
  bool Lead(std::vector<Answer>* answers);
  // What there is to do, under the lock; the answers are given after it.
  void Step(std::vector<Answer>* answers);
  void Take(std::vector<Action> actions, std::vector<Answer>* answers);
  static void Give(const std::vector<Answer>& answers);
  bool HasWork() const;
  void Work();
  void Tick();
  void ShowSeats();

  const Options options_;
  Api& api_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  World world_;
  std::unique_ptr<Gangs> gangs_;  // while it leads
  int terms_ = 0;                 // how often it began to
  struct Job {
    int term;
    Action action;
  };
  std::deque<Job> jobs_;
  std::map<Ticket, Done> held_;
  Ticket tickets_ = 1;
  bool stop_ = false;
  // By the UID of a pod: the node that Filter leaves it, as of the last step. A step that is under way may be
  // planning for thousands of nodes, and schedulers are not to wait for it: what they are told is what they
  // would have been a moment ago, and Bind asks again.
  std::mutex seats_mutex_;  // never with anything done under it
  std::unordered_map<std::string, std::string> seats_;
  // Last: they use the others.
  std::vector<std::thread> threads_;
  std::optional<threads::Rounds> rounds_;
};

}  // namespace crossover::extender
