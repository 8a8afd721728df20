// Which job has had how much of a GPU's time: what it is charged for.
//
// Whoever holds a turn is charged for it. Time in which nobody does, because nobody wants to or because jobs
// run side by side, is charged in equal parts to all that have the GPU at that time. So what is charged for a
// GPU is the time for which it had any client, never more than the time that passed.
//
// Pure: times come in with events, in ns. Not thread-safe. Bounded, whatever clients do.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "deviceplugin/arbiter/observer.h"

namespace crossover::deviceplugin {

class Charges {
 public:
  static constexpr turn::Time kKept =
      300'000'000'000;                        // for a job that has left, so that the last of it is seen
  static constexpr std::size_t kMost = 4096;  // jobs; of those that have left the oldest go first

  struct Job {
    std::string gpu_uuid;
    std::string name_space;  // empty outside of clusters
    std::string gang;
    friend auto operator<=>(const Job&, const Job&) = default;
  };

  void OnEvent(const arbiter::Event& event);
  // Charges what has passed. Events of before `now` that still come change nothing of that.
  void Advance(turn::Time now);

  // By job, in ns.
  std::map<Job, turn::Time> Charged() const;

 private:
  struct Account {
    turn::Time charged = 0;
    int clients = 0;
    turn::Time left = 0;  // when the last client did
  };
  struct Gpu {
    turn::Time since = 0;                  // charged until then
    std::map<std::uint64_t, Job> clients;  // by the member's id
    std::set<std::uint64_t> holders;
  };

  void AdvanceGpu(Gpu* gpu, turn::Time now);
  void Leave(Gpu* gpu, std::uint64_t id, turn::Time now);
  void Forget(turn::Time now);

  std::map<std::string, Gpu> gpus_;  // those that have clients
  std::map<Job, Account> accounts_;
};

}  // namespace crossover::deviceplugin
