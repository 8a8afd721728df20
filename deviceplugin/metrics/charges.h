// Counts how much of a GPU's time each job is charged for.
//
// A job that holds a turn is charged for it; several holders share the charge equally. Time in which no job
// holds a turn, because none wants one or because jobs run side by side, is charged in equal parts to all
// clients that the GPU has at that time. So the charges of a GPU sum up to the time for which it had any
// client, and never to more than the time that has passed.
//
// Pure: the times come with the events, in ns. Not thread-safe. Its size is bounded, whatever clients do.
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
  // The account of a job that has left stays for this long (ns), so that a scrape sees its last value.
  static constexpr turn::Time kKept = 300'000'000'000;
  static constexpr std::size_t kMost = 4096;  // jobs; those that left first are dropped first

  struct Job {
    std::string gpu_uuid;
    std::string name_space;  // empty outside of a cluster
    std::string gang;
    friend auto operator<=>(const Job&, const Job&) = default;
  };

  void OnEvent(const arbiter::Event& event);
  // Charges the time up to `now`. An event that arrives later with a time before `now` does not change these
  // charges.
  void Advance(turn::Time now);

  // Returns the time that each job is charged for, in ns.
  std::map<Job, turn::Time> Charged() const;

 private:
  struct Account {
    turn::Time charged = 0;
    int clients = 0;
    turn::Time left = 0;  // when the last client left
  };
  struct Gpu {
    turn::Time since = 0;                  // the time up to this instant is charged
    std::map<std::uint64_t, Job> clients;  // by Member::id
    std::set<std::uint64_t> holders;
  };

  void AdvanceGpu(Gpu* gpu, turn::Time now);
  void Leave(Gpu* gpu, std::uint64_t id, turn::Time now);
  void Forget(turn::Time now);

  std::map<std::string, Gpu> gpus_;  // GPUs that have clients
  std::map<Job, Account> accounts_;
};

}  // namespace crossover::deviceplugin
