#include "extender/gang/phases.h"

namespace crossover::extender {

PodPhase Next(PodPhase phase, PodEvent event) {
  using enum PodPhase;
  switch (event) {
    case PodEvent::kReserved:
      return phase == kUnreserved ? kReserved : phase;
    case PodEvent::kReleased:
      return phase == kReserved ? kReleased : phase == kPassedGated ? kPassed : phase;
    case PodEvent::kPassed:
      return phase == kReserved ? kPassedGated : phase == kReleased ? kPassed : phase;
    case PodEvent::kPosted:
      return phase == kPassed ? kPosted : phase;
    case PodEvent::kLost:
      return phase == kPosted ? kUnsure : phase;
    case PodEvent::kBound:
      return phase == kUnsure ? kPosted : phase;
    case PodEvent::kRefused:
      return IsPosted(phase) ? kPassed : phase;
    case PodEvent::kPlanned:
      break;
  }
  return kUnreserved;
}

Eviction Next(Eviction eviction, EvictionEvent event) {
  using enum Eviction;
  switch (event) {
    case EvictionEvent::kBegun:
      return eviction == kNone ? kBegun : eviction;
    case EvictionEvent::kAccepted:
      return eviction == kBegun ? kAccepted : eviction == kNone ? kSeatKept : eviction;
    case EvictionEvent::kTakenBack:
      break;
  }
  return eviction == kBegun ? kNone : eviction == kAccepted ? kSeatKept : eviction;
}

PlanPhase Next(PlanPhase phase, PlanEvent event) {
  if (IsFailing(phase)) return phase;
  switch (event) {
    case PlanEvent::kAllReserved:
      return PlanPhase::kOpen;
    case PlanEvent::kFailed:
      return PlanPhase::kFailing;
    case PlanEvent::kDeadlinePassed:
      break;
  }
  return PlanPhase::kLate;
}

}  // namespace crossover::extender
