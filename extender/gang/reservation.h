// The annotation crossover.dev/reservation: what was decided, before a pod is bound. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/annotations/assignment.h"
#include "extender/gang/containers.h"

namespace crossover::extender {

// Where one pod is to be.
struct PodSeat {
  std::string node;
  ByContainer containers;

  // All of them, each once, ascending.
  std::vector<std::string> gpus() const;
  friend bool operator==(const PodSeat&, const PodSeat&) = default;
};

struct Reservation {
  std::string plan;
  PodSeat seat;
  double until_s = 0;  // since 1970; after that the plan is given up, unless all its pods are bound
  // All of its gang were bound at one time: before this pod came again, or it is bound and was one of them.
  // None: written by a leader who did not say.
  std::optional<bool> again = false;
  int size = 0;  // of the gang when this was decided; 0: not said
};

std::string WriteReservation(const Reservation& reservation);
// Nothing for what is none.
std::optional<Reservation> ReadReservation(const std::string& text);

// Nothing where it has none.
std::optional<Reservation> ReservationOn(const Pod& pod);

using annotations::ReadAssignment;  // which comes with the binding
using annotations::WriteAssignment;

}  // namespace crossover::extender
