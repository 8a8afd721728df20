// The two annotations that hold what was decided: crossover.dev/reservation, before a pod is bound, and
// crossover.dev/assignment, which comes with the binding and is read by the node's daemon. Pure.
#pragma once

#include <optional>
#include <string>

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
};

std::string WriteReservation(const Reservation& reservation);
// Nothing for what is none.
std::optional<Reservation> ReadReservation(const std::string& text);

std::string WriteAssignment(const ByContainer& containers);
// Empty for what is none.
ByContainer ReadAssignment(const std::string& text);

}  // namespace crossover::extender
