// Makes room for a gang: starts its claim, lets the victims leave one after the other, and ends the claim.
// Pure.
//
//   placement engine          Claim of the gang's plan       each victim
//   Preemption  --StartClaim-->  kReserving
//                                kLeaving  --BeginDeparture-->  Departure: kEvicting
//                                    ^ <------ next victim -------- kTerminating
//                                    | <------ RefuseClaim -------- (a budget forbids it)
//   the plan opens  <--EndClaim--  all have left
//
// At the first eviction that is forbidden, at a lost node or GPU, or if a pod of the gang goes, the claim is
// given up: no other victim leaves, and the plan is taken back (plan_executor.h).
//
// A new leader finds the claim in the reservations of the gang's pods. No victim leaves before all of them
// are there, so a claim that it does not find whole has made no gang leave.
#pragma once

#include <string>
#include <vector>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Returns the name of `gang` as the users of `other` may read it.
std::string NameFor(const GangRecord& gang, const GangRecord& other);

// Starts a plan that places the gang on `seats`, whose GPUs the gangs `victims` (ids) still have.
void StartClaim(GangStore& store, GangRecord& gang, std::vector<placement::Seat> seats,
                std::vector<std::string> victims);

// Does all next steps of the claim that are possible now. Afterwards the claim may have ended, with the plan
// failing unless room was made. REQUIRES: `gang.plan->claim` is set.
void MakeRoom(GangStore& store, GangRecord& gang);

// Ends the claim of the gang's plan. REQUIRES: `gang.plan->claim` is set.
void EndClaim(GangStore& store, GangRecord& gang, ClaimEnd end);

// Says that a budget forbids the eviction of a victim. Does nothing if the gang `claimant` holds no claim.
void RefuseClaim(GangStore& store, const std::string& claimant);

// Finds the claims of an earlier leader, and holds the gangs that have to leave (GangStore::held). Remembers
// those that have left (made_room.h).
void FindClaims(GangStore& store);

// Returns the claim of a plan that an earlier leader started, as the reservations of the gang `claimant` say.
Claim RecoveredClaim(const GangStore& store, const std::string& claimant);

// Lets go of all gangs that are held for the gang `claimant`.
void LetGo(GangStore& store, const std::string& claimant);

}  // namespace crossover::extender
