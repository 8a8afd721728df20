// Takes the bound pods of a gang away: all of them or none. Pure.
//
// Pods are evicted, so that disruption budgets hold and the pods' controllers know that the pods did not
// fail. The API server judges each eviction by itself. So this code first asks the budgets, as the watch
// shows them, whether they allow all evictions. If they do not, no pod is evicted, the gang keeps what is
// bound, and the rest of it is looked for.
#pragma once

#include <span>
#include <string>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Returns why the disruption budgets do not allow the eviction of all these pods, in words for their user, or
// "" if they allow it. Budgets say nothing of pods that have not begun to run, or that terminate.
// REQUIRES: the pods are bound.
std::string WhyForbidden(const ClusterCache& cache, std::span<const Pod* const> pods);

// Evicts the bound pods of the gang, or none. The caller calls it again after each step until it returns
// true: then no eviction is in flight. `gang.removal` says what came of it.
bool Remove(GangStore& store, GangRecord& gang);

// Handles that a budget forbade an eviction which the watch showed as allowed. Other pods of the gang may be
// evicted already: they come again beside those that stay.
void Forbid(GangStore& store, GangRecord& gang, const std::string& why);

// Returns why the bound pods of the gang stay although it is not complete, or "" if nothing forbids their
// eviction.
std::string WhyTheyStay(const GangRecord& gang);

}  // namespace crossover::extender
