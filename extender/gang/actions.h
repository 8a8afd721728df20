// Defines the actions that the gang logic asks for, and their results. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "extender/gang/owner_facts.h"
#include "extender/scheduler/scheduler_extender.h"

namespace crossover::extender {

// A BindHandle identifies a bind call that a scheduler waits for.
using BindHandle = std::uint64_t;

// An Action is one thing to do outside the gang logic. Its kind says which fields it uses.
struct Action {
  enum class Kind : std::uint8_t {
    // Set the annotations crossover.dev/reservation = text, status-gpu-memory = memory, status-shrink =
    // shrink
    // and status-shrink-why = shrink_why.
    kReserve,
    kClear,  // remove the nomination to a node, then the annotations of kReserve
    // Nominate the pod to `node`, unless that is empty. Then lift the scheduling gate, if it is there, and
    // set crossover.dev/requeue = text. Unless `preferences` is empty, set the preferred node affinity.
    kRelease,
    kBind,       // create a Binding to `node`, with assignment = text unless that is empty
    kEvict,      // evict the pod: a disruption budget may forbid it
    kSettle,     // set the annotation crossover.dev/reservation = text of a bound pod
    kAge,        // set the annotation crossover.dev/status-made-room = text of a pod that is not bound
    kShare,      // set the annotation crossover.dev/status-batch-shares = text of a pod
    kReadOwner,  // read the object `owner`
    // kReserve to kReadOwner have a result; the kinds from kAnswer on have none.
    kAnswer,  // answer the bind call `bind_handle`; text is the error, or empty
    kTell,    // record an event on the pod, with `reason` and `text`
  };
  Kind kind = Kind::kTell;
  std::uint64_t id = 0;  // the result comes with the same id
  PodRef pod{};          // its UID is a precondition of every write
  std::string node{};
  std::string text{};
  std::uint64_t memory = 0;  // bytes; 0: no such annotation
  std::string shrink{};      // empty: no such annotations
  std::string shrink_why{};
  BindHandle bind_handle = 0;
  std::string reason{};
  bool warning = false;
  const char* doing = "Place";  // action of the event: what the extender does with the pod
  OwnerRef owner{};
  std::string preferences{};  // JSON of preferredDuringSchedulingIgnoredDuringExecution
};

enum class Outcome : std::uint8_t {
  kDone,
  kGone,     // the pod does not exist any more
  kRefused,  // the action was not done
  kUnknown   // the action may have been done, or may still be done later
};

struct Result {
  Outcome outcome = Outcome::kUnknown;
  std::string version{};  // resourceVersion of the pod after the write, if known
  std::string node{};     // for a refused Binding: the node that the pod is bound to; empty: none
  bool looked = false;    // the pod was read after the refusal, so `node` covers earlier attempts, too
  std::string error{};
  bool forbidden = false;    // a disruption budget forbids the eviction
  double retry_after_s = 0;  // the API server asks for no requests for this long (Retry-After)
};

}  // namespace crossover::extender
