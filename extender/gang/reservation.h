// Reads and writes the annotation crossover.dev/reservation, which says what was decided for a pod before
// it is bound. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/annotations/assignment.h"
#include "extender/gang/containers.h"

namespace crossover::extender {

// A PodSeat is the node of one pod, and the GPUs of each of its containers.
struct PodSeat {
  std::string node;
  ByContainer containers;

  // Returns the UUIDs of all GPUs, each once, ascending.
  std::vector<std::string> gpus() const;
  friend bool operator==(const PodSeat&, const PodSeat&) = default;
};

// A Left names the gangs that make room for a plan. It names them by hashes (made_room.h), since the users of
// the plan's pods may not be allowed to read the names.
struct Left {
  struct Gang {
    std::string mark;    // MarkOf()
    double since_s = 0;  // since when it has waited, for its place in the queue

    friend bool operator==(const Gang&, const Gang&) = default;
  };
  double at_s = 0;                    // when the plan claimed the room
  std::map<std::string, Gang> gangs;  // by VictimKeyOf()

  friend bool operator==(const Left&, const Left&) = default;
};

// A Reservation is the content of the annotation.
struct Reservation {
  std::string plan;    // id of the plan
  PodSeat seat;        // what the plan gives this pod
  double until_s = 0;  // seconds since 1970; then the plan is given up, unless all its pods are bound
  // Says whether the gang was complete once: all its pods were bound, before this pod came again or with this
  // pod among them. It is unset if an earlier leader did not write it.
  std::optional<bool> again = false;
  int size = 0;  // of the gang when this was decided; 0: not known
  // Says that other gangs still have the GPUs and leave. Extenders that know of no claims must not carry such
  // a plan out, so the text has `claim` if that of others has `plan`.
  bool claims = false;
  std::optional<Left> left{};  // unset: no gang made room; two pods of a gang have it
};

// Returns the text of the annotation.
std::string WriteReservation(const Reservation& reservation);
// Parses the text of the annotation. Returns nothing if `text` is not a reservation.
std::optional<Reservation> ReadReservation(const std::string& text);

// Returns the reservation that the pod's annotation has, or nothing if it has none that is valid.
std::optional<Reservation> ReservationOn(const Pod& pod);

// These read and write the assignment, the annotation that a Binding carries.
using annotations::ReadAssignment;
using annotations::WriteAssignment;

}  // namespace crossover::extender
