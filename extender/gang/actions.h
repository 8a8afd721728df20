// What the gangs want done outside, and what came of it. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "extender/gang/owner_facts.h"
#include "extender/scheduler/decider.h"

namespace crossover::extender {

// A bind that somebody waits for.
using Ticket = std::uint64_t;

struct Action {
  enum class Kind : std::uint8_t {
    kReserve,  // annotations crossover.dev/reservation = text, and status-gpu-memory = memory
    kClear,    // nominated to no node, and then without these annotations
    // Nominate it to `node`, unless that is empty; then lift the scheduling gate, if it is there, and set
    // crossover.dev/requeue = text.
    kRelease,
    kBind,  // Binding to `node`; assignment = text, unless that is empty
    kDelete,
    kSettle,     // annotation crossover.dev/reservation = text, of a pod that is bound
    kReadOwner,  // `owner`
    // Those above have a result, those below none.
    kAnswer,  // the bind `ticket`; text: the error
    kTell,    // an event on the pod: reason, text
  };
  Kind kind = Kind::kTell;
  std::uint64_t id = 0;  // of the result
  PodRef pod{};          // its UID is a precondition of every write
  std::string node{};
  std::string text{};
  std::uint64_t memory = 0;  // bytes; 0: without that annotation
  Ticket ticket = 0;
  std::string reason{};
  bool warning = false;
  OwnerRef owner{};
};

enum class Outcome : std::uint8_t {
  kDone,
  kGone,     // there is no such pod any more
  kRefused,  // it was not done
  kUnknown   // it may have been done, or may yet be
};

struct Result {
  Outcome outcome = Outcome::kUnknown;
  std::string version{};  // of the pod after it, where it was done
  std::string node{};     // of a refused Binding: where the pod is bound, if it is
  bool looked = false;    // whether that was read since; else it is about this attempt alone
  std::string error{};
  double retry_after_s = 0;  // the API server wants to be left alone for so long
};

}  // namespace crossover::extender
