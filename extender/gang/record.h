// What is remembered of a gang beyond what the cluster says of its pods. All of it can be lost: adopt.h makes
// anew what matters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "extender/gang/actions.h"
#include "extender/gang/membership.h"
#include "extender/gang/reservation.h"
#include "extender/placement/model.h"

namespace crossover::extender {

struct Member {
  // Of the last write that was accepted: an older view of the pod is not believed.
  std::string version;
  bool reserved = false;        // it has the reservation of the plan
  bool maybe_reserved = false;  // a reservation may be on it
  bool lifted = false;          // its gate was
  bool released = false;        // since the plan was written on all: lifted, and woken
  bool go = false;              // its Binding may be posted
  bool posted = false;          // its Binding was, and it is not known that it was refused
  bool unsure = false;          // an attempt at that may have been done
  bool doomed = false;          // it is to be deleted
  bool deleted = false;         // that was accepted
  bool gone = false;            // there is no such pod any more, whatever the watch says
  std::string bound;            // to which node
  double bound_s = 0;
  PodSeat seat;
  std::uint64_t in_flight = 0;  // a write; one at a time
  double retry_s = 0;
  int failures = 0;
  std::optional<Ticket> ticket;
  double held_s = 0;
  std::string message;  // of PodScheduled, when the plan was made
  std::string told;
  double told_s = 0;
  int tellings = 0;
};

struct Slot {
  placement::Seat seat;
  std::string uid;  // whose; empty: nobody's yet
};

struct GangPlan {
  std::string id;
  std::vector<Slot> slots;
  double until_s = 0;
  bool whole = true;     // of all members; else of those that came again
  bool open = false;     // every member had its reservation
  int size = 0;          // of the gang when it was made
  int asked = 0;         // how often for the gang's size, since the deadline came
  bool late = false;     // it fails for that
  bool failing = false;  // on its way back
  bool at_once = false;  // the next may follow without a hold-off
  std::string why{};     // it fails
};

struct Exclusion {
  double until_s = 0;
  int times = 0;
  std::string why{};  // in the scheduler's words; empty: it has not said yet
};

struct GangRecord {
  Membership membership;
  std::map<std::string, Member> members;  // by UID
  std::optional<GangPlan> plan;
  std::vector<placement::Seat> vacant;        // of members that are gone, for those that come again
  double vacant_s = 0;                        // when the last of them became that
  std::map<std::string, Exclusion> excluded;  // nodes
  bool adopted = false;
  bool placed = false;   // all its members were bound
  bool settled = false;  // and pods of it say so to whoever leads next
  bool ready = false;    // to be planned as a whole
  bool crowded = false;  // some are bound, and more wait than its size leaves room for
  int failures = 0;
  double hold_until_s = 0;
  std::string fault{};              // what its pods say and makes no sense, or not together
  double complete_s = 0;            // when all of them were there, since it was placed last; 0: not yet
  int asked = 0;                    // how often for its size, since it was to be ended for what it lacks
  std::optional<double> lacking_s;  // since when, where some are bound and others wait without a seat
  double seat_retry_s = 0;
  int seat_failures = 0;       // in a row
  std::uint64_t searched = 0;  // Desk::searched, when it was its turn last
  // Of each GPU's memory, what its pods are granted by the decision that placed it; 0: nothing, or they name
  // it. What is known of such jobs may become another figure before their annotations are seen.
  std::optional<placement::Bytes> granted;
  std::string text;  // why it waits

  void Vacate(placement::Seat seat, double now_s) {
    vacant.push_back(std::move(seat));
    vacant_s = now_s;
  }
};

}  // namespace crossover::extender
