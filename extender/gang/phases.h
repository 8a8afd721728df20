// Defines the states of a gang, of its plan and of its pods, and how each event changes them. Pure values.
//
// The states of the plan and of the pods say what this leader did and which answers came. The state of the
// gang is not stored: PhaseOf() derives it. Each table below is the whole of what its Next() does.
#pragma once

#include <cstdint>

namespace crossover::extender {

// A PodPhase says how far the plan is with one pod. A bound pod keeps the phase that it had: View::bound()
// says that it is bound.
//
//   event       from                    to
//   kReserved   kUnreserved             kReserved
//   kReleased   kReserved               kReleased
//   kReleased   kPassedGated            kPassed
//   kPassed     kReserved               kPassedGated
//   kPassed     kReleased               kPassed
//   kPosted     kPassed                 kPosted
//   kLost       kPosted                 kUnsure
//   kBound      kUnsure                 kPosted
//   kRefused    kPosted, kUnsure        kPassed
//   kPlanned    any                     kUnreserved
//
// An event changes no other phase.
enum class PodPhase : std::uint8_t {
  kUnreserved,   // the pod has no reservation of the plan
  kReserved,     // the API server has accepted its reservation
  kReleased,     // its gate was lifted and its scheduler woken since the plan opened
  kPassedGated,  // its Binding may be posted once it is released: a scheduler asked to bind it before
  kPassed,       // its Binding may be posted
  kPosted,       // its Binding was posted, and is not known to be refused
  kUnsure        // the answer to a posted Binding was lost, so it may have succeeded
};
enum class PodEvent : std::uint8_t {
  kReserved,  // the API server accepted the reservation
  kReleased,  // the API server accepted the release of the plan
  kPassed,    // every pod of the plan is bound
  kPosted,    // the Binding was posted, perhaps once more
  kLost,      // the answer to it was lost
  kBound,     // the API server accepted it
  kRefused,   // the API server refused it, and every one that was posted before
  kPlanned    // a plan begins or ends, its reservation is removed, or it has to be written anew
};
PodPhase Next(PodPhase phase, PodEvent event);
constexpr bool IsReserved(PodPhase phase) { return phase != PodPhase::kUnreserved; }
constexpr bool IsReleased(PodPhase phase) {
  return IsReserved(phase) && phase != PodPhase::kReserved && phase != PodPhase::kPassedGated;
}
constexpr bool HasPassed(PodPhase phase) { return phase >= PodPhase::kPassedGated; }
constexpr bool IsPosted(PodPhase phase) { return phase >= PodPhase::kPosted; }

// An Eviction says whether a pod is made to leave.
//
//   event        from         to
//   kBegun       kNone        kBegun
//   kAccepted    kBegun       kAccepted
//   kAccepted    kNone        kSeatKept
//   kTakenBack   kBegun       kNone
//   kTakenBack   kAccepted    kSeatKept
//
// An event changes no other state.
enum class Eviction : std::uint8_t {
  kNone,
  kBegun,     // the pod is being evicted
  kAccepted,  // the API server has accepted the eviction
  kSeatKept   // likewise, and the others of the gang stay: the seat is kept for the pod that comes again
};
enum class EvictionEvent : std::uint8_t { kBegun, kAccepted, kTakenBack };
Eviction Next(Eviction eviction, EvictionEvent event);
// Returns whether the pod counts as one that leaves.
constexpr bool Leaves(Eviction eviction) {
  return eviction == Eviction::kBegun || eviction == Eviction::kAccepted;
}
constexpr bool IsAccepted(Eviction eviction) { return eviction >= Eviction::kAccepted; }

// A PlanPhase says how far a plan is.
//
//   event            from                      to
//   kAllReserved     kReserving                kOpen
//   kFailed          kReserving, kOpen         kFailing
//   kDeadlinePassed  kReserving, kOpen         kLate
//
// An event changes no other phase: a plan that fails goes to its end.
enum class PlanPhase : std::uint8_t {
  kReserving,  // reservations are being written. With a claim, other gangs still have the GPUs (claim.h)
  kOpen,       // every pod had its reservation: gates are lifted and Bindings posted
  kFailing,    // the plan is taken back
  kLate        // the plan is taken back because of its deadline, and may turn out to be complete
};
enum class PlanEvent : std::uint8_t { kAllReserved, kFailed, kDeadlinePassed };
PlanPhase Next(PlanPhase phase, PlanEvent event);
constexpr bool IsFailing(PlanPhase phase) { return phase >= PlanPhase::kFailing; }

// A Completion says whether all pods of a gang were bound at some time since it last had none.
enum class Completion : std::uint8_t {
  kNever,
  kOnce,     // all pods were bound
  kRecorded  // all pods were bound, and annotations of the pods tell the next leader
};

// A Demand says for how many pods a gang waits for a plan.
enum class Demand : std::uint8_t {
  kNone,  // the gang does not wait for a place
  kAll,   // for all pods that are left of the gang
  kLeast  // for the minimum of the gang: there was no place for all its pods
};

// A GangPhase says what a gang does next. See record 0013 for the whole table.
enum class GangPhase : std::uint8_t {
  kEnded,        // no pod of the gang lives
  kSizeUnknown,  // the size is not read yet from its owner
  kLeaving,      // its pods are evicted so that another gang gets their GPUs (departure.h)
  kHeld,         // the gang must leave, as an earlier leader decided (room.h)
  kPlanned,      // the gang has a plan, whose PlanPhase says the rest
  kRunning,      // some pod is bound
  kReady,        // all pods wait, for a plan
  kGathering     // pods are missing, or have gates of other controllers
};

}  // namespace crossover::extender
