// What follows from who is on the GPUs: a GPU that somebody from outside uses is not given out, and no turns
// are taken beside a process that takes part in none.
//
// Pure: time comes in, in ns of any clock. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/occupants/occupant.h"

namespace crossover::deviceplugin {

class OccupantJudge {
 public:
  using Time = std::int64_t;
  // A process that looks around and goes is none of our business.
  static constexpr Time kStranger = 5'000'000'000;
  // A job that has opened its GPU makes its communicators, and is heard of, within that.
  static constexpr Time kUnheard = 30'000'000'000;

  struct Known {
    std::set<std::pair<std::string, std::string>> holders;  // pod UID and GPU: what the kubelet has given out
    std::set<std::pair<std::int64_t, std::string>> clients;  // process and GPU: who takes part
    std::set<pid_t> mps_servers;  // each with a context of its own for all of its clients
  };
  struct Verdicts {
    std::map<std::string, Occupant> strangers;  // by GPU: who uses it without having it from us
    std::vector<Occupant> unhooked;             // have it from us, and take no part
    std::vector<Occupant> unheard;              // all that are no clients, or not yet
  };

  // A stranger, without what is another's each time: numbers and names of processes.
  static std::string Describe(const Occupant& stranger);

  // Once for each look: a process that is not among them has left its GPU. Whoever is there at the first may
  // have been for long: without a slot it is a stranger at once.
  Verdicts Judge(const std::vector<Occupant>& occupants, const Known& known, Time now);

 private:
  bool first_ = true;
  std::map<std::pair<pid_t, std::string>, Time> since_;  // each process on each GPU
};

}  // namespace crossover::deviceplugin
